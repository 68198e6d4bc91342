import { exit, WrongUsage } from '../../exit.js';
import { completionScript, shells } from '../../help/completion-scripts.js';
import { createCompletionTable } from '../../help/completion-table.js';
import type { Subcommand } from '../../subcommand.js';
import { writeOut } from '../../terminal/standard-streams.js';

interface Args {
  shell: string;
}

export const completion: Subcommand = {
  usage: 'completion <shell>',
  hosts: 'ignored',
  summary: 'Print a script that completes commands, options, sessions, modes and models in bash, zsh or fish.',
  notes: 'Sessions, models and questions are asked from the daemon, if one runs, and waited for less than a second.',
  examples: {
    'source <(berth completion bash)': 'in ~/.bashrc',
    'source <(berth completion zsh)': 'in ~/.zshrc, after compinit',
    'berth completion fish > ~/.config/fish/completions/berth.fish': 'once, and again after an upgrade',
  },
  async run({ shell: typed }: Args, cli) {
    const shell = shells.find((name) => name === typed);
    if (shell === undefined) throw new WrongUsage(`there are completions for ${shells.join(', ')}, not for ${JSON.stringify(typed)}`);
    writeOut(completionScript(shell, createCompletionTable(await cli.subcommands())));
    return exit.ok;
  },
};

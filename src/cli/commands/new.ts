import { exit } from '../exit.js';
import { readMode } from '../read-settings.js';
import { orRefused } from '../refusals.js';
import type { Subcommand } from '../subcommand.js';
import { newSessionDirectory } from '../directory.js';
import { readTitle, refuseIdAsTitle } from '../titles.js';

interface Args {
  cwd?: string;
  title?: string;
  model?: string;
  mode?: string;
  json?: true;
}

export const newSession: Subcommand = {
  usage: 'new',
  summary: 'Make a session and print its id.',
  options: {
    '--cwd <dir>': 'the directory it works in (default: this one; on another machine, the home directory there)',
    '--title <title>': 'what it is called',
    '--model <provider/model>': 'the model it talks to (default: that of the config)',
    '--mode <mode>': 'what it may do without asking: ask, auto_edit, full or read_only (default: that of the config)',
    '--json': 'print the answer as JSON',
  },
  examples: {
    'berth new --title "fix the build"': 'a session of this directory',
    'berth new --cwd ~/src/app --mode auto_edit': 'elsewhere, which edits files unasked',
  },
  async run({ cwd, title, model, mode, json }: Args, cli) {
    const chosen = mode === undefined ? undefined : readMode(mode);
    const named = title === undefined ? {} : { title: readTitle(title) };
    const berth = await cli.connect();
    const dir = newSessionDirectory(berth, cwd);
    if (title !== undefined) await refuseIdAsTitle(berth, title);
    const fields = { cwd: dir, ...named, ...(model === undefined ? {} : { model }) };
    const made = orRefused(await berth.call('new_session', fields));
    if (chosen !== undefined) orRefused(await berth.call('update_session', { session_id: made.session_id, approval_mode: chosen }));
    if (json) cli.printJson(made);
    else cli.print(made.session_id);
    return exit.ok;
  },
};

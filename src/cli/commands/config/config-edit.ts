import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { targetOf, writeNewFile } from '../../../machine/atomic-file.js';
import { configPath } from '../../../machine/config-path.js';
import { makeDir } from '../../../machine/make-dir.js';
import { exit, Refused } from '../../exit.js';
import type { Subcommand } from '../../subcommand.js';
import { confirm } from '../../terminal/confirm.js';
import { checkConfigFile } from './config-check.js';

const firstText = '// Every key is optional: berth config get lists them, docs/configuration.md explains them.\n{\n}\n';

export const configEdit: Subcommand = {
  usage: 'config edit',
  hosts: 'refused',
  summary: 'Open config.json in $VISUAL or $EDITOR, and say afterwards what is wrong with it.',
  notes: 'At a terminal you are asked whether to edit it again. Until it is right, a daemon that runs goes on with the config before it.',
  examples: {
    'berth config edit': 'in your editor',
    'EDITOR="code --wait" berth config edit': 'in another one',
  },
  async run(_args, cli) {
    const program = [process.env.VISUAL, process.env.EDITOR].find((named) => (named ?? '').trim() !== '');
    if (program === undefined)
      throw new Refused('set VISUAL or EDITOR to the editor that you use; the file is what berth config path prints');
    const path = configPath(cli.paths.configDir);
    if (!existsSync(path)) {
      makeDir(dirname(path));
      writeNewFile(targetOf(path), firstText);
    }
    for (;;) {
      // The variable may hold arguments, and a shell is what everyone else reads it with.
      const { status, error } = spawnSync('/bin/sh', ['-c', `${program} "$1"`, 'sh', path], { stdio: 'inherit' });
      if (error) throw new Refused(`${program} could not be started: ${error.message}`, { cause: error });
      if (status !== 0) throw new Refused(`${program} ended with ${status ?? 'a signal'}`);
      const code = await checkConfigFile(cli, false);
      if (code === exit.ok || !process.stdin.isTTY) return code;
      if (!(await confirm('Edit it again? [y/N] '))) return code;
    }
  },
};

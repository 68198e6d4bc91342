import { printable } from '../../../view/printable.js';
import { exit } from '../../exit.js';
import { shortenHome } from '../../home-path.js';
import type { Cli, Subcommand } from '../../subcommand.js';
import { checkDaemon } from './daemon-checks.js';
import { checkFiles } from './file-checks.js';
import { ok, type Finding } from './finding.js';
import { checkKeys } from './key-checks.js';
import { checkMachine } from './machine-checks.js';
import { checkPrograms } from './program-checks.js';
import { checkService } from './service-checks.js';
import { checkTerminal } from './terminal-checks.js';

interface Args {
  json?: true;
  fix?: true;
}

const layout = { areaColumns: 10 } as const;

export const doctor: Subcommand = {
  usage: 'doctor',
  hosts: 'refused',
  summary: 'Look at everything that berth needs here, and say what to do about what is wrong.',
  options: {
    '--fix': 'mend what can be mended without harm to anything else (modes of berth’s own files)',
    '--json': 'print everything as one line of JSON',
  },
  notes:
    'Each line is ok, warn (something works less well) or fail (something does not work), with the command that mends it below.\n' +
    'The exit code is 1 when something fails. No daemon is started, and nothing of a key is shown.',
  examples: {
    'berth doctor': 'what is wrong here?',
    'berth doctor --json | jq \'.checks[] | select(.level != "ok")\'': 'for programs',
  },
  async run({ json, fix }: Args, cli) {
    const found = await examine(cli);
    const mended = fix ? found.map(mend) : found;
    const failed = mended.some(({ level }) => level === 'fail');
    if (json)
      cli.printJson({
        ok: !failed,
        checks: mended.map(({ level, area, detail, fix: command }) => ({ level, area, detail, fix: command ?? null })),
      });
    else print(mended, cli);
    return failed ? exit.refused : exit.ok;
  },
};

async function examine(cli: Cli): Promise<Finding[]> {
  const { paths } = cli;
  // The terminal is asked before anything is printed, so that its answer is not mixed with typed keys for long.
  const terminal = await checkTerminal(process.env);
  return [
    ...checkMachine(paths.stateDir),
    ...checkPrograms(),
    ...checkFiles(paths),
    ...checkKeys(paths.configDir, process.env),
    ...(await checkDaemon(cli)),
    ...checkService(process.env),
    ...terminal,
  ];
}

function mend(finding: Finding): Finding {
  if (!finding.mend) return finding;
  finding.mend();
  return ok(finding.area, `mended: ${finding.detail}`);
}

function print(findings: readonly Finding[], { print: say }: Pick<Cli, 'print'>): void {
  for (const { level, area, detail, fix } of findings) {
    say(`${level.padEnd(4)}  ${area.padEnd(layout.areaColumns)}  ${printable(shortenHome(detail))}`);
    if (fix !== undefined) say(`${' '.repeat(layout.areaColumns + 8)}${printable(fix)}`);
  }
  const count = (wanted: Finding['level']): number => findings.filter(({ level }) => level === wanted).length;
  const [warned, failed] = [count('warn'), count('fail')];
  if (warned + failed === 0) say('Everything is in order.');
  else say(`${failed} failed, ${warned} could be better.`);
}

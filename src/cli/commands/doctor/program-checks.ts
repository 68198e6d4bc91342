import { spawnSync } from 'node:child_process';
import { fail, ok, warn, type Finding } from './finding.js';

const tuning = { answerMs: 5_000 } as const;

/** A program that berth uses, and what its absence costs. */
interface Program {
  name: string;
  version: string[];
  without: string;
  fix: string;
}

const programs: Program[] = [
  { name: 'git', version: ['--version'], without: 'the model sees no branches, and diffs of a repository fail', fix: 'apt install git' },
  { name: 'rg', version: ['--version'], without: 'searching large trees takes several times as long', fix: 'apt install ripgrep' },
];

function run(program: string, args: string[]): { ok: boolean; output: string } | undefined {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    timeout: tuning.answerMs,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (error && 'code' in error && error.code === 'ENOENT') return undefined;
  return {
    ok: status === 0,
    output: ([stdout, stderr, error?.message ?? ''].find((text) => text !== '') ?? '').trim().split('\n')[0] ?? '',
  };
}

export function checkPrograms(): Finding[] {
  return [checkSandbox(), ...programs.map(checkProgram)];
}

function checkProgram({ name, version, without, fix }: Program): Finding {
  const found = run(name, version);
  return found?.ok
    ? ok(name, found.output)
    : warn(name, `${found ? `does not run (${found.output})` : 'is not installed'}: ${without}`, fix);
}

/** Whether a command can be run in a sandbox: that bubblewrap is there does not mean that the kernel lets it. */
function checkSandbox(): Finding {
  const version = run('bwrap', ['--version']);
  if (!version) return warn('sandbox', 'bubblewrap is not installed: you are asked about every command', 'apt install bubblewrap');
  const tried = run('bwrap', ['--ro-bind', '/', '/', '--unshare-user', '--unshare-pid', '--unshare-net', '--', 'true']);
  if (tried?.ok) return ok('sandbox', version.output);
  return fail(
    'sandbox',
    `${version.output} cannot make one (${tried?.output ?? 'no answer'}): you are asked about every command`,
    'sysctl -w kernel.unprivileged_userns_clone=1, or where AppArmor forbids it: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
  );
}

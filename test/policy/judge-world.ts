import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPolicy } from '../../src/policy/judge.js';
import type { PolicySettings } from '../../src/policy/path-judge.js';
import type { Mode, Rule, Ruling } from '../../src/policy/port.js';
import type { Access } from '../../src/tools/port.js';
import { makeTempDir } from '../support/temp-dir.js';

interface Setup {
  rules?: Rule[];
  mode?: Mode;
  settings?: Partial<PolicySettings>;
  readOnly?: boolean;
}

interface World extends Disposable {
  workspace: string;
  home: string;
  /** No access at all, undefined, is a tool that does not declare what it touches. */
  judge(tool: string, access: Access | Access[] | undefined, setup?: Setup): Ruling;
  write(path: string, setup?: Setup, tool?: string): Ruling;
  read(path: string, setup?: Setup): Ruling;
  bash(command: string, setup?: Setup & { network?: boolean; unsandboxed?: boolean }): Ruling;
}

/** A home with a workspace in it, a place of berth's own, and something outside. */
export function makeWorld(): World {
  const dir = makeTempDir();
  const home = dir.file('home');
  const workspace = join(home, 'proj');
  for (const place of [
    workspace,
    join(workspace, 'src'),
    join(workspace, '.git', 'hooks'),
    join(home, '.ssh'),
    dir.file('own'),
    dir.file('outside'),
  ]) {
    mkdirSync(place, { recursive: true });
  }
  writeFileSync(join(workspace, '.git', 'config'), '[core]\n');
  writeFileSync(join(workspace, 'a.txt'), 'a');
  writeFileSync(join(workspace, '.env'), 'KEY=1');
  writeFileSync(join(home, '.ssh', 'id'), 'secret');
  const judge: World['judge'] = (tool, access, { rules = [], mode = 'ask', settings = {}, readOnly = tool === 'read' } = {}) =>
    createPolicy({
      home,
      umask: 0o022,
      settings: () => ({ noSandbox: undefined, network: false, writable: [], own: [dir.file('own')], ...settings }),
    }).judge({
      toolName: tool,
      accesses: access && [access].flat(),
      readOnly,
      mode,
      cwd: workspace,
      rules: rules.map((rule) => ({ ...rule, source: 'test' })),
    });
  return {
    workspace,
    home,
    judge,
    write: (path, setup, tool = 'write') => judge(tool, { kind: 'write', path }, setup),
    read: (path, setup) => judge('read', { kind: 'read', path }, setup),
    bash: (command, { network = false, unsandboxed = false, ...setup } = {}) =>
      judge('bash', { kind: 'command', command, network, unsandboxed }, setup),
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  };
}

export const allow = (command: string, more: Partial<Rule> = {}): Rule => ({ tool: 'bash', command, action: 'allow', ...more });

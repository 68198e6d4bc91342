import { realpathSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createBashTool } from '../../src/tools/shell/bash.js';
import type { Confinement } from '../../src/sandbox/port.js';
import { missing } from '../needs.js';
import { confine, randomId, survivors, testProcesses, uniqueSeconds } from '../support/commands.js';
import { trees, withSeconds, type Tree } from '../support/process-trees.js';
import { makeTempDir } from '../support/temp-dir.js';
import { callTool, toolContext, workspaceReach } from '../support/tool-context.js';

const sideBySide = 10;

/** Runs a tree to one of its ends; returns who is left. */
async function leftOf(tree: Tree, kind: Confinement['kind'], end: 'abort' | 'timeout' | 'end'): Promise<string[]> {
  using dir = makeTempDir();
  const cwd = realpathSync(dir.path);
  const seconds = uniqueSeconds();
  const stop = new AbortController();
  let heard = '';
  const bash = createBashTool({ processes: testProcesses(cwd) });
  const context = toolContext({
    cwd,
    sessionId: randomId('ses'),
    runId: randomId('run'),
    signal: stop.signal,
    reach: { ...workspaceReach(cwd), confinement: confine(kind, cwd) },
    output(text) {
      heard += text;
      if (end === 'abort' && heard.includes('ready')) stop.abort();
    },
  });
  const whole = withSeconds(tree.command, seconds);
  const command = end === 'end' ? withoutWaiting(whole) : whole;
  const { text } = await callTool(bash, { command, timeout: end === 'timeout' ? timeoutSeconds : patienceSeconds }, context);
  const said = { abort: '[stopped]', timeout: '[stopped by the timeout after 1 s', end: '[exit code 0]' }[end];
  if (!(tree.leaves && end === 'timeout')) expect(text, tree.name).toContain(said);
  return survivors(String(seconds));
}

/** The same tree without what keeps the call open. */
function withoutWaiting(command: string): string {
  const ready = command.indexOf('echo ready');
  if (ready > 0) return `${command.slice(0, ready)} exit 0`;
  return `{ ${command}\n} >said 2>&1 & until grep -qs ready said; do :; done; exit 0`;
}

const timeoutSeconds = 1;
const patienceSeconds = 20;

async function leftOfAll(kind: Confinement['kind'], end: 'abort' | 'timeout' | 'end', among: Tree[]): Promise<Record<string, string[]>> {
  const left: Record<string, string[]> = {};
  const waiting = [...among];
  await Promise.all(
    Array.from({ length: sideBySide }, async () => {
      for (let tree = waiting.shift(); tree; tree = waiting.shift()) {
        const found = await leftOf(tree, kind, end);
        if (found.length > 0) left[tree.name] = found;
      }
    }),
  );
  return left;
}

const ends = ['abort', 'timeout', 'end'] as const;

test('there are at least fifty trees', () => {
  expect(trees.length).toBeGreaterThanOrEqual(50);
  expect(new Set(trees.map(({ name }) => name)).size).toBe(trees.length);
});

describe.skipIf(missing('bwrap') || missing('python3'))('in a sandbox, of no tree is anybody left (needs bwrap, needs python3)', () => {
  test.for(ends)('after %s', { timeout: 60_000 }, async (end) => {
    expect(await leftOfAll('sandbox', end, trees)).toEqual({});
  });
  test('without the sandbox, in a namespace', { timeout: 60_000 }, async () => {
    expect(await leftOfAll('namespace', 'abort', trees)).toEqual({});
  });
});

describe.skipIf(missing('python3'))('without bubblewrap, of trees that can be known by something nobody is left (needs python3)', () => {
  test.for(ends)('after %s', { timeout: 60_000 }, async (end) => {
    expect(
      await leftOfAll(
        'bare',
        end,
        trees.filter(({ notBare }) => notBare === undefined),
      ),
    ).toEqual({});
  });
});

import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { missing } from '../needs.js';
import { childPath } from '../support/commands.js';
import { makeTempDir } from '../support/temp-dir.js';

const driver = fileURLToPath(new URL('../support/command-driver.ts', import.meta.url));
const mebibyte = 1024 * 1024;

interface Cost {
  grownBytes: number;
  stallMs: number;
  ms: number;
  shown: number;
  pieces: number;
  text: string;
  isError: boolean;
  details: { counts: { bytes: number; dropped_bytes: number }; artifact_id: string };
}

/** Runs a command in a process of its own and tells what it cost. */
async function measure(args: { command: string; timeout?: number }, kind: string): Promise<Cost> {
  using dir = makeTempDir();
  const child = spawn(
    process.execPath,
    ['--expose-gc', '--import', 'tsx', driver, 'flood', realpathSync(dir.path), kind, JSON.stringify(args)],
    {
      env: { PATH: childPath },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  await new Promise((resolve) => child.on('close', resolve));
  return JSON.parse(said) as Cost;
}

const kind = missing('bwrap') ? 'bare' : 'sandbox';

describe('floods of output cost little memory, hold nobody up and are told in few pieces', () => {
  test.for([
    ['short lines', { command: 'yes | head -c 512M' }, 512 * mebibyte],
    ['one line', { command: 'head -c 256M /dev/zero | tr "\\0" x' }, 256 * mebibyte],
    ['noise', { command: 'cat /dev/urandom', timeout: 1 }, mebibyte],
  ] as const)('%s', { timeout: 60_000 }, async ([, args, bytesMin]) => {
    const cost = await measure(args, kind);
    const { bytes, dropped_bytes } = cost.details.counts;
    expect(bytes).toBeGreaterThanOrEqual(bytesMin);
    expect(dropped_bytes).toBe(Math.max(0, bytes - 64 * mebibyte));
    expect(cost.text.length).toBeLessThan(40_000);
    expect(cost.text).toContain(cost.details.artifact_id);
    expect(cost.grownBytes / mebibyte).toBeLessThan(64);
    // A piece in 50 ms, and one more at each end.
    expect(cost.pieces).toBeLessThanOrEqual(cost.ms / 50 + 2);
    expect(cost.shown / cost.pieces).toBeLessThan(70_000);
    expect(cost.stallMs).toBeLessThan(200);
  });
});

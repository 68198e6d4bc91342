import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { makeTempDir } from '../support/temp-dir.js';

const project = fileURLToPath(new URL('../..', import.meta.url));

function install(dir: string): string {
  for (const part of ['bin', 'dist', 'package.json']) cpSync(join(project, part), join(dir, part), { recursive: true });
  symlinkSync(join(project, 'node_modules'), join(dir, 'node_modules'));
  return dir;
}

/** Runs `berth --version` and tells, for each bundle that was loaded, whether V8 took its code from the cache. */
function runVersion(program: string): { said: string; taken: boolean[] } {
  const watch = `
    const vm = require('node:vm');
    vm.Script = class extends vm.Script {
      constructor(source, options) {
        super(source, options);
        process.on('exit', () => console.log('taken ' + (options.cachedData !== undefined && this.cachedDataRejected === false)));
      }
    };
    process.argv = [process.execPath, 'berth', '--version'];
    require(${JSON.stringify(join(program, 'bin', 'berth.js'))});`;
  const lines = execFileSync(process.execPath, ['--eval', watch], { encoding: 'utf8' }).trim().split('\n');
  return {
    said: lines.filter((line) => !line.startsWith('taken ')).join('\n'),
    taken: lines.filter((line) => line.startsWith('taken ')).map((line) => line === 'taken true'),
  };
}

function cacheOf(program: string, bundle: string): string {
  const [only = '', ...others] = readdirSync(join(program, 'dist')).filter(
    (name) => name.startsWith(`${bundle}-`) && name.endsWith('.cache'),
  );
  expect(others).toEqual([]);
  return join(program, 'dist', only);
}

describe('the code cache of a bundle', () => {
  const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { version: string };

  test('is made by the build, for this Node', () => {
    expect(existsSync(cacheOf(project, 'daemon'))).toBe(true);
    expect(runVersion(project)).toEqual({ said: version, taken: [true] });
  });

  test('is not taken for another text, not even one of the same length', () => {
    using dir = makeTempDir();
    const program = install(dir.path);
    const file = join(program, 'dist', 'cli.cjs');
    const text = readFileSync(file, 'latin1');
    const digest = text.slice(text.lastIndexOf('//') + 2).trim();
    // As another build would: it says something else, and so it ends with another digest.
    const other = text
      .replaceAll(`"${version}"`, `"${version.replace(/\d$/, 'X')}"`)
      .replace(`//${digest}`, `//${'0'.repeat(digest.length)}`);
    expect(other).toHaveLength(text.length);
    writeFileSync(file, other, 'latin1');
    expect(runVersion(program)).toEqual({ said: version.replace(/\d$/, 'X'), taken: [false] });
  });

  test.each(['', 'of another Node', 'x'.repeat(200_000)])('that V8 does not know (%#) is passed over', (content) => {
    using dir = makeTempDir();
    const program = install(dir.path);
    writeFileSync(cacheOf(program, 'cli'), content);
    expect(runVersion(program)).toEqual({ said: version, taken: [false] });
  });
});

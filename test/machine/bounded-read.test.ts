import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ConfigRefused, readConfig } from '../../src/machine/config.js';
import { readWorkspaceConfig } from '../../src/machine/workspace-config.js';
import { readSmallFile, readSmallText } from '../../src/machine/bounded-read.js';
import { listSecretPaths } from '../../src/policy/guarded-paths.js';
import { makeTempDir } from '../support/temp-dir.js';

const options = { bytesMax: 8, followLinks: false };

test('a regular file up to the bound is read whole, and nothing beyond it', () => {
  using dir = makeTempDir();
  writeFileSync(dir.file('full'), '12345678');
  expect(readSmallFile(dir.file('full'), options)).toEqual({ bytes: Buffer.from('12345678') });
  writeFileSync(dir.file('long'), '123456789');
  expect(readSmallFile(dir.file('long'), options)).toMatchObject({ why: 'too_long', message: expect.stringContaining('8 bytes') });
  writeFileSync(dir.file('marked'), '\uFEFFa');
  expect(readSmallText(dir.file('marked'), options)).toBe('a');
});

test('a file that tells no size is bounded, too', () => {
  expect(readSmallFile('/proc/self/status', { bytesMax: 16, followLinks: true })).toMatchObject({ why: 'too_long' });
  expect(readSmallText('/proc/self/comm', { bytesMax: 64, followLinks: true })).toMatch(/^\S.*\n$/);
});

test('pipes, devices, directories, links and what is missing are told apart, and nobody waits for them', () => {
  using dir = makeTempDir();
  execFileSync('mkfifo', [dir.file('pipe')]);
  mkdirSync(dir.file('dir'));
  writeFileSync(dir.file('file'), 'x');
  symlinkSync('file', dir.file('link'));
  for (const path of [dir.file('pipe'), '/dev/zero', dir.file('dir'), dir.file('link')])
    expect(readSmallFile(path, options), path).toMatchObject({ why: 'not_a_file' });
  for (const name of ['none', 'n\0ne']) expect(readSmallFile(dir.file(name), options)).toMatchObject({ why: 'missing' });
  expect(readSmallFile(dir.file('file/x'), options)).toMatchObject({ why: 'failed' });
  expect(readSmallText(dir.file('link'), { ...options, followLinks: true })).toBe('x');
});

test('a pipe in the place of a config or of a file with tokens is not waited for', () => {
  using dir = makeTempDir();
  mkdirSync(dir.file('.berth'));
  for (const name of ['config.json', '.berth/config.json', '.npmrc']) execFileSync('mkfifo', [dir.file(name)]);
  expect(() => readConfig(dir.path)).toThrow(ConfigRefused);
  expect(readWorkspaceConfig(dir.path)).toBeUndefined();
  expect(listSecretPaths({ home: dir.path, own: [] })).not.toContain(dir.file('.npmrc'));
});

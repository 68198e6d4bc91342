import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createPolicy } from '../../src/policy/judge.js';
import type { Rule } from '../../src/policy/port.js';
import { makeWorld } from './judge-world.js';

/** A directory beside the workspace that a person grants, and what somebody who may write its parent can put in its place. */
function makeGranted() {
  const world = makeWorld();
  const granted = join(world.home, 'shared');
  mkdirSync(join(granted, 'deep'), { recursive: true });
  return {
    world,
    granted,
    ssh: join(world.home, '.ssh'),
    outside: join(world.home, '..', 'outside'),
    replaceBy(target: string): void {
      renameSync(granted, `${granted}.away`);
      symlinkSync(target, granted);
    },
    [Symbol.dispose]: () => world[Symbol.dispose](),
  };
}

describe('a directory of sandbox.writable that was replaced by a link', () => {
  test.each(['~/shared', 'absolute', '../shared', '~/shared/', '~/./other/../shared'])('is not writable any more (%s)', (named) => {
    using scene = makeGranted();
    const { world, granted } = scene;
    const settings = { writable: [named === 'absolute' ? granted : named] };
    const before = world.bash('make', { mode: 'auto_edit', settings }).reach;
    expect(before.confinement.writable).toContain(granted);
    expect(before.refuses('write', join(granted, 'x'))).toBeUndefined();
    scene.replaceBy(scene.ssh);
    const { reach } = world.bash('make', { mode: 'auto_edit', settings });
    expect(reach.confinement.writable).toEqual([world.workspace]);
    expect(reach.confinement.hidden).toContain(scene.ssh);
    expect(world.write('~/shared/authorized_keys', { mode: 'auto_edit', settings }).action).toBe('ask');
  });

  test('is not read unasked either, and neither is what a link above it leads to', () => {
    using scene = makeGranted();
    const settings = { writable: ['~/shared/deep'] };
    mkdirSync(join(scene.outside, 'deep'));
    expect(scene.world.read('~/shared/deep/x', { settings }).action).toBe('allow');
    scene.replaceBy(scene.outside);
    expect(scene.world.read('~/shared/deep/x', { settings }).action).toBe('ask');
    expect(scene.world.bash('make', { mode: 'auto_edit', settings }).reach.confinement.writable).toEqual([scene.world.workspace]);
  });

  test('and made again is writable again', () => {
    using scene = makeGranted();
    const settings = { writable: ['~/shared'] };
    scene.replaceBy(scene.outside);
    rmSync(scene.granted);
    mkdirSync(scene.granted);
    expect(scene.world.bash('make', { mode: 'auto_edit', settings }).reach.confinement.writable).toContain(scene.granted);
  });
});

describe('a rule that allows a path', () => {
  const rulesFor = (path: string): Rule[] => ['read', 'write', 'bash'].map((tool) => ({ tool, path, action: 'allow' }));

  test.each(['~/shared', '~/shared/deep/../', '~/shared/**'])(
    'holds for the directory that it names, not for a link in its place (%s)',
    (path) => {
      using scene = makeGranted();
      const { world, granted } = scene;
      const rules = rulesFor(path);
      expect(world.read('~/shared/x', { rules }).action).toBe('allow');
      expect(world.write('~/shared/x', { rules }).action).toBe('allow');
      scene.replaceBy(scene.outside);
      for (const named of ['~/shared/x', join(granted, 'x'), join(scene.outside, 'x')]) {
        expect(world.read(named, { rules }).action, named).toBe('ask');
        expect(world.write(named, { rules }).action, named).toBe('ask');
      }
      const { reach } = world.bash('make', { mode: 'auto_edit', rules });
      expect(reach.confinement.writable).toEqual([world.workspace]);
      expect(reach.refuses('write', join(scene.outside, 'x'))).toBeDefined();
    },
  );

  test('does not make writable for commands what another rule denies or asks about', () => {
    using scene = makeGranted();
    const { world, granted } = scene;
    for (const action of ['deny', 'ask'] as const) {
      const rules: Rule[] = [...rulesFor('~/shared/deep'), { tool: 'write', path: '~/shared', action }];
      expect(world.bash('make', { mode: 'auto_edit', rules }).reach.confinement.writable).toEqual([world.workspace]);
      const settings = { writable: ['~/shared/deep'] };
      expect(world.bash('make', { mode: 'full', rules, settings }).reach.confinement.writable).not.toContain(join(granted, 'deep'));
    }
  });

  test('does not hold for what links in it lead to', () => {
    using scene = makeGranted();
    symlinkSync(scene.outside, join(scene.granted, 'out'));
    expect(scene.world.write('~/shared/out/x', { rules: rulesFor('~/shared') }).action).toBe('ask');
    expect(scene.world.write('~/shared/out/x', { rules: [{ tool: 'write', pattern: '*shared*', action: 'allow' }] }).action).toBe('ask');
  });

  test('a rule that denies or asks holds for what a link in its place leads to', () => {
    using scene = makeGranted();
    scene.replaceBy(scene.outside);
    for (const action of ['deny', 'ask'] as const) {
      const rules: Rule[] = [
        { tool: '*', action: 'allow' },
        { tool: '*', path: '~/shared', action },
      ];
      for (const named of ['~/shared/x', join(scene.outside, 'x')]) expect(scene.world.read(named, { rules }).action, named).toBe(action);
    }
  });

  test('is refused when it names a path with a link, with the path to name instead', () => {
    using scene = makeGranted();
    const { home, workspace } = scene.world;
    const settings = { noSandbox: undefined, network: false, writable: [], own: [] };
    const policy = createPolicy({ home, umask: 0o022, settings: () => settings });
    scene.replaceBy(scene.outside);
    const toolNames = ['write'];
    const rule = (path: string, action: Rule['action'] = 'allow'): Rule => ({ tool: 'write', path, action });
    for (const path of ['~/shared/x', join(scene.granted, 'x'), '../shared/x']) {
      const problem = policy.findRuleProblem(rule(path), { toolNames, workspace });
      expect(problem).toMatchObject({ field: 'path' });
      expect(problem?.message).toContain(`name the real path: ${join(scene.outside, 'x')}`);
    }
    for (const fine of [rule('~/shared', 'deny'), rule('~/not-there/x'), rule('src'), rule('~/shared/*.txt')])
      expect(policy.findRuleProblem(fine, { toolNames, workspace })).toBeUndefined();
    expect(policy.findRuleProblem(rule('../shared/x'), { toolNames, workspace: undefined })).toBeUndefined();
  });
});

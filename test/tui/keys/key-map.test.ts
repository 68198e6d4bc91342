import { describe, expect, test } from 'vitest';
import { allActions } from '../../../src/tui/keys/actions.js';
import { createKeyMap } from '../../../src/tui/keys/key-map.js';

function mapOf(settings = {}): {
  find(key: string, focus: 'editor' | 'transcript'): string | undefined;
  keysOf(name: string): readonly string[];
} {
  const { keyMap, problems } = createKeyMap(settings);
  expect(problems).toEqual([]);
  return keyMap;
}

describe('the keys of actions', () => {
  test('no two actions have one key in the same place', () => {
    const places = allActions.flatMap(({ focus, keys }) => keys.map((key) => `${focus} ${key}`));
    expect(places.filter((place, at) => places.indexOf(place) !== at)).toEqual([]);
  });

  test('a setting counts before what is usual, and an empty one unbinds', () => {
    expect(mapOf({ palette: 'ctrl+k' }).find('ctrl+k', 'editor')).toBe('palette');
    expect(mapOf({ palette: 'ctrl+k' }).find('ctrl+p', 'transcript')).toBeUndefined();
    expect(mapOf({ help: [] }).find('?', 'editor')).toBeUndefined();
    expect(mapOf({ palette: ['alt+x', 'f2'] }).keysOf('palette')).toEqual(['Alt-X', 'f2']);
  });

  test('a conflict of two settings is an error that names both, and an unknown action is named', () => {
    expect(createKeyMap({ palette: 'ctrl+x', sessions: 'ctrl+x' }).problems).toEqual([
      'keys: ctrl+x is bound to both palette (Everything that can be done) and sessions (Choose a session)',
    ]);
    expect(createKeyMap({ sesions: 'ctrl+x' }).problems).toEqual([
      'keys.sesions in config.json: there is no such action, did you mean sessions?',
    ]);
    // All others go on working.
    expect(createKeyMap({ sesions: 'ctrl+x', palette: 'f2' }).keyMap.find('f2', 'editor')).toBe('palette');
  });
});

import { nearest } from '../../protocol/nearest.js';
import { allActions, type Action, type Focus } from './actions.js';

/** Keys of a person's settings: the name of an action to its key or keys; no keys unbind it. */
export type KeySettings = Readonly<Record<string, string | readonly string[]>>;

export interface KeyMap {
  /** The name of the action that a key means here. */
  find(key: string, focus: Focus): string | undefined;
  /** The keys of an action as people read them. */
  keysOf(name: string): readonly string[];
}

export interface KeyMapResult {
  keyMap: KeyMap;
  /** Settings that do not count, and why. */
  problems: readonly string[];
}

/** The keys of all actions. Two actions with one key in the same place are an error that names both. */
export function createKeyMap(settings: KeySettings = {}): KeyMapResult {
  const problems: string[] = [];
  const names = new Set(allActions.map(({ name }) => name));
  for (const name of Object.keys(settings)) {
    if (names.has(name)) continue;
    const near = nearest(name, [...names]);
    problems.push(
      `keys.${name} in config.json: there is no such action${near === undefined ? '; docs/tui.md lists them' : `, did you mean ${near}?`}`,
    );
  }
  const byPlace = new Map<string, Action>();
  const keysByName = new Map<string, readonly string[]>();
  const own = new Set(Object.keys(settings));
  /** Keys that a person gave to something which counts everywhere. */
  const claimed = new Set<string>();
  // What a person has chosen counts before what is usual.
  for (const action of [...allActions].sort((a, b) => Number(own.has(b.name)) - Number(own.has(a.name)))) {
    const chosen = settings[action.name];
    const keys = (chosen === undefined ? action.keys : typeof chosen === 'string' ? [chosen] : chosen).map(normalizeKey);
    const kept: string[] = [];
    for (const key of keys) {
      const place = `${action.focus} ${key}`;
      const other = byPlace.get(place);
      if (!own.has(action.name) && claimed.has(key)) continue;
      if (own.has(action.name) && action.focus === 'always') claimed.add(key);
      if (!other) {
        byPlace.set(place, action);
        kept.push(key);
      } else if (own.has(action.name) && own.has(other.name)) {
        problems.push(`keys: ${key} is bound to both ${other.name} (${other.label}) and ${action.name} (${action.label})`);
      }
    }
    keysByName.set(action.name, kept);
  }
  return {
    problems,
    keyMap: {
      find: (key, focus) => byPlace.get(`${focus} ${normalizeKey(key)}`)?.name ?? byPlace.get(`always ${normalizeKey(key)}`)?.name,
      keysOf: (name) => (keysByName.get(name) ?? []).map(keyLabel),
    },
  };
}

const modifiers = ['ctrl', 'alt', 'shift', 'super'] as const;

/** One spelling for each key: modifiers in a fixed order, and a capital as its letter with Shift. */
function normalizeKey(typed: string): string {
  const parts = typed.length === 1 ? [typed] : typed.split('+');
  const key = typed.endsWith('++') ? '+' : (parts.at(-1) ?? '');
  const said = parts.slice(0, -1).map((part) => part.toLowerCase());
  // With Control, nobody means the capital by it.
  const isCapital = /^[A-Z]$/.test(key) && !said.includes('ctrl');
  const held = modifiers.filter((name) => said.includes(name) || (name === 'shift' && isCapital));
  return [...held, key.toLowerCase()].join('+');
}

const names: Partial<Record<string, string>> = {
  escape: 'Esc',
  enter: 'Enter',
  tab: 'Tab',
  space: 'Space',
  pageup: 'PgUp',
  pagedown: 'PgDn',
  up: '↑',
  down: '↓',
  left: '←',
  right: '→',
  backspace: 'Backspace',
  delete: 'Del',
  home: 'Home',
  end: 'End',
};

/** `Ctrl-P`, `Shift-Tab`, `?` */
export function keyLabel(key: string): string {
  if (key.length === 1) return key;
  const parts = normalizeKey(key).split('+');
  const last = parts.at(-1) ?? '';
  const label = names[last] ?? (last.length === 1 && parts.length > 1 ? last.toUpperCase() : last);
  return [...parts.slice(0, -1).map((part) => `${part.charAt(0).toUpperCase()}${part.slice(1)}`), label].join('-');
}

import type { Entry } from './entries.js';

/** Which entries are folded: what a person said of one, else of its kind or tool, else what is usual. */
export interface Folds {
  isFolded(entry: Entry): boolean;
  canFold(entry: Entry): boolean;
  toggle(entry: Entry): void;
  /** Folds or unfolds all entries like this one, also those to come. */
  toggleKind(entry: Entry): void;
  /** By kind or tool, to be remembered. */
  remembered(): Record<string, boolean>;
}

/** Tools whose output matters less than that they ran. */
const usuallyFolded = new Set(['thinking', 'summary', 'event', 'tool:read', 'tool:ls', 'tool:glob', 'tool:grep', 'tool:tool_output']);

export function createFolds(remembered: Record<string, boolean> = {}): Folds {
  const kinds = new Map(Object.entries(remembered));
  const single = new Map<string, boolean>();

  function isKindFolded(entry: Entry): boolean {
    const kind = kindOf(entry);
    return kinds.get(kind) ?? usuallyFolded.has(kind);
  }

  function isFolded(entry: Entry): boolean {
    return single.get(entry.id) ?? isKindFolded(entry);
  }

  return {
    isFolded,
    canFold: (entry) => ['thinking', 'tool', 'summary', 'event', 'stream'].includes(entry.kind),
    toggle: (entry) => void single.set(entry.id, !isFolded(entry)),
    toggleKind(entry) {
      const folded = !isFolded(entry);
      kinds.set(kindOf(entry), folded);
      single.clear();
    },
    remembered: () => Object.fromEntries(kinds),
  };
}

function kindOf(entry: Entry): string {
  if (entry.kind === 'stream') return entry.isThinking ? 'thinking' : 'answer';
  return entry.kind === 'tool' ? `tool:${entry.tool.name}` : entry.kind;
}

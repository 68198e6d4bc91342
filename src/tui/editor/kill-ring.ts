/** What was deleted by words and lines, newest first. */
export interface KillRing {
  /** Adds a text; `joins` says where it belongs to the text before it, which was deleted just before. */
  add(text: string, joins?: 'before' | 'after'): void;
  /** The newest text. */
  newest(): string | undefined;
  /** The text before the one that was given last; from the newest after the oldest. */
  next(): string | undefined;
  texts(): Iterable<string>;
}

const tuning = { textsMax: 32 } as const;

export function createKillRing(): KillRing {
  let ring: string[] = [];
  let at = 0;
  return {
    add(text, joins) {
      if (text === '') return;
      const [last, ...older] = ring;
      if (joins === undefined || last === undefined) ring = [text, ...ring].slice(0, tuning.textsMax);
      else ring = [joins === 'before' ? text + last : last + text, ...older];
      at = 0;
    },
    newest() {
      at = 0;
      return ring[0];
    },
    next() {
      at = ring.length === 0 ? 0 : (at + 1) % ring.length;
      return ring[at];
    },
    texts: () => ring,
  };
}

/** Which pieces of a line were changed, in order; together they are the line. */
export interface ChangedPiece {
  readonly text: string;
  readonly isChanged: boolean;
}

export interface ChangedPair {
  readonly before: readonly ChangedPiece[];
  readonly after: readonly ChangedPiece[];
}

/** Lines with more words are not compared. With less in common than this share, two lines are two lines and no change of one. */
const tuning = { wordsMax: 120, sharedMin: 0.3 } as const;

const words = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;

/** What two versions of a line have in common, word by word; undefined when that is too little to be shown. */
export function compareWords(before: string, after: string): ChangedPair | undefined {
  const old = before.match(words) ?? [];
  const now = after.match(words) ?? [];
  if (old.length > tuning.wordsMax || now.length > tuning.wordsMax) return undefined;
  const kept = longestCommon(old, now);
  const shared = kept.reduce((units, [at]) => units + (old[at]?.trim().length ?? 0), 0);
  const most = Math.max(before.replaceAll(/\s/gu, '').length, after.replaceAll(/\s/gu, '').length);
  if (shared < tuning.sharedMin * most || before === after) return undefined;
  const keptOld = new Set(kept.map(([at]) => at));
  const keptNow = new Set(kept.map(([, at]) => at));
  return { before: toPieces(old, keptOld), after: toPieces(now, keptNow) };
}

/** The places of the longest common subsequence, in both lists. */
function longestCommon(old: readonly string[], now: readonly string[]): [number, number][] {
  const stride = now.length + 1;
  const lengths = new Uint16Array((old.length + 1) * stride);
  const lengthAt = (i: number, j: number): number => lengths[i * stride + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      lengths[i * stride + j] = old[i] === now[j] ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
    }
  }
  const common: [number, number][] = [];
  for (let i = 0, j = 0; i < old.length && j < now.length;) {
    if (old[i] === now[j]) common.push([i++, j++]);
    else if (lengthAt(i + 1, j) >= lengthAt(i, j + 1)) i++;
    else j++;
  }
  return common;
}

function toPieces(list: readonly string[], kept: ReadonlySet<number>): ChangedPiece[] {
  const pieces: { text: string; isChanged: boolean }[] = [];
  for (const [at, text] of list.entries()) {
    const isChanged = !kept.has(at);
    const last = pieces.at(-1);
    if (last?.isChanged === isChanged) last.text += text;
    else pieces.push({ text, isChanged });
  }
  return pieces;
}

const tuning = {
  /** The weights of a score: whether the path is recent, its depth and its length. */
  depthsMax: 64,
  lengthsMax: 4096,
  /** Candidates are sorted when there are so many times more than wanted. */
  poolFactor: 4,
} as const;

/** A path of an index: directories end in `/`. */
export interface IndexedPath {
  path: string;
  /** The path in lower case. */
  folded: string;
}

export interface PathQuery {
  /** A part of a path. Before its last `/` it names a directory, if there is such a one. */
  query: string;
  /** How many of the best matches are wanted. */
  countMax: number;
  /** Paths without a trailing `/`, and how long ago each was used: 0 is the newest. */
  recent: ReadonlyMap<string, number>;
}

interface Match {
  path: string;
  score: number;
}

/**
 * The best matches of a query: names that begin with it, names that contain it, paths that contain it, then names and paths that have its
 * characters in order. Among equals recent paths come first, then shallow ones, then short ones.
 */
export function matchPaths(paths: readonly IndexedPath[], { query, countMax, recent }: PathQuery): { best: string[]; total: number } {
  const { directory, rest } = splitQuery(paths, query);
  let pool: Match[] = [];
  let worst = Infinity;
  let total = 0;
  for (const { path, folded } of paths) {
    if (directory !== '' && (folded.length === directory.length || !folded.startsWith(directory))) continue;
    const grade = gradeOf(folded, rest, directory.length);
    if (grade === undefined) continue;
    total++;
    const score = scoreOf(path, grade, recent);
    if (score > worst) continue;
    pool.push({ path, score });
    if (pool.length < tuning.poolFactor * countMax) continue;
    pool = pool.sort(compareMatches).slice(0, countMax);
    worst = pool.at(-1)?.score ?? Infinity;
  }
  const best = pool.sort(compareMatches).slice(0, countMax);
  return { best: best.map(({ path }) => path), total };
}

/** A directory that exists is searched; a query whose directory does not exist is a part of a path. */
function splitQuery(paths: readonly IndexedPath[], query: string): { directory: string; rest: string } {
  const folded = query.toLowerCase();
  const directory = folded.slice(0, folded.lastIndexOf('/') + 1);
  const exists = directory !== '' && paths.some((path) => path.folded.startsWith(directory));
  return exists ? { directory, rest: folded.slice(directory.length) } : { directory: '', rest: folded };
}

/** How well a path matches, 0 is best; undefined when it does not. */
function gradeOf(folded: string, rest: string, from: number): number | undefined {
  const name = folded.lastIndexOf('/', folded.length - 2) + 1;
  if (folded.startsWith(rest, name)) return 0;
  if (folded.includes(rest, name)) return 1;
  if (folded.includes(rest, from)) return 2;
  if (hasInOrder(folded, rest, name)) return 3;
  return hasInOrder(folded, rest, from) ? 4 : undefined;
}

function hasInOrder(text: string, characters: string, from: number): boolean {
  let at = from;
  for (const character of characters) {
    const found = text.indexOf(character, at);
    if (found === -1) return false;
    at = found + character.length;
  }
  return true;
}

function scoreOf(path: string, grade: number, recent: ReadonlyMap<string, number>): number {
  const gradeSize = tuning.depthsMax * tuning.lengthsMax;
  const isDirectory = path.endsWith('/');
  const age = recent.size === 0 ? undefined : recent.get(isDirectory ? path.slice(0, -1) : path);
  if (age !== undefined) return 2 * grade * gradeSize + Math.min(age, gradeSize - 1);
  let depth = isDirectory ? -1 : 0;
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) depth++;
  const place = Math.min(depth, tuning.depthsMax - 1) * tuning.lengthsMax + Math.min(path.length, tuning.lengthsMax - 1);
  return (2 * grade + 1) * gradeSize + place;
}

function compareMatches(a: Match, b: Match): number {
  return a.score - b.score || (a.path < b.path ? -1 : 1);
}

import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { staleDocs } from '../scripts/docs.js';
import { events } from '../src/protocol/events.js';
import { limits } from '../src/protocol/limits.js';

/** Which folders of src a folder may import beside itself; a path to a file means that file alone. */
const ports = ['providers', 'tools', 'sandbox', 'policy', 'context', 'mcp', 'extensions'].map((folder) => `${folder}/port.ts`);
const systemCalls = ['machine/bounded-read.ts', 'machine/home.ts', 'machine/make-dir.ts', 'machine/system-calls.ts'];
const frontend = ['client', 'view', 'protocol'];
const directions: Record<string, string[]> = {
  protocol: [],
  core: ['protocol'],
  view: ['core', 'protocol'],
  store: ['core', 'protocol'],
  engine: ['store', 'core', 'protocol', 'machine/system-calls.ts', ...ports],
  server: ['engine', 'store', 'core', 'protocol', ...systemCalls],
  providers: ['protocol', 'machine/provider-config.ts', 'tools/port.ts', 'tools/tool-entry.ts', 'tools/zod-parameters.ts'],
  tools: ['sandbox', 'protocol', ...systemCalls],
  sandbox: ['protocol', ...systemCalls],
  policy: ['protocol', 'tools/port.ts', 'sandbox/port.ts', ...systemCalls],
  context: ['protocol', ...systemCalls],
  mcp: ['protocol', 'tools/port.ts', 'sandbox/port.ts'],
  extensions: ['protocol', 'tools/port.ts', 'sandbox/port.ts'],
  machine: ['protocol', 'policy/port.ts'],
  client: ['machine', 'view', 'core', 'protocol'],
  cli: ['machine', 'tui/main.ts', ...frontend],
  tui: frontend,
  web: frontend,
  bridges: frontend,
};
const importsEverything = 'daemon';
const frontends = new Set(['cli', 'tui', 'web', 'bridges']);
/** The one command that becomes the daemon, and so may load it when it runs. */
const daemonRun = 'cli/commands/daemon/daemon-run.ts';

const browserSafe = new Set(['protocol', 'core', 'view']);
const pure = new Set(['core', 'view']);
const transactionFiles = new Set(['engine/door/commit.ts', 'store/migrate.ts', 'store/damage/salvage.ts', 'daemon/lock.ts']);
/** Besides the door: what makes the store, hands it to the door, and what locks the state directory. */
const writerFiles = new Set(['engine/door/commit.ts', 'engine/engine.ts', 'daemon/start.ts', 'daemon/store-status.ts', 'daemon/lock.ts']);
const writerNames = /^(Store|StoreWriters|createStore|create\w+Rows|createEventLog|Database|loadSqlite|openOrCreate|openDatabase)$/;
/** What makes lines of events, and who may. */
const encoder = { file: 'protocol/encode.ts', folders: new Set(['server']) };
/** Where the session id `*` of the wire becomes a scope, and the folders that know nothing of it. */
const wireScopeFile = 'server/event-server.ts';
const scopedFolders = new Set(['core', 'store', 'engine', 'server']);
const synchronousPlaces = ['core/', 'engine/door/commit.ts', 'server/handlers/'];
const programStarters = new Set(['tools', 'sandbox', 'machine', 'mcp', 'extensions', 'policy', 'daemon', 'client', 'cli', 'tui']);
/** The terminal frontend is a bundle of its own, loaded when it is opened: its kit may name the library that it is made of. */
const terminalKit = { folder: 'src/tui/kit', library: '@earendil-works/pi-tui' };
const loadedWhenUsed = ['openai', '@anthropic-ai/sdk', '@modelcontextprotocol/sdk', '@agentclientprotocol/sdk', '@earendil-works/pi-tui'];
const impureNames = new Set(['performance', 'crypto', 'process', 'setTimeout', 'setImmediate', 'queueMicrotask', 'fetch']);
const limitName = /(Max|Min|Default|Ms|Bytes|Rows|Events)$/;
/** A number is a bound when its name ends so, or when one of these is called with it. */
const unitName = /(Max|Min|Default|Ms|Seconds|Bytes|Chars|Characters|Units|Rows|Lines|Columns|Tokens|Words|Events|Attempts|PerSecond)$/;
const boundCalls = [
  { name: /(^|\.)(setTimeout|delay|sleep|timeout)$/, above: 1 },
  { name: /(?<!^Math)\.(max|min|length|gte|lte|gt|lt)$/, above: 1 },
  // A shorter one takes a field of a fixed format: a date, a digest.
  { name: /\.slice$/, above: 16 },
];
/**
 * A number that neither a peer nor a person meets as a bound stays beside the code, in a const of this name: `tuning` is how an algorithm
 * goes about its work (pauses, pieces, samples, estimates), `layout` is the columns and lines of a screen.
 */
const ownNumbers = new Set(['tuning', 'layout']);
const sourceLinesMax = 400;
const folderFilesMax = 20;
const agentsLinesMax = 80;

interface TextFile {
  /** Below the root of the project, with `/`. */
  path: string;
  text: string;
}
interface Source extends TextFile {
  /** Below src. */
  name: string;
  folder: string;
  tree: ts.SourceFile;
}
interface Import {
  source: Source;
  node: ts.Node;
  specifier: string;
  kind: 'static' | 'type' | 'dynamic';
}
interface Law {
  law: string;
  /** What breaks it, each as `file:line what`. */
  check: () => string[] | Promise<string[]>;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const notOurs = new Set(['node_modules', 'dist', 'coverage', '.git', 'bench.json']);
const files = readTree('');
const sources = files.filter(({ path }) => /^src\/.*\.tsx?$/.test(path)).map(parse);
const imports = sources.flatMap(importsOf);

function readTree(folder: string): TextFile[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((item) => {
    const path = posix.join(folder, item.name);
    if (notOurs.has(item.name)) return [];
    if (item.isDirectory()) return readTree(path);
    return item.isFile() ? [{ path, text: readFileSync(join(root, path), 'utf8') }] : [];
  });
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}

function parse({ path, text }: TextFile): Source {
  const name = path.slice('src/'.length);
  const folder = name.includes('/') ? name.slice(0, name.indexOf('/')) : '';
  return { path, text, name, folder, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) };
}

function nodesOf(source: Source): ts.Node[] {
  const nodes: ts.Node[] = [];
  (function visit(node: ts.Node): void {
    nodes.push(node);
    ts.forEachChild(node, visit);
  })(source.tree);
  return nodes;
}

function importsOf(source: Source): Import[] {
  return nodesOf(source).flatMap((node): Import[] => {
    if (ts.isImportDeclaration(node) || (ts.isExportDeclaration(node) && node.moduleSpecifier)) {
      const typeOnly = ts.isImportDeclaration(node) ? node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword : node.isTypeOnly;
      return [{ source, node, specifier: (node.moduleSpecifier as ts.StringLiteral).text, kind: typeOnly ? 'type' : 'static' }];
    }
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
      return [{ source, node, specifier: node.argument.literal.text, kind: 'type' }];
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments;
      return [{ source, node, specifier: argument && ts.isStringLiteralLike(argument) ? argument.text : '', kind: 'dynamic' }];
    }
    return [];
  });
}

function at(source: Source, node: ts.Node, what = node.getText(source.tree).split('\n')[0]): string {
  return `${source.path}:${source.tree.getLineAndCharacterOfPosition(node.getStart(source.tree)).line + 1} ${what}`;
}

function find(among: Source[], breaks: (node: ts.Node) => boolean): string[] {
  return among.flatMap((source) =>
    nodesOf(source)
      .filter(breaks)
      .map((node) => at(source, node)),
  );
}

function findLines(among: TextFile[], pattern: RegExp): string[] {
  return among.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1} ${line.trim().slice(0, 120)}`] : [])),
  );
}

/** The path below src that an import means, or undefined for a package. */
function targetOf({ source, specifier }: Import): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  return posix.join(posix.dirname(source.name), specifier).replace(/\.js$/, '.ts');
}

function forbidden(found: Import): boolean {
  const target = targetOf(found);
  const { folder, name } = found.source;
  if (target === undefined || folder === importsEverything) return false;
  const targetFolder = target.slice(0, target.indexOf('/'));
  if (targetFolder === folder) return false;
  if (name === daemonRun && targetFolder === importsEverything && found.kind === 'dynamic') return false;
  const allowed = directions[folder] ?? [];
  return !allowed.includes(targetFolder) && !allowed.includes(target);
}

function inFolders(folders: ReadonlySet<string>): Source[] {
  return sources.filter(({ folder }) => folders.has(folder));
}

function isCallOf(node: ts.Node, name: RegExp): node is ts.CallExpression {
  if (!ts.isCallExpression(node)) return false;
  const callee = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression;
  return ts.isIdentifier(callee) && name.test(callee.text);
}

function isMethodCall(node: ts.Node, name: RegExp): boolean {
  return isCallOf(node, name) && ts.isPropertyAccessExpression(node.expression);
}

/** A name that is looked up in scope, as against a key. */
function isReference(node: ts.Node, names: ReadonlySet<string>): boolean {
  if (!ts.isIdentifier(node) || !names.has(node.text)) return false;
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  return !('name' in parent && parent.name === node);
}

function literalText(node: ts.Node): string {
  return ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node) ? node.text : '';
}

function checkDurability(): string[] {
  const store = sources.filter(({ folder }) => folder === 'store');
  const weak = find(sources, (node) => /synchronous\s*=\s*(OFF|NORMAL|0|1)\b/i.test(literalText(node)));
  if (limits.busyTimeoutMs > 100) weak.push('src/protocol/limits.ts: busyTimeoutMs is over 100');
  const opener = store.find(({ text }) => /journal_mode\s*=/i.test(text));
  if (store.length === 0) return weak;
  if (!opener) return [...weak, 'src/store: nothing sets journal_mode'];
  const journal = opener.text.search(/journal_mode\s*=\s*WAL/i);
  const full = opener.text.search(/synchronous\s*=\s*FULL/i);
  return journal >= 0 && full > journal ? weak : [...weak, `${opener.path}: synchronous=FULL must be set after journal_mode=WAL`];
}

/** How large a number is that stands for itself (`200`, `64 * 1024`), and 0 where a name takes part in it. */
function bareNumber(node: ts.Node | undefined): number {
  const text = node?.getText().replaceAll('_', '') ?? '';
  if (/^-?[\d.]+(e\d+)?$/.test(text)) return Math.abs(Number(text));
  return /^[-(\d][-+*/()\s\d.]*$/.test(text) ? Infinity : 0;
}

function isBareBound(node: ts.Node): boolean {
  if (ts.isCallExpression(node)) {
    const called = node.expression.getText();
    return boundCalls.some(({ name, above }) => name.test(called) && node.arguments.some((argument) => bareNumber(argument) > above));
  }
  if (!ts.isVariableDeclaration(node) && !ts.isPropertyAssignment(node) && !ts.isParameter(node) && !ts.isBindingElement(node))
    return false;
  return unitName.test(node.name.getText()) && bareNumber(node.initializer) > 1 && !isOwnNumber(node);
}

function isOwnNumber({ parent: { parent: declared } }: ts.Node): boolean {
  const object = ts.isAsExpression(declared) ? declared.parent : declared;
  return ts.isVariableDeclaration(object) && ownNumbers.has(object.name.getText());
}

function checkBounds(): string[] {
  const areas = sources.filter(({ name }) => name.startsWith('protocol/limits/'));
  const others = sources.filter((source) => source.name !== 'protocol/limits.ts' && !areas.includes(source));
  const declared = areas.flatMap((source) =>
    nodesOf(source)
      .filter(ts.isPropertyAssignment)
      .map((node) => ({ source, node })),
  );
  const used = new Set(others.flatMap(({ text }) => [...text.matchAll(/\blimits\.(\w+)/g)].map(([, name]) => name)));
  const names = declared.map(({ node }) => node.name.getText());
  return [
    ...declared
      .filter(({ node }, i) => !limitName.test(node.name.getText()) || !used.has(names[i]) || names.indexOf(node.name.getText()) !== i)
      .map(({ source, node }) => at(source, node)),
    ...(names.length === Object.keys(limits).length ? [] : ['src/protocol/limits.ts leaves an area out']),
    ...find(others, isBareBound),
  ];
}

const laws: Law[] = [
  {
    // That who got a ReadStore cannot write is a type (test/engine/one-door.test.ts). Searched for is what a type cannot say: who gets more
    // than that, who holds a connection, and who opens a transaction.
    law: '1 one door: writers of rows, connections and transactions are for engine/door/commit.ts',
    check: () => [
      ...find(
        sources.filter(({ name }) => !transactionFiles.has(name)),
        (node) => isMethodCall(node, /^(transaction|immediate|exclusive)$/) || /\b(BEGIN|SAVEPOINT)\b/.test(literalText(node)),
      ),
      ...find(
        sources.filter(({ name, folder }) => folder !== 'store' && !writerFiles.has(name)),
        (node) => ts.isImportSpecifier(node) && writerNames.test((node.propertyName ?? node.name).text),
      ),
    ],
  },
  {
    law: '2 no await before commit: decisions, the commit and handlers are synchronous',
    check: () =>
      find(
        sources.filter(({ name }) => synchronousPlaces.some((place) => name.startsWith(place))),
        (node) => ts.isAwaitExpression(node) || node.kind === ts.SyntaxKind.AsyncKeyword || isMethodCall(node, /^then$/),
      ),
  },
  {
    law: '3 core and view are pure: no node:, clock, randomness or waiting',
    check: () =>
      find(
        inFolders(pure),
        (node) =>
          isReference(node, impureNames) ||
          node.kind === ts.SyntaxKind.AsyncKeyword ||
          (ts.isPropertyAccessExpression(node) && /^(Date\.now|Math\.random)$/.test(node.getText())) ||
          (ts.isNewExpression(node) && node.expression.getText() === 'Date' && !node.arguments?.length),
      ),
  },
  {
    law: '3 protocol, core and view are browser-safe: of packages they import zod and nothing else',
    check: () =>
      imports
        .filter((found) => browserSafe.has(found.source.folder) && targetOf(found) === undefined && found.specifier !== 'zod')
        .map(({ source, node }) => at(source, node)),
  },
  {
    law: '3 a type check without Node types compiles exactly the browser-safe folders, and npm run types runs it',
    check: () => {
      const { include, compilerOptions } = readJson('tsconfig.browser.json') as { include: string[]; compilerOptions: { types: string[] } };
      const { scripts } = readJson('package.json') as { scripts: Record<string, string> };
      const wanted = [...browserSafe].map((folder) => `src/${folder}`);
      return [
        ...wanted.filter((folder) => !include.includes(folder)),
        ...include.filter((folder) => !wanted.includes(folder)),
        ...compilerOptions.types,
        ...(scripts.types?.includes('tsc -p tsconfig.browser.json') === true ? [] : ['package.json: types']),
      ];
    },
  },
  {
    law: '4 everything is bounded: each limit has a unit and is used, and a bound that a peer or a person can meet is no bare number',
    check: checkBounds,
  },
  {
    law: '5 a wake is a bit: it says which session and nothing more',
    check: () => find(sources, (node) => isCallOf(node, /^wake([A-Z]\w*)?$/) && node.arguments.length > 1),
  },
  { law: '6 acknowledged is durable: WAL, then synchronous=FULL, and a short busy timeout', check: checkDurability },
  {
    law: '7 frontends are guests: they import client, view and protocol only',
    check: () =>
      imports.filter((found) => frontends.has(found.source.folder) && forbidden(found)).map(({ source, node }) => at(source, node)),
  },
  {
    law: '7 imports point one way',
    check: () =>
      imports.filter((found) => !frontends.has(found.source.folder) && forbidden(found)).map(({ source, node }) => at(source, node)),
  },
  {
    law: '7 every folder of src has its row in the table of directions',
    check: () =>
      sources
        .filter(({ folder, name }) => !(folder in directions) && folder !== importsEverything && !name.endsWith('.d.ts'))
        .map(({ path }) => path),
  },
  {
    law: '8 a repository grants itself nothing: few places start programs, and none of them through a shell by accident',
    check: () => [
      ...imports
        .filter(({ specifier, source }) => /^(node:)?child_process$/.test(specifier) && !programStarters.has(source.folder))
        .map(({ source, node }) => at(source, node)),
      ...find(
        sources,
        (node) =>
          (ts.isPropertyAssignment(node) && node.name.getText() === 'shell' && node.initializer.kind === ts.SyntaxKind.TrueKeyword) ||
          (ts.isImportSpecifier(node) && /^exec(Sync)?$/.test((node.propertyName ?? node.name).text)),
      ),
    ],
  },
  {
    law: '9 streaming is linear: an update carries a piece and its offset, never the whole',
    check: () =>
      (['message_update', 'tool_execution_update'] as const).flatMap((type) => {
        const fields = Object.keys(events[type].payload.shape);
        const whole = fields.filter((field) => ['message', 'content', 'text', 'partial', 'output', 'result'].includes(field));
        return fields.includes('offset') ? whole.map((field) => `${type}.${field}`) : [`${type} has no offset`];
      }),
  },
  {
    law: '9 a line is encoded once for all clients: in server/, of what store and engine know as facts and texts',
    check: () =>
      imports
        .filter((found) => targetOf(found) === encoder.file && !encoder.folders.has(found.source.folder))
        .map(({ source, node }) => at(source, node)),
  },
  {
    law: 'a session id is of one session: what means all of them is a Scope, but on the wire',
    check: () =>
      find(
        inFolders(scopedFolders).filter(({ name }) => name !== wireScopeFile),
        (node) => ts.isStringLiteralLike(node) && node.text === '*',
      ),
  },
  { law: '10 idle is free: nothing polls', check: () => find(sources, (node) => isReference(node, new Set(['setInterval']))) },
  {
    law: '10 idle is free: SDKs are loaded when first used',
    check: () =>
      imports
        .filter(
          ({ source, specifier, kind }) =>
            kind === 'static' &&
            loadedWhenUsed.some((name) => specifier === name || specifier.startsWith(`${name}/`)) &&
            !(specifier.startsWith(`${terminalKit.library}/`) && posix.dirname(source.path) === terminalKit.folder),
        )
        .map(({ source, node }) => at(source, node)),
  },
  {
    law: 'files and folders have kebab-case names that say what is in them',
    check: () =>
      files
        .map(({ path }) => path)
        .filter((path) => /^(src|test|scripts|bin)\//.test(path) && /\.[jt]sx?$/.test(path))
        .filter(
          (path) =>
            !/^([a-z0-9]+(-[a-z0-9]+)*\/)+[a-z0-9]+(-[a-z0-9]+)*((\.long)?\.test|\.d)?\.[jt]sx?$/.test(path) ||
            /\/(utils?|helpers?)\.ts$/.test(path),
        ),
  },
  {
    law: 'there are no barrels: src/client/index.ts is the only index',
    check: () => sources.map(({ path }) => path).filter((path) => path.endsWith('/index.ts') && path !== 'src/client/index.ts'),
  },
  {
    law: 'nothing in src is exported as default',
    check: () =>
      find(
        sources,
        (node) =>
          ts.isExportAssignment(node) ||
          (node.kind === ts.SyntaxKind.DefaultKeyword && ts.canHaveModifiers(node.parent)) ||
          (ts.isExportSpecifier(node) && node.name.text === 'default'),
      ),
  },
  {
    law: `no folder of src has over ${folderFilesMax} files`,
    check: () => {
      const counts = new Map<string, number>();
      for (const { path } of sources) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
      return [...counts].flatMap(([folder, count]) => (count > folderFilesMax ? [`${folder}: ${count}`] : []));
    },
  },
  {
    law: `no file of src is over ${sourceLinesMax} lines`,
    check: () =>
      sources
        .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
        .flatMap(({ path, lines }) => (lines > sourceLinesMax ? [`${path}:${lines}`] : [])),
  },
  {
    law: 'no catch is empty',
    check: () => find(sources, (node) => ts.isCatchClause(node) && node.block.statements.length === 0),
  },
  {
    law: 'only cli/ writes to the console',
    check: () =>
      find(
        sources.filter(({ folder }) => folder !== 'cli'),
        (node) => isReference(node, new Set(['console'])),
      ),
  },
  {
    law: 'built-in modules are imported by their node: name',
    check: () =>
      imports.filter(({ specifier }) => isBuiltin(specifier) && !specifier.startsWith('node:')).map(({ source, node }) => at(source, node)),
  },
  {
    law: 'only protocol/sanitize.ts says which characters are hidden',
    check: () =>
      findLines(
        sources.filter(({ name }) => name !== 'protocol/sanitize.ts'),
        /\\p\{(C|Cf|Cs|Zl|Zp|Default_Ignorable_Code_Point)\}/,
      ),
  },
  {
    law: 'nothing is left for later in a comment',
    check: () =>
      findLines(
        files.filter(({ path }) => /^(src|test|scripts|bin|migrations)\//.test(path)),
        /\b(TO[D]O|FIX[M]E)\b/,
      ),
  },
  {
    law: 'the lock file holds no download addresses',
    check: () =>
      findLines(
        files.filter(({ path }) => path === 'package-lock.json'),
        /"resolved": "http/,
      ),
  },
  {
    law: 'no file names a directory of the machine it was written on',
    check: () =>
      findLines(
        files.filter(({ text }) => !text.includes('\0')),
        /(?<![\w.~/-])\/(work|root)\//,
      ),
  },
  { law: 'docs/protocol.md and its schema say what the tables say (npm run docs)', check: staleDocs },
  {
    law: 'docs/architecture.md names tests of the laws that there are',
    check: () => {
      const [, table = ''] = files.find(({ path }) => path === 'docs/architecture.md')?.text.split('## The laws') ?? [];
      const named = [...table.split('\n## ')[0]!.matchAll(/`((?:client|crash|e2e|engine|model|sandbox|server|store)\/[\w.*-]+)`/g)];
      const isThere = (name: string): boolean =>
        files.some(({ path }) => path.startsWith(`test/${name.replace('*', '')}`) && path.endsWith('.test.ts'));
      return named.length === 0 ? ['docs/architecture.md: the laws'] : named.map(([, name = '']) => name).filter((name) => !isThere(name));
    },
  },
  {
    law: `AGENTS.md is under ${agentsLinesMax} lines`,
    check: () =>
      files.filter(({ path, text }) => path === 'AGENTS.md' && text.trimEnd().split('\n').length >= agentsLinesMax).map(({ path }) => path),
  },
];

for (const { law, check } of laws) {
  test(law, async () => {
    expect(await check()).toEqual([]);
  });
}

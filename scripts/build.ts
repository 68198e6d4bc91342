import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type OutputFile, type Plugin } from 'esbuild';
import { writeCodeCaches } from './code-cache.js';
import { noticesOf } from './notices.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const client = 'src/client/index.ts';
/** Each runs as one script with a code cache: half of a start is reading and compiling source. See bin/load-bundle.js. */
const bundles = { cli: 'src/cli/main.ts', daemon: 'src/daemon/run.ts', tui: 'src/tui/main.ts' };
/** Loaded by the daemon with the first request to a model, as the files they are. */
const sdks = { 'sdk-anthropic': '@anthropic-ai/sdk', 'sdk-openai': 'openai' };
/** Loaded by `berth config`: other commands do without zod. */
const settings = { 'config-settings': 'src/machine/config/settings.ts' };

/** Leaves zod's error texts in fifty languages out: half of its bytes, and a tenth of the start. */
const oneLanguage: Plugin = {
  name: 'one-language',
  setup(build) {
    build.onResolve({ filter: /locales\/index\.js$/ }, ({ path }) => ({ path, namespace: 'one-language' }));
    build.onLoad({ filter: /.*/, namespace: 'one-language' }, () => ({ contents: 'export {};' }));
  },
};

/** What is loaded as a file of its own stays out of a bundle. */
const apart: Plugin = {
  name: 'apart',
  setup(build) {
    // Only the sources import it: a bundle loads the bundle of the daemon.
    build.onResolve({ filter: /^\.\/run\.js$/ }, () => ({ path: './daemon.cjs', external: true }));
    build.onResolve({ filter: /\/tui\/main\.js$/ }, () => ({ path: './tui.cjs', external: true }));
    build.onResolve({ filter: /\/config\/settings\.js$/ }, () => ({ path: './config-settings.cjs', external: true }));
    for (const [file, name] of Object.entries(sdks)) {
      build.onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: `./${file}.cjs`, external: true }));
    }
  },
};

/** Bundles the code. All files lie beside each other, so that `migrations/` is found next to whichever of them reads it. */
async function buildCode(): Promise<void> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const options = {
    absWorkingDir: root,
    outdir: dist,
    bundle: true,
    platform: 'node' as const,
    target: 'node20',
    external: ['better-sqlite3', 'better-sqlite3-napi', '@vscode/ripgrep'],
    minifySyntax: true,
    minifyWhitespace: true,
    minifyIdentifiers: true,
    sourcemap: 'linked' as const,
    sourcesContent: false,
    write: false as const,
    metafile: true as const,
    logLevel: 'warning' as const,
  };
  const outExtension = { '.js': '.cjs' };
  const define = { BERTH_VERSION: JSON.stringify(version) };
  // CommonJS packages inside an ES module still ask for `require`.
  const requireBanner = { js: "import{createRequire as bundleRequire}from'node:module';const require=bundleRequire(import.meta.url);" };
  const results = await Promise.all([
    build({ ...options, entryPoints: { client }, format: 'esm', define, banner: requireBanner }),
    build({ ...options, entryPoints: sdks, format: 'cjs', outExtension }),
    build({ ...options, entryPoints: settings, format: 'cjs', outExtension, plugins: [oneLanguage] }),
    build({
      ...options,
      entryPoints: bundles,
      format: 'cjs',
      outExtension,
      // A script with a code cache cannot import; what lies beside it is required.
      supported: { 'dynamic-import': false },
      define: { ...define, 'import.meta.url': 'bundleUrl' },
      banner: {
        js: "(function(exports,require,module,__filename,loadBundle){const bundleUrl=require('node:url').pathToFileURL(__filename).href;",
      },
      footer: { js: '})' },
      plugins: [oneLanguage, apart],
    }),
  ]);
  const written = results.flatMap(({ outputFiles }) => outputFiles).map(withDigest);
  await mkdir(dist, { recursive: true });
  await Promise.all(written.map(replaceFile));
  const modules = results.flatMap(({ metafile }) => Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs)));
  await writeFile(join(dist, 'THIRD_PARTY_NOTICES.txt'), noticesOf(root, modules));
  const migrations = join(root, 'migrations');
  await rm(join(dist, 'migrations'), { recursive: true, force: true });
  await cp(migrations, join(dist, 'migrations'), { recursive: true, filter: (file) => file === migrations || file.endsWith('.sql') });
  const caches = await cacheCode(written);
  // Last, not first: whoever starts berth during a build finds a whole one.
  const current = new Set([...written.map(({ path }) => path), ...caches]);
  const left = (await readdir(dist)).map((name) => join(dist, name)).filter((file) => /\.(c?js(\.map)?|cache)$/.test(file));
  await Promise.all(left.filter((file) => !current.has(file)).map((file) => rm(file)));
}

/** Returns the files that it wrote. A place where the program cannot run gets a build that starts a little slower. */
async function cacheCode(written: readonly BuiltFile[]): Promise<string[]> {
  const fileOf = (name: string): string => {
    const { path, contents } = written.find((file) => file.path === join(dist, `${name}.cjs`))!;
    const [, digest] = /\/\/(\w+)\n$/.exec(Buffer.from(contents.subarray(-40)).toString())!;
    return path.replace(/\.cjs$/, `-${digest}-${process.versions.v8}.cache`);
  };
  const caches = { cli: fileOf('cli'), daemon: fileOf('daemon'), tui: fileOf('tui') };
  try {
    if (!Object.values(caches).every((file) => existsSync(file))) await writeCodeCaches(caches);
    return Object.values(caches);
  } catch (error) {
    process.stderr.write(`no code cache, so that berth takes longer to start: ${String(error)}\n`);
    return [];
  }
}

interface BuiltFile {
  path: string;
  contents: Uint8Array;
}

/** A bundle ends with the digest of its text, which is part of the name of its code cache. */
function withDigest({ path, contents }: OutputFile): BuiltFile {
  if (!Object.keys(bundles).some((name) => path === join(dist, `${name}.cjs`))) return { path, contents };
  return { path, contents: Buffer.concat([contents, Buffer.from(`//${digestOf(contents)}\n`)]) };
}

function digestOf(contents: Uint8Array): string {
  return createHash('sha256').update(contents).digest('hex').slice(0, 16);
}

/** A daemon holds links to the files that it runs, so they are not written into. */
async function replaceFile({ path, contents }: BuiltFile): Promise<void> {
  await writeFile(`${path}.new`, contents);
  await rename(`${path}.new`, path);
}

async function buildTypes(): Promise<void> {
  const { emitDeclarations } = await import('./declarations.js');
  await rm(join(dist, 'types'), { recursive: true, force: true });
  for (const problem of emitDeclarations(join(dist, 'types'))) {
    process.stderr.write(`${problem}\n`);
    process.exitCode = 1;
  }
}

await buildCode();
if (process.argv.includes('--types')) await buildTypes();

import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type OutputFile, type Plugin } from 'esbuild';
import type { Diagnostic } from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const entryPoints = {
  cli: 'src/cli/main.ts',
  client: 'src/client/index.ts',
  daemon: 'src/daemon/main.ts',
  // Loaded from a copy, so it has a name of its own.
  'daemon-process': 'src/daemon/run.ts',
};

/** Leaves zod's error texts in fifty languages out: half of its bytes, and a tenth of the start. */
const oneLanguage: Plugin = {
  name: 'one-language',
  setup(build) {
    build.onResolve({ filter: /locales\/index\.js$/ }, ({ path }) => ({ path, namespace: 'one-language' }));
    build.onLoad({ filter: /.*/, namespace: 'one-language' }, () => ({ contents: 'export {};' }));
  },
};

/** `berth daemon run` loads the daemon as the file it is. */
const daemonApart: Plugin = {
  name: 'daemon-apart',
  setup(build) {
    build.onResolve({ filter: /\/daemon\/main\.js$/ }, () => ({ path: './daemon.js', external: true }));
  },
};

/** Bundles the code. Chunks lie beside the entries, so that `migrations/` is found next to whichever of them reads it. */
async function buildCode(): Promise<void> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const present = Object.fromEntries(Object.entries(entryPoints).filter(([, file]) => existsSync(join(root, file))));
  const { cli, ...shared } = present;
  const options = {
    absWorkingDir: root,
    outdir: dist,
    bundle: true,
    format: 'esm' as const,
    platform: 'node' as const,
    target: 'node20',
    external: ['better-sqlite3', 'better-sqlite3-napi', '@vscode/ripgrep'],
    define: { BERTH_VERSION: JSON.stringify(version) },
    // CommonJS packages inside an ES module still ask for `require`.
    banner: { js: "import{createRequire as bundleRequire}from'node:module';const require=bundleRequire(import.meta.url);" },
    minifySyntax: true,
    minifyWhitespace: true,
    minifyIdentifiers: true,
    sourcemap: 'linked' as const,
    sourcesContent: false,
    write: false as const,
    logLevel: 'warning' as const,
  };
  const results = await Promise.all([
    build({ ...options, entryPoints: shared, splitting: true, plugins: [oneLanguage] }),
    // One file: each chunk that a command loads costs it a hundredth of its start.
    ...(cli === undefined ? [] : [build({ ...options, entryPoints: { cli }, plugins: [daemonApart] })]),
  ]);
  const written = results.flatMap(({ outputFiles }) => outputFiles);
  await mkdir(dist, { recursive: true });
  await Promise.all(written.map(replaceFile));
  const migrations = join(root, 'migrations');
  await rm(join(dist, 'migrations'), { recursive: true, force: true });
  if (existsSync(migrations)) {
    await cp(migrations, join(dist, 'migrations'), { recursive: true, filter: (file) => file === migrations || file.endsWith('.sql') });
  }
  // Last, not first: whoever starts berth during a build finds a whole one.
  const current = new Set(written.map(({ path }) => path));
  const left = (await readdir(dist)).map((name) => join(dist, name)).filter((file) => /\.js(\.map)?$/.test(file) && !current.has(file));
  await Promise.all(left.map((file) => rm(file)));
}

/** A daemon holds links to the files that it runs, so they are not written into. */
async function replaceFile({ path, contents }: OutputFile): Promise<void> {
  await writeFile(`${path}.new`, contents);
  await rename(`${path}.new`, path);
}

/** Declarations of what the package exports; whether the types are right is the business of `npm run types`. */
async function buildTypes(): Promise<void> {
  const entry = join(root, entryPoints.client);
  if (!existsSync(entry)) return;
  const { default: ts } = await import('typescript');
  const config = ts.getParsedCommandLineOfConfigFile(
    join(root, 'tsconfig.json'),
    { noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: join(root, 'src'), outDir: join(dist, 'types') },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: report },
  );
  await rm(join(dist, 'types'), { recursive: true, force: true });
  const emitted = ts.createProgram([entry], config?.options ?? {}).emit();
  emitted.diagnostics.forEach(report);

  function report(diagnostic: Diagnostic): void {
    process.stderr.write(`${ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n')}\n`);
    process.exitCode = 1;
  }
}

await buildCode();
if (process.argv.includes('--types')) await buildTypes();

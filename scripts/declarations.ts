import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Bundled with the code, so that nobody installs it: its declarations lie beside ours. */
const bundledTypes = 'zod';
const bundledEntry = { module: 'index.cjs', declarations: 'index.d.cts' };
const bundledFile = new RegExp(`/node_modules/${bundledTypes}/(.+)$`);

/**
 * Writes the declarations of what the package exports; they import nothing but each other and Node. Returns what is wrong; whether the types
 * are right is the business of `npm run types`.
 */
export function emitDeclarations(outDir: string): string[] {
  const problems: string[] = [];
  const report = ({ messageText }: ts.Diagnostic): void => void problems.push(ts.flattenDiagnosticMessageText(messageText, '\n'));
  const config = ts.getParsedCommandLineOfConfigFile(
    join(root, 'tsconfig.json'),
    { noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: join(root, 'src'), outDir },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: report },
  );
  const program = ts.createProgram([join(root, 'src/client/index.ts')], config?.options ?? {});
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  program.emit(undefined, (file, text) => write(file, withOwnImports(file, text))).diagnostics.forEach(report);
  const copied = new Set<string>();
  for (const { fileName, text } of program.getSourceFiles()) {
    const [, name] = bundledFile.exec(fileName) ?? [];
    if (name === undefined) continue;
    write(join(outDir, bundledTypes, name), text);
    copied.add(name);
  }
  if (!copied.has(bundledEntry.declarations)) problems.push(`${bundledTypes} has no ${bundledEntry.declarations} any more`);
  return problems;

  function withOwnImports(file: string, text: string): string {
    return ts.preProcessFile(text).importedFiles.reduceRight((rest, { fileName, pos }) => {
      if (fileName.startsWith('.') || fileName.startsWith('node:')) return rest;
      if (fileName !== bundledTypes) problems.push(`${file} imports ${fileName}, which is not installed with berth`);
      const target = relative(dirname(file), join(outDir, bundledTypes, bundledEntry.module));
      const from = text.indexOf(fileName, pos);
      return `${rest.slice(0, from)}${target.startsWith('.') ? target : `./${target}`}${rest.slice(from + fileName.length)}`;
    }, text);
  }
}

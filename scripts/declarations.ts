import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Writes the declarations of what the package exports. Returns what is wrong; whether the types are right is the business of `npm run types`. */
export function emitDeclarations(outDir: string): string[] {
  const problems: string[] = [];
  const report = ({ messageText }: ts.Diagnostic): void => void problems.push(ts.flattenDiagnosticMessageText(messageText, '\n'));
  const config = ts.getParsedCommandLineOfConfigFile(
    join(root, 'tsconfig.json'),
    { noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: join(root, 'src'), outDir },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: report },
  );
  ts.createProgram([join(root, 'src/client/index.ts')], config?.options ?? {})
    .emit()
    .diagnostics.forEach(report);
  return problems;
}

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test, vi } from 'vitest';
import { emitDeclarations } from '../../scripts/declarations.js';

// Long because it compiles all that the package exports.
vi.setConfig({ testTimeout: 180_000 });

const root = fileURLToPath(new URL('../..', import.meta.url));
const example = join(root, 'docs/example-frontend.ts');

test('the example frontend compiles against the declarations of the package', () => {
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  // Below the package, where the declarations find what they import.
  const types = mkdtempSync(join(cache, 'berth-types-'));
  try {
    expect(emitDeclarations(types)).toEqual([]);
    const program = ts.createProgram([example], {
      target: ts.ScriptTarget.ES2023,
      lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      types: ['node'],
      strict: true,
      noEmit: true,
      paths: { berth: [join(types, 'client/index.d.ts')] },
    });
    const read = program.getSourceFiles().map(({ fileName }) => fileName);
    const ours = [example, join(types, 'client/index.d.ts')].flatMap((name) => program.getSourceFile(name) ?? []);
    expect(ours).toHaveLength(2);
    const wrong = ours.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]);
    expect(wrong.map(({ file, messageText }) => `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)).toEqual(
      [],
    );
    expect(read.filter((file) => file.startsWith(join(root, 'src')))).toEqual([]);
    expect(read).toContain(join(types, 'client/index.d.ts'));
  } finally {
    rmSync(types, { recursive: true });
  }
});

import { marks } from '../rows/marks.js';

/** A line of a unified diff. */
export type DiffLine =
  | { readonly kind: 'file' | 'hunk' | 'note'; readonly text: string }
  | { readonly kind: 'context'; readonly text: string; readonly before: number; readonly after: number }
  | { readonly kind: 'removed'; readonly text: string; readonly before: number }
  | { readonly kind: 'added'; readonly text: string; readonly after: number };

const hunkHead = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)$/;

/**
 * The lines of a unified diff with their numbers. What the head of a hunk counts is content, whatever it looks like; lines of `git` that say
 * nothing to a person are left out.
 */
export function readDiff(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let beforeLeft = 0;
  let afterLeft = 0;
  let oldName = '';
  let isBinary = false;
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const sign = line.charAt(0);
    const text = line.slice(1);
    const [, beforeStart, beforeCount, afterStart, afterCount, where = ''] = hunkHead.exec(line) ?? [];
    if (beforeLeft > 0 && sign === '-') {
      lines.push({ kind: 'removed', text, before: before++ });
      beforeLeft--;
    } else if (afterLeft > 0 && sign === '+') {
      lines.push({ kind: 'added', text, after: after++ });
      afterLeft--;
    } else if (beforeLeft > 0 && afterLeft > 0 && (sign === ' ' || line === '')) {
      lines.push({ kind: 'context', text, before: before++, after: after++ });
      beforeLeft--;
      afterLeft--;
    } else if (sign === '\\') lines.push({ kind: 'note', text: line.slice(2) });
    else if (beforeStart !== undefined) {
      before = Number(beforeStart);
      after = Number(afterStart);
      beforeLeft = Number(beforeCount ?? 1);
      afterLeft = Number(afterCount ?? 1);
      isBinary = false;
      lines.push({ kind: 'hunk', text: where === '' ? `line ${after}` : `line ${after}: ${where}` });
    } else if (line.startsWith('diff --git ')) isBinary = false;
    else if (line.startsWith('--- ')) oldName = fileName(line);
    else if (line.startsWith('+++ ')) lines.push({ kind: 'file', text: fileText(oldName, fileName(line)) });
    else if (line.startsWith('GIT binary patch')) {
      isBinary = true;
      lines.push({ kind: 'note', text: 'binary file' });
    } else if (line.startsWith('=====') || line.startsWith('index ') || isBinary) continue;
    else lines.push({ kind: 'note', text: line });
  }
  return lines;
}

function fileName(line: string): string {
  const [name = ''] = line.slice('+++ '.length).split('\t');
  return name.replace(/^[ab]\//, '');
}

function fileText(oldName: string, newName: string): string {
  if (oldName === newName || oldName === '') return newName;
  if (oldName === '/dev/null') return `${newName} (new)`;
  return newName === '/dev/null' ? `${oldName} (deleted)` : `${oldName} ${marks.arrow} ${newName}`;
}

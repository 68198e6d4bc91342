/** A line of the text without its line end. A changed line is another object, so that what was made of a line can be cached by it. */
export interface Line {
  readonly text: string;
}

/** A place in the text, in UTF-16 units of its line. */
export interface Position {
  readonly line: number;
  readonly unit: number;
}

export const startPosition: Position = { line: 0, unit: 0 };

export function samePosition(a: Position, b: Position): boolean {
  return a.line === b.line && a.unit === b.unit;
}

/** The place after a text that begins at a place. */
export function endOf(from: Position, text: string): Position {
  const last = text.lastIndexOf('\n');
  if (last === -1) return { line: from.line, unit: from.unit + text.length };
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++;
  return { line: from.line + lines, unit: text.length - last - 1 };
}

/** The end of lines, of which there is at least one. */
function endOfLines(lines: readonly Line[]): Position {
  return { line: lines.length - 1, unit: lines.at(-1)?.text.length ?? 0 };
}

export function linesOf(text: string): Line[] {
  return text.split('\n').map((line) => ({ text: line }));
}

/** A text as lines: an edit costs what the lines that it touches cost. */
export interface TextBuffer {
  lines(): readonly Line[];
  lineText(line: number): string;
  end(): Position;
  slice(from: Position, to: Position): string;
  /** Returns what was there. */
  replace(from: Position, to: Position, text: string): string;
  /** Makes another object of a line, whose placeholders have changed. */
  touch(line: number): void;
  text(): string;
  /** Another number after each change. */
  revision(): number;
}

export function createTextBuffer(): TextBuffer {
  let lines: Line[] = [{ text: '' }];
  let revision = 0;
  let joined: { revision: number; text: string } | undefined;

  function lineText(line: number): string {
    return lines[line]?.text ?? '';
  }

  function slice(from: Position, to: Position): string {
    if (from.line === to.line) return lineText(from.line).slice(from.unit, to.unit);
    const between = lines.slice(from.line + 1, to.line).map(({ text }) => text);
    return [lineText(from.line).slice(from.unit), ...between, lineText(to.line).slice(0, to.unit)].join('\n');
  }

  return {
    lines: () => lines,
    lineText,
    end: () => endOfLines(lines),
    slice,
    replace(from, to, text) {
      const removed = slice(from, to);
      const changed = linesOf(`${lineText(from.line).slice(0, from.unit)}${text}${lineText(to.line).slice(to.unit)}`);
      const [first] = changed;
      if (from.line === to.line && changed.length === 1 && first) lines[from.line] = first;
      else lines = [...lines.slice(0, from.line), ...changed, ...lines.slice(to.line + 1)];
      revision++;
      return removed;
    },
    touch(line) {
      lines[line] = { text: lineText(line) };
      revision++;
    },
    text() {
      if (joined?.revision !== revision) joined = { revision, text: lines.map(({ text }) => text).join('\n') };
      return joined.text;
    },
    revision: () => revision,
  };
}

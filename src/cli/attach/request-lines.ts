import type { UiRequest } from '../../protocol/requests/requests.js';
import type { CardPart } from '../../view/approval.js';
import { hintOf, isSecret, toCard, type RequestCard } from '../../view/questions.js';
import { shortId } from '../../view/short-ids.js';
import { clipLines, paintDiff, type ClippedLines } from './clipped-lines.js';
import { clipColumns } from '../terminal/columns.js';
import { shortenHome } from '../home-path.js';
import { createStyle, type Style } from '../terminal/style.js';

const layout = {
  titleColumnsMax: 200,
  /** Choices of an approval are truncated: the subject is shown above them. */
  approvalColumnsMax: 100,
} as const;

/** How a request is rendered. */
export interface ShowOptions {
  style?: Style;
  /** Truncates each part; all lines by default. */
  linesMax?: number;
  /** The command that shows the truncated rest. */
  rest?: string;
}

/** Renders a request as lines: the question, what would be done, and the choices. */
export function requestLines(
  request: UiRequest,
  { style = createStyle(false), linesMax = Infinity, rest = '' }: ShowOptions = {},
): string[] {
  const card = toCard(request);
  const parts = card.parts.map((part) => partLines(part, style, linesMax));
  const isWhole = parts.every(({ missing }) => missing === '');
  return [
    linesMax === Infinity ? card.title : clipColumns(card.title, layout.titleColumnsMax),
    ...parts.flatMap(({ lines }) => lines),
    ...(isWhole || rest === '' ? [] : [style.bold(`${rest} shows all of it`)]),
    ...choiceLines(card, linesMax),
    ...(card.preset === '' ? [] : [`(left empty: ${card.preset.replaceAll('\n', ' ')})`]),
  ];
}

interface QuestionOptions extends ShowOptions {
  style: Style;
  /** Nothing can be answered from here. */
  isObserver?: boolean;
}

/** Renders a request with how it is answered where lines are typed. */
export function questionLines(request: UiRequest, { isObserver = false, ...options }: QuestionOptions): string[] {
  const { style } = options;
  const id = shortId(request.request_id);
  const [title = '', ...more] = requestLines(request, options);
  const how = isObserver
    ? `berth answer ${id} answers it`
    : isSecret(request)
      ? `the answer is secret: berth answer ${id} - reads it from standard input; /skip gives no answer`
      : `type ${hintOf(request)}; /skip gives no answer`;
  return [style.bold(`[question] ${title}`), ...more.map((line) => `  ${line}`), style.dim(`  ${how}`)];
}

function partLines(part: CardPart, style: Style, linesMax: number): ClippedLines {
  switch (part.kind) {
    case 'asker': {
      const sessionName = part.title === '' ? shortId(part.sessionId) : `${part.title} (${shortId(part.sessionId)})`;
      const where = part.workspace === '' ? '' : ` in ${shortenHome(part.workspace)}`;
      return whole([`asked by ${sessionName}, ${part.model}${where}`]);
    }
    case 'command': {
      const { lines, missing } = clipLines(part.text, linesMax);
      // Each line has a prefix, so that a command cannot imitate a line of berth.
      const marked = lines.map((line, at) => style.bold(`${at === 0 ? '$' : '|'} ${line}`));
      return { lines: [...marked, ...describeMissing('command', missing, style)], missing };
    }
    case 'diff': {
      const { lines, missing } = clipLines(part.text, linesMax);
      return { lines: [...lines.map((line) => paintDiff(line, style)), ...describeMissing('change', missing, style)], missing };
    }
    case 'arguments':
      // Long arguments, which the diff shows for the most part, are printed only without truncation.
      if (linesMax !== Infinity) return whole([]);
      return whole(
        part.each.flatMap(({ name, text }) => [`all of ${name}:`, ...clipLines(text, Infinity).lines.map((line) => `| ${line}`)]),
      );
    case 'message': {
      const { lines, missing } = clipLines(part.text, linesMax);
      return { lines: missing === '' ? lines : [...lines, `[${missing}]`], missing };
    }
    case 'call':
    case 'reasons':
      return clipLines(part.text, linesMax);
    case 'sandbox':
      return whole([part.isConfined ? `[${part.text}]` : style.red(`[${part.text}]`)]);
  }
}

function describeMissing(what: string, missing: string, style: Style): string[] {
  return missing === '' ? [] : [style.red(`  [this is not the whole ${what}: ${missing}]`)];
}

/** Lines of the choices, without yes and no, which are in the hint. */
function choiceLines({ kind, choices }: RequestCard, linesMax: number): string[] {
  const columnsMax = kind === 'approval' && linesMax !== Infinity ? layout.approvalColumnsMax : Infinity;
  return choices.flatMap(({ key, label, answer }) => {
    if (typeof answer === 'boolean') return [];
    return [answer === undefined ? `${key}) ${label}: ${key} REASON` : `${key}) ${clipColumns(label, columnsMax)}`];
  });
}

function whole(lines: string[]): ClippedLines {
  return { lines, missing: '' };
}

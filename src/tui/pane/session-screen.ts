import type { AttachedSession } from '../../client/attach.js';
import type { SessionView } from '../../view/session-view.js';
import { headerRow, type Connection } from '../dock/header.js';
import { completionRows } from '../dock/completion-rows.js';
import { noticeRows } from '../dock/notice-rows.js';
import { queueRows } from '../dock/queue-rows.js';
import { statusRow, workingRows } from '../dock/status-row.js';
import { welcomeRows } from '../dock/welcome.js';
import { widgetRows } from '../dock/widget-rows.js';
import type { Editor } from '../editor/editor.js';
import { editorRows } from '../editor/editor-rows.js';
import type { Overlay } from '../overlays/overlay.js';
import { emptyRow, row, span, spreadRow, type Row, type Span } from '../rows/row.js';
import type { Cursor, Frame } from '../screen/frame.js';
import type { Reader } from '../transcript/reader.js';
import type { Window } from '../transcript/window.js';
import type { Focus } from '../keys/actions.js';
import type { Answering } from './answering.js';

/** Everything that a frame shows. */
export interface ScreenFacts {
  attached: AttachedSession;
  /** The view that is shown: an older one while the screen is frozen. */
  view: SessionView;
  reader: Reader;
  editor: Editor;
  answering: Answering;
  focus: Focus;
  overlay: Overlay | undefined;
  connection: Connection;
  others: readonly string[];
  ownName: string;
  isObserver: boolean;
  host: string | undefined;
  home: string | undefined;
  notices: readonly { text: string; level: 'info' | 'alarm' }[];
  hints: readonly string[];
  askedElsewhere: number;
  chosenInput: string | undefined;
  runSinceMs: number | undefined;
  nowMs: number;
  tick: number | undefined;
  /** What the line above the editor says, such as that the view is frozen. */
  ruler: string;
  placeholder: string;
}

export interface Laid {
  frame: Frame;
  /** Where the transcript is, for the mouse. */
  window: Window | undefined;
  windowTop: number;
  cardTop: number;
  cardRows: number;
}

const layout = {
  columnsMin: 20,
  rowsMin: 6,
  editorShare: 3,
  cardShare: 2,
  cardRowsMin: 8,
  transcriptRowsMin: 3,
  overlayRowsMin: 4,
  widgetRowsMax: 8,
} as const;

/** The whole screen: exactly `rows` rows. */
export function layScreen(facts: ScreenFacts, columns: number, rows: number): Laid {
  if (columns < layout.columnsMin || rows < layout.rowsMin) return tooSmall(columns, rows);
  const { view, attached, editor, answering, overlay } = facts;
  const header = headerRow(
    { view, host: facts.host, connection: facts.connection, others: facts.others, home: facts.home, isObserver: facts.isObserver },
    columns,
  );
  const status = statusRow({ view, hints: facts.hints, askedElsewhere: facts.askedElsewhere }, columns);
  const notices = noticeRows(facts.notices, columns);
  if (overlay) {
    const said = notices.slice(0, Math.max(0, rows - 2 - layout.overlayRowsMin));
    const height = rows - 2 - said.length;
    const { rows: shown, cursor } = overlay.frame(columns, height);
    const body = [...fill(shown.slice(0, height), height), ...said];
    return {
      frame: { rows: [header, ...body, status], cursor: cursor && down(cursor, 1) },
      window: undefined,
      windowTop: 1,
      cardTop: 0,
      cardRows: 0,
    };
  }
  const written = editorRows(editor, columns, Math.max(1, Math.floor(rows / layout.editorShare)), {
    prompt: facts.focus === 'editor' ? '❯' : '·',
    placeholder: facts.placeholder,
  });
  const working = workingRows(
    { view, sinceMs: facts.runSinceMs, isObserver: facts.isObserver, nowMs: facts.nowMs, tick: facts.tick },
    columns,
  );
  const queue = queueRows(
    {
      inputs: view.state.inputs,
      sent: attached.sent(),
      isPaused: view.state.paused,
      mayResume: !facts.isObserver,
      ownName: facts.ownName,
      chosenId: facts.chosenInput,
    },
    columns,
  );
  const completion = completionRows(editor, columns);
  const fixed = 1 + 1 + 1 + written.rows.length;
  let room = rows - fixed - layout.transcriptRowsMin;
  const give = (wanted: readonly Row[]): readonly Row[] => {
    const given = wanted.slice(0, Math.max(0, room));
    room -= given.length;
    return given;
  };
  const card = give(
    answering.rows(
      columns,
      Math.max(0, Math.min(room, Math.max(layout.cardRowsMin, Math.floor(rows / layout.cardShare)))),
      facts.focus === 'question',
      editor.isEmpty(),
    ),
  );
  const shownNotices = give(notices);
  const shownWorking = give(working);
  const shownQueue = give(queue);
  const widgets = give(widgetRows(view.widgets, columns, layout.widgetRowsMax));
  const candidates = give(completion);
  const dock = [...widgets, ...card, ...shownNotices, ...shownQueue, ...shownWorking, ...candidates];
  const height = Math.max(0, rows - fixed - dock.length);
  const window = facts.reader.window(view, columns, height);
  const isEmpty = window.places.every((place) => place === undefined) && view.state.run === null;
  const ruler = rulerRow(facts, window, columns);
  const editorTop = 1 + height + dock.length + 1;
  const isTyping = facts.focus === 'editor';
  return {
    frame: {
      rows: [
        header,
        ...(isEmpty ? welcomeRows(view, facts.isObserver, columns, height) : window.rows),
        ...dock,
        ruler,
        ...written.rows,
        status,
      ],
      cursor: isTyping ? down(written.cursor, editorTop) : null,
    },
    window,
    windowTop: 1,
    cardTop: 1 + height + widgets.length,
    cardRows: card.length,
  };
}

function rulerRow({ ruler, focus, view }: ScreenFacts, window: Window, columns: number): Row {
  const place = window.atEnd ? '' : ' more below · Alt-> follows ';
  const { messages, pathCount, hasMore } = view;
  const partial = hasMore
    ? ` showing ${count(messages.length)}${pathCount === null ? '' : ` of ${count(pathCount)}`}${window.atTop ? ', scroll up for more' : ''} `
    : '';
  const words: Span[] = [
    span(ruler === '' ? '' : ` ${ruler} `, { tone: 'warn', bold: true }),
    span(partial, 'muted'),
    span(place, 'accent'),
  ];
  const where = focus === 'editor' ? '' : ` ${focus} `;
  const line = spreadRow([span('──', 'border'), ...words], [span(where, 'accent'), span('──', 'border')], columns);
  return {
    spans: line.spans.map((part) =>
      /^ +$/.test(part.text) && part.tone === undefined ? span('─'.repeat(part.text.length), 'border') : part,
    ),
  };
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}

function down({ row: at, column }: Cursor, by: number): Cursor {
  return { row: at + by, column };
}

function fill(rows: readonly Row[], height: number): Row[] {
  return [...rows, ...Array.from({ length: Math.max(0, height - rows.length) }, () => emptyRow)];
}

function tooSmall(columns: number, rows: number): Laid {
  const text = `too small: ${columns}×${rows}, at least ${layout.columnsMin}×${layout.rowsMin}`;
  return { frame: { rows: fill([row(span(text, 'warn'))], rows), cursor: null }, window: undefined, windowTop: 0, cardTop: 0, cardRows: 0 };
}

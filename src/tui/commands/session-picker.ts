import type { SessionListRow } from '../../protocol/views.js';
import { listSessions } from '../../client/resolve.js';
import { limits } from '../../protocol/limits.js';
import { formatAge } from '../../view/durations.js';
import { printableLine } from '../../view/printable.js';
import { describeActivity, sessionTitle } from '../../view/session-list.js';
import { shortId } from '../../view/short-ids.js';
import { attempt } from '../app/context.js';
import { accepted } from '../app/refusals.js';
import type { PaneParts } from '../pane/session-pane.js';
import { shortenPath } from '../dock/header.js';
import { createPicker, type PickerItem, type PickerOptions } from '../overlays/picker.js';
import { createTextPrompt } from '../overlays/text-prompt.js';
import { row, span, type Row, type Tone } from '../rows/row.js';
import { wrapSpans } from '../rows/wrap.js';

/** Text search waits until typing pauses. */
const tuning = { searchPauseMs: 200 } as const;
const layout = { previewMessages: 6, previewUnits: 600 } as const;

interface Listed {
  session: SessionListRow;
  /** The oldest of its open questions, whose ids are ordered by time; undefined without one. */
  oldestRequest: string | undefined;
}

async function listAll({ context: { berth } }: PaneParts): Promise<Listed[]> {
  const [sessions, { requests }] = await Promise.all([
    listSessions(berth, {}),
    berth.call('list_ui_requests', {}).then(accepted<'list_ui_requests'>),
  ]);
  const asked = new Map<string, string>();
  for (const { session_id, request_id } of requests) {
    const before = asked.get(session_id);
    if (before === undefined || request_id < before) asked.set(session_id, request_id);
  }
  return sessions.map((session) => ({ session, oldestRequest: asked.get(session.session_id) }));
}

/** Asking first, then running, failed, and the others by age. */
function urgency({ session, oldestRequest }: Listed): number {
  if (oldestRequest !== undefined) return 0;
  if (session.run_state !== 'idle') return 1;
  return session.last_outcome === 'failed' || session.last_outcome === 'interrupted' ? 2 : 3;
}

const tones: readonly (Tone | undefined)[] = ['warn', 'accent', 'bad', undefined];

/**
 * Sessions with what they are doing: this directory's or all, filtered by title, and by what was said in them through the daemon's full-text
 * index. Those that ask come first.
 */
export function openSessions(parts: PaneParts): void {
  const { context, attached } = parts;
  const { cwd } = parts.view().state;
  let listed: Listed[] = [];
  let found = new Map<string, string>();
  let isHere = false;
  let timer: NodeJS.Timeout | undefined;
  const previews = new Map<string, readonly string[]>();

  function load(): void {
    attempt(context, 'sessions could not be listed', async () => {
      listed = (await listAll(parts)).sort((a, b) => urgency(a) - urgency(b));
      context.invalidate();
    });
  }

  function toItem(one: Listed): PickerItem {
    const { session, oldestRequest } = one;
    const { session_id: id } = session;
    const tone = tones[urgency(one)];
    const age = formatAge(Date.now() - Date.parse(session.updated_at));
    const hit = found.get(id);
    const here = id === attached.sessionId ? '● ' : '';
    return {
      id,
      label: `${here}${printableLine(sessionTitle(session)) || shortId(id)}${hit === undefined ? '' : `  “${printableLine(hit)}”`}`,
      detail: `${describeActivity(session, oldestRequest !== undefined)} · ${age} · ${shortenPath(printableLine(session.cwd), context.env.HOME)}`,
      keywords: id,
      ...(tone === undefined ? {} : { tone }),
      ...(hit === undefined ? {} : { isPinned: true }),
    };
  }

  function searchTexts(query: string): void {
    clearTimeout(timer);
    found = new Map();
    if (query.trim() === '') return;
    timer = setTimeout(() => {
      attempt(context, 'not searched', async () => {
        const { messages } = accepted(await context.berth.call('search_messages', { query: query.trim(), limit: limits.pageRowsDefault }));
        found = new Map(messages.toReversed().map(({ session_id, snippet }) => [session_id, snippet]));
        context.invalidate();
      });
    }, tuning.searchPauseMs);
  }

  function preview({ id }: PickerItem, columns: number, rows: number): readonly Row[] {
    const texts = previews.get(id);
    if (!texts) {
      previews.set(id, []);
      attempt(context, 'no preview', async () => {
        const { messages } = accepted(await context.berth.call('get_messages', { session_id: id, limit: layout.previewMessages }));
        const lines = messages
          .filter(({ role, text }) => (role === 'user' || role === 'assistant') && text.trim() !== '')
          .map(({ role, text }) => `${role === 'user' ? '❯ ' : ''}${text.trim().slice(0, layout.previewUnits)}`);
        previews.set(id, lines);
        context.invalidate();
      });
    }
    const laid = (texts ?? []).flatMap((text) => [...wrapSpans([span(text, text.startsWith('❯') ? 'user' : 'plain')], columns), row()]);
    return laid.slice(-rows);
  }

  function change(what: string, { id }: PickerItem, act: (session_id: string) => Promise<unknown>): void {
    attempt(context, what, async () => {
      await act(id);
      load();
    });
  }

  const changes = [
    {
      key: 'ctrl+r',
      label: 'rename',
      run(item) {
        context.open(
          createTextPrompt({
            title: 'Rename the session',
            initial: listed.find(({ session }) => session.session_id === item.id)?.session.title ?? '',
            onSubmit(title) {
              context.closeOverlay();
              change('not renamed', item, async (session_id) =>
                accepted(await context.berth.call('update_session', { session_id, title })),
              );
            },
          }),
        );
      },
    },
    {
      key: 'ctrl+x',
      label: 'archive',
      run: (item) =>
        change('not archived', item, async (session_id) => accepted(await context.berth.call('archive_session', { session_id }))),
    },
  ] satisfies PickerOptions['keys'];

  load();
  context.open(
    createPicker({
      get title() {
        return isHere ? 'Sessions of this directory' : 'Sessions';
      },
      items: () => listed.filter(({ session }) => !isHere || session.cwd === cwd).map(toItem),
      empty: 'no session matches',
      onFilter: searchTexts,
      preview,
      onPick({ id }) {
        context.closeOverlay();
        if (id !== attached.sessionId) context.goTo(id);
      },
      onClosed: () => clearTimeout(timer),
      keys: [
        {
          key: 'tab',
          label: 'this directory or all',
          run() {
            isHere = !isHere;
            context.invalidate();
          },
        },
        ...(context.isObserver ? [] : changes),
      ],
    }),
  );
}

/** Goes to the session whose question has waited the longest. */
export function goToAsking(parts: PaneParts): void {
  const { context, attached } = parts;
  attempt(context, 'sessions could not be listed', async () => {
    const asking = (await listAll(parts)).filter(
      ({ oldestRequest, session }) => oldestRequest !== undefined && session.session_id !== attached.sessionId,
    );
    const [oldest] = asking.sort((a, b) => ((a.oldestRequest ?? '') < (b.oldestRequest ?? '') ? -1 : 1));
    if (oldest) context.goTo(oldest.session.session_id);
    else context.notice('no other session waits for you');
  });
}

import { formatDuration } from '../../view/durations.js';
import { printableLine } from '../../view/printable.js';
import { describeEnding } from '../../view/run-outcome.js';
import { usageText } from '../../view/usage-text.js';
import { attempt } from '../app/context.js';
import { accepted } from '../app/refusals.js';
import type { PaneParts } from '../pane/session-pane.js';
import { createViewer } from '../overlays/viewer.js';
import { row, span, type Row } from '../rows/row.js';
import { wrapSpans } from '../rows/wrap.js';

function show({ context }: PaneParts, title: string, lines: readonly string[]): void {
  const rows = (columns: number): Row[] => lines.flatMap((line) => wrapSpans([span(printableLine(line))], columns));
  context.open(createViewer({ title, rows, close: context.closeOverlay }));
}

/** Runs, tokens and cost. */
export function showStats(parts: PaneParts): void {
  const { context, attached } = parts;
  attempt(context, 'no figures', async () => {
    const { runs, has_more } = accepted(await context.berth.call('list_runs', { session_id: attached.sessionId }));
    const { state, pathCount } = attached.view();
    const perRun = runs.map(({ started_at, ended_at, outcome, error, turns, usage }) => {
      const took = ended_at === null ? 'running' : formatDuration(Date.parse(ended_at) - Date.parse(started_at));
      const ending = outcome === null ? '' : `, ${describeEnding({ outcome, error }).text}`;
      return `${new Date(started_at).toLocaleString()}  ${took}, ${turns} ${turns === 1 ? 'turn' : 'turns'}${ending}${usage ? `, ${usageText(usage)}` : ''}`;
    });
    show(parts, 'Figures', [
      `messages: ${pathCount ?? 'not known'}`,
      `tokens: ${state.usage ? usageText(state.usage) : 'none yet'}`,
      '',
      `runs, newest first${has_more ? ' (there are older ones)' : ''}:`,
      ...perRun,
    ]);
  });
}

/** How full the context window is. */
export function showContext(parts: PaneParts): void {
  const { model, contextLeftPercent, usage, compaction } = parts.attached.view().state;
  show(parts, 'Context', [
    `model: ${model}`,
    contextLeftPercent === null
      ? 'how much of the context window is left is not known yet'
      : `${contextLeftPercent} % of the context window is left`,
    usage ? `all requests of this session: ${usageText(usage)}` : 'no tokens were used yet',
    compaction ? 'old messages are being summarised' : '/compact summarises old messages for the model; nothing is deleted',
  ]);
}

/** Who is connected, and to which session. */
export function showClients(parts: PaneParts): void {
  const { context, attached } = parts;
  attempt(context, 'clients could not be listed', async () => {
    const { clients } = accepted(await context.berth.call('list_clients', {}));
    const own = context.berth.hello().client_id;
    const rows = clients.map(({ client_id, name, kind, role, session_id }) => {
      const where = session_id === '' ? 'no session' : session_id === attached.sessionId ? 'this session' : session_id;
      return row(
        span(client_id === own ? '● ' : '  ', 'accent'),
        span(printableLine(name)),
        span(`  ${printableLine(kind)}, ${role === 'observer' ? 'only watches' : 'may send'}, ${where}`, 'muted'),
      );
    });
    context.open(createViewer({ title: 'Clients', rows: () => rows, close: context.closeOverlay }));
  });
}

// A whole frontend: run it with the name of a session, such as `npx tsx docs/example-frontend.ts .`
import { createInterface } from 'node:readline';
import {
  connect,
  describeRefusal,
  messageParts,
  openCalls,
  readAnswer,
  resolveSession,
  toCard,
  type Heard,
  type Message,
  type SentInput,
  type SessionView,
  type UiRequest,
} from 'berth';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const marks = { kept: '◌', committed: '✓', held: '⏸', taken: '✓✓', returned: '↩' };

const berth = await connect({ client: { name: 'example', kind: 'example' }, uiCapabilities: ['select', 'confirm', 'input', 'editor'] });
const sessionId = await resolveSession(berth, process.argv[2] ?? '.', process.cwd());
const session = await berth.attach(sessionId, { onDelivered: showSent, onNotice: say });
const answered = new Set<string>();

function showMessage(message: Message): void {
  for (const part of messageParts(message)) {
    if (part.kind === 'tool_call') say(`${message.role}: calls ${part.headline}`);
    else if ('text' in part) say(`${message.role}: ${part.text}`);
    else say(`${message.role}: ${part.name} was skipped: ${part.reason}`);
  }
}

function showAll({ messages, pathCount, hasMore }: SessionView): void {
  say(`showing ${messages.length} of ${pathCount ?? 'many'}${hasMore ? ', /older for more' : ''}`);
  for (const message of messages) showMessage(message);
}

/** What runs, what waits for its turn, and what waits for a person. */
function showOpen(view: SessionView): void {
  for (const { headline, state } of openCalls(view)) say(`call ${state}: ${headline}`);
  const [request] = openRequests();
  if (request) showRequest(request);
}

function showRequest(request: UiRequest): void {
  const { title, choices, hint } = toCard(request);
  say(`question: ${title}`);
  for (const { key, label } of choices) say(`  ${key}) ${label}`);
  say(`  type ${hint}`);
}

/** A text that was sent, with what is known of it. */
function showSent({ state, text, refusal, inputId }: SentInput): void {
  say(`${marks[state]} ${text}${refusal ? ` (${describeRefusal(refusal)})` : ''}`);
  if (state === 'returned') session.dismiss(inputId);
}

function openRequests(): UiRequest[] {
  return session.view().state.requests.filter(({ request_id }) => !answered.has(request_id));
}

async function answer(request: UiRequest, line: string): Promise<void> {
  const read = readAnswer(request, line);
  if (!read.ok) return say(`type ${read.hint}`);
  const reply = await berth.call('ui_response', { request_id: request.request_id, result: read.result });
  if (reply.ok) answered.add(request.request_id);
  else say(describeRefusal(reply.error));
}

async function obey(line: string): Promise<void> {
  const [request] = openRequests();
  if (line === '/quit') return session.close();
  if (line === '/older') {
    const { added, full } = await session.loadOlder();
    showAll(session.view());
    return say(`loaded ${added}${full ? '; the view is full' : ''}`);
  }
  if (request) return answer(request, line);
  showSent(await session.send('prompt', { text: line, if_busy: 'steer' }));
}

function hear(heard: Heard): void {
  if (heard.kind === 'reset') showAll(session.view());
  if (heard.kind !== 'event') return say(`[${heard.kind}]`);
  const { event } = heard;
  if (event.type === 'message_end' && event.payload.message) showMessage(event.payload.message);
  if (event.type === 'ui_request') showOpen(session.view());
  if (event.type === 'ui_resolved') say(`question: ${event.payload.outcome} by ${event.payload.by}`);
  if (event.type === 'agent_end') say(`run: ${event.payload.outcome}`);
}

showAll(session.view());
showOpen(session.view());
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => void obey(line).catch((error: unknown) => say(`failed: ${String(error)}`)));
for await (const heard of session) hear(heard);
lines.close();
berth.close();

import type { CommandInput, CommandType, ReplyPayload } from '../protocol/commands/commands.js';
import { textOf } from '../protocol/content.js';
import type { ContentBlock, Message } from '../protocol/messages.js';
import { createExportWriter, hasBranches, type ExportFormat } from '../view/export/export-format.js';
import type { CallPayload } from './command-client.js';

/** Asks the daemon; throws when it refuses. */
export type Ask = <T extends CommandType>(type: T, payload: CommandInput<T>) => Promise<CallPayload<T>>;

interface ExportOrder {
  sessionId: string;
  format: ExportFormat;
  /** Takes the text piece by piece. */
  write(text: string): void;
}

/** Exports a session page by page, as it was when this was asked; returns how many messages it has. */
export async function exportSession(ask: Ask, { sessionId: session_id, format, write }: ExportOrder): Promise<number> {
  const { parent_id, title, cwd, model, thinking, approval_mode, leaf_id, usage } = await ask('get_state', { session_id });
  const writer = createExportWriter(format);
  let count = 0;
  write(writer.begin({ session_id, parent_id, title, cwd, model, thinking, approval_mode, leaf_id, usage }));
  for await (const message of readMessages(ask, session_id, { leafId: leaf_id, isWhole: hasBranches(format) })) {
    count += 1;
    write(writer.add(message));
  }
  write(writer.end());
  return count;
}

interface Reach {
  leafId: string | null;
  /** All branches, or only the path to the leaf. */
  isWhole: boolean;
}

/** The messages of a session, whole: first the path to its leaf, then what the other branches have beside it; parents before children. */
async function* readMessages(ask: Ask, sessionId: string, { leafId, isWhole }: Reach): AsyncGenerator<Message> {
  const parents = await readTree(ask, sessionId);
  const isParent = new Set(parents.values());
  const tips = isWhole ? [...parents.keys()].filter((id) => !isParent.has(id) && id !== leafId) : [];
  const read = new Set<string>();
  for (const tip of leafId === null ? tips : [leafId, ...tips]) {
    let first = tip;
    let known = parents.get(tip) ?? null;
    while (known !== null && !read.has(known)) [first, known] = [known, parents.get(known) ?? null];
    for await (const message of known === null ? readPath(ask, sessionId, first, tip) : readAfter(ask, sessionId, known, tip)) {
      read.add(message.id);
      yield message;
    }
  }
}

/** Every message with its parent, oldest first. */
async function readTree(ask: Ask, session_id: string): Promise<Map<string, string | null>> {
  const pages: ReplyPayload<'get_tree'>['nodes'][] = [];
  for (let before: string | undefined; ;) {
    const { nodes, has_more } = await ask('get_tree', { session_id, ...(before === undefined ? {} : { before }) });
    const oldest = nodes[0]?.id;
    if (oldest === undefined) break;
    if (oldest === before || oldest === pages.at(-1)?.[0]?.id) {
      throw new Error('this session is too large for the daemon that runs; berth daemon restart starts the installed version');
    }
    pages.push(nodes);
    if (!has_more) break;
    before = oldest;
  }
  return new Map(pages.reverse().flatMap((nodes) => nodes.map(({ id, parent_id }) => [id, parent_id] as const)));
}

async function* readPath(ask: Ask, session_id: string, rootId: string, leaf_id: string): AsyncGenerator<Message> {
  const { messages } = await ask('get_messages', { session_id, leaf_id: rootId, limit: 1 });
  for (const message of messages) yield await wholeMessage(ask, message);
  if (rootId !== leaf_id) yield* readAfter(ask, session_id, rootId, leaf_id);
}

async function* readAfter(ask: Ask, session_id: string, afterId: string, leaf_id: string): AsyncGenerator<Message> {
  for (let after = afterId; ;) {
    const { messages, has_more } = await ask('get_messages', { session_id, leaf_id, after });
    for (const message of messages) yield await wholeMessage(ask, message);
    const last = messages.at(-1)?.id;
    if (!has_more || last === undefined) return;
    after = last;
  }
}

/** A message with all of its content, also when it was too long for a line. */
export async function wholeMessage(ask: Ask, message: Message): Promise<Message> {
  if (!message.truncated || message.artifact_id === undefined) return message;
  const pieces: string[] = [];
  let mimeType: string;
  for (let offset = 0; ;) {
    const piece = await ask('get_artifact', { artifact_id: message.artifact_id, offset, content: true });
    pieces.push(piece.data);
    ({ mime_type: mimeType } = piece);
    if (!piece.has_more || piece.next_offset <= offset) break;
    offset = piece.next_offset;
  }
  const { truncated: _cut, artifact_id: _artifact, ...rest } = message;
  const whole = pieces.join('');
  // An older daemon has the text alone.
  const others = message.content.filter(({ type }) => type !== 'text');
  const content =
    mimeType === 'application/json' ? (JSON.parse(whole) as ContentBlock[]) : [...others, { type: 'text' as const, text: whole }];
  return { ...rest, text: textOf(content), content };
}

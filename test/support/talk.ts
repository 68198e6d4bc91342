import type { TestDaemon } from './daemon.js';
import type { RawClient, RawLine } from './raw-client.js';

type Fields = Record<string, unknown>;

/** A conversation with one session of a real daemon: commands on one connection, its events on another. */
export interface Talk {
  readonly session: string;
  readonly commands: RawClient;
  readonly events: RawClient;
  /** The payload of the reply; throws when it was refused. */
  ok(type: string, payload?: Fields): Promise<Fields & { run_id: string; input_id: string }>;
  /** The word or code it was refused with; throws when it was accepted. */
  refused(type: string, payload?: Fields): Promise<string>;
  prompt(text: string, payload?: Fields): Promise<string>;
  /** The first event, past or to come, that fits. */
  until(fits: (event: RawLine) => boolean): Promise<RawLine>;
  /** What a run came to. */
  ended(runId: string): Promise<string>;
  /** Prompts and waits for the end: what the run came to. */
  run(text: string): Promise<string>;
  /** The types of durable events so far, those of one run when it is named. */
  told(runId?: string): string[];
  state(): Promise<Fields & { run_state: string; queue: { inputs: Fields[]; paused: boolean } }>;
  /** The path to the leaf. */
  messages(): Promise<(Fields & { id: string; role: string; text: string })[]>;
  texts(role?: string): Promise<string[]>;
}

function payloadOf(line: RawLine): Fields & { run_id: string; input_id: string } {
  if (!line.ok) throw new Error(`refused: ${line.error?.code} ${line.error?.message} ${line.error?.cause ?? ''}`);
  return line.payload as Fields & { run_id: string; input_id: string };
}

function refusalWord(line: RawLine): string {
  if (line.ok || !line.error) throw new Error(`accepted: ${JSON.stringify(line.payload)}`);
  return line.error.code === 'command_rejected' ? line.error.message : line.error.code;
}

/** Opens a conversation with a new session, or goes on with one. */
export async function openTalk(daemon: TestDaemon, known?: string, settings: Fields = {}): Promise<Talk> {
  const commands = await daemon.raw();
  const session = known ?? String(payloadOf(await commands.call('new_session')).session_id);
  if (Object.keys(settings).length > 0) payloadOf(await commands.call('update_session', { session_id: session, ...settings }));
  const events = await daemon.rawEvents();
  events.send({ id: 'sub', type: 'subscribe', payload: { session_id: session, after: 0 } });
  await events.until((line) => line.id === 'sub');

  const call = (type: string, payload: Fields = {}): Promise<RawLine> => commands.call(type, { session_id: session, ...payload });
  const isEvent = (line: RawLine): boolean => line.ok === undefined;
  const talk: Talk = {
    session,
    commands,
    events,
    ok: async (type, payload) => payloadOf(await call(type, payload)),
    refused: async (type, payload) => refusalWord(await call(type, payload)),
    prompt: async (text, payload) => (await talk.ok('prompt', { text, wait: false, ...payload })).run_id,
    until: (fits) => events.until((line) => isEvent(line) && fits(line)),
    async ended(runId) {
      const end = await talk.until((event) => event.type === 'agent_end' && event.payload.run_id === runId);
      return String(end.payload.outcome);
    },
    run: async (text) => talk.ended(await talk.prompt(text)),
    told: (runId) =>
      events.lines
        .filter((line) => isEvent(line) && line.seq !== undefined && (runId === undefined || line.payload.run_id === runId))
        .map((line) => line.type),
    state: async () => (await talk.ok('get_state')) as unknown as Awaited<ReturnType<Talk['state']>>,
    messages: async () => (await talk.ok('get_messages')).messages as Awaited<ReturnType<Talk['messages']>>,
    texts: async (role) => (await talk.messages()).filter((message) => role === undefined || message.role === role).map(({ text }) => text),
  };
  return talk;
}

import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  AttachRefused,
  ConnectionLost,
  createUnixTransport,
  openCalls,
  resolveSession,
  SessionUnclear,
  type Berth,
  type StreamKind,
  type Transport,
} from '../../src/client/index.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { shareDaemon } from '../support/shared-daemon.js';

const shared = shareDaemon({ config: { sandbox: { enabled: false } } });

async function newSession(berth: Berth, fields: { title?: string; cwd?: string } = {}): Promise<string> {
  const made = await berth.call('new_session', fields);
  if (!made.ok) throw new Error(made.error.message);
  return made.payload.session_id;
}

/** The sockets of a daemon, but the stream of commands breaks once, right after a line of this type was sent. */
function breakingAfter(daemon: TestDaemon, type: string): Transport & { breaks: number } {
  const unix = createUnixTransport(daemon.paths);
  const transport = {
    name: unix.name,
    breaks: 0,
    async open(kind: StreamKind) {
      const stream = await unix.open(kind);
      if (kind === 'events') return stream;
      const { write } = stream;
      stream.write = ((chunk: string) => {
        const written = write.call(stream, chunk, 'utf8');
        if (transport.breaks === 0 && chunk.includes(`"type":"${type}"`)) {
          transport.breaks++;
          // The line is on its way before the stream is gone.
          setImmediate(() => stream.destroy());
        }
        return written;
      }) as typeof write;
      return stream;
    },
  };
  return transport;
}

test('a command that changes nothing is sent again after a lost connection', async () => {
  const transport = breakingAfter(shared(), 'list_sessions');
  const berth = await shared().connect({ transport });
  expect(await berth.call('list_sessions', {})).toMatchObject({ ok: true });
  expect(transport.breaks).toBe(1);
});

test('an input is sent again with the same id, and takes effect once', async () => {
  const transport = breakingAfter(shared(), 'prompt');
  const berth = await shared().connect({ transport });
  const session_id = await newSession(berth);
  const reply = await berth.call('prompt', { session_id, text: 'say once' });
  expect(reply).toMatchObject({ ok: true });
  expect(transport.breaks).toBe(1);
  const read = await berth.call('get_messages', { session_id });
  expect(read.ok && read.payload.messages.map(({ text }) => text)).toEqual(['say once', 'once']);
});

test('a command that changes something is not sent again: whoever sent it is told that nobody knows', async () => {
  const transport = breakingAfter(shared(), 'new_session');
  const berth = await shared().connect({ transport });
  await expect(berth.call('new_session', { title: 'perhaps' })).rejects.toThrow(ConnectionLost);
  // The next call connects again.
  const listed = await berth.call('list_sessions', { query: 'perhaps' });
  expect(listed.ok && listed.payload.sessions.length).toBeLessThanOrEqual(1);
});

test('a client that was closed says so, and one call at a time connects', async () => {
  const berth = await shared().connect();
  const replies = await Promise.all(Array.from({ length: 20 }, () => berth.call('ping')));
  expect(replies.every(({ ok }) => ok)).toBe(true);
  berth.close();
  await expect(berth.call('ping')).rejects.toThrow(new ConnectionLost('this client was closed'));
});

test('a call waits for a daemon that is being restarted', async () => {
  await using daemon = await startDaemon();
  const berth = await daemon.connect();
  const before = berth.hello().client_id;
  await daemon.terminate();
  const asked = berth.call('list_sessions', {});
  await delay(0);
  await daemon.start();
  expect(await asked).toMatchObject({ ok: true });
  expect(berth.hello().client_id).not.toBe(before);
});

test('a session is found by a prefix of its id, with or without its first letters, by its title and by its directory', async () => {
  const berth = await shared().connect();
  const { workdir } = shared();
  const [one, two] = [await newSession(berth, { title: 'harbour' }), await newSession(berth, { title: 'twin' })];
  const three = await newSession(berth, { title: 'twin', cwd: workdir });
  expect(await resolveSession(berth, 'harbour', workdir)).toBe(one);
  expect(await resolveSession(berth, two, workdir)).toBe(two);
  expect(await resolveSession(berth, two.slice(4), workdir)).toBe(two);
  expect(await resolveSession(berth, '.', workdir)).toBe(three);
  await berth.call('archive_session', { session_id: one });
  expect(await resolveSession(berth, 'harbour', workdir)).toBe(one);
  await expect(resolveSession(berth, 'twin', workdir)).rejects.toThrow(/^twin could be 2 sessions: ses_/);
  await expect(resolveSession(berth, 'nobody', workdir)).rejects.toThrow(new SessionUnclear('there is no session nobody; see berth ls'));
  await expect(resolveSession(berth, '.', '/nowhere')).rejects.toThrow(SessionUnclear);
});

test('who attaches to a session that is not there is refused', async () => {
  const berth = await shared().connect();
  await expect(berth.attach('ses_none')).rejects.toThrow(AttachRefused);
});

test('who attaches in mid-answer has what was said so far, and then the rest', async () => {
  await using daemon = await startDaemon({ wps: 500 });
  const berth = await daemon.connect();
  const session_id = await newSession(berth);
  const first = await berth.attach(session_id);
  await berth.call('prompt', { session_id, text: 'stream 1000 words', wait: false });
  for await (const _heard of first) if ((first.view().open[0]?.blocks[0]?.text.length ?? 0) > 300) break;
  const second = await berth.attach(session_id);
  expect(second.view().state.run).toMatchObject({ turns: 1, turn: { kind: 'prompt' } });
  for await (const _heard of second) if (second.view().state.run === null) break;
  const said = second.view().messages.at(-1)?.text ?? '';
  expect(said.split(' ')).toHaveLength(1000);
});

test('who attaches in mid-approval sees the call and the request, answers it, and hears of the answer', async () => {
  const berth = await shared().connect({ uiCapabilities: ['select'] });
  const session_id = await newSession(berth, { cwd: shared().workdir });
  const watching = await berth.attach(session_id);
  await berth.call('prompt', { session_id, text: 'write ahoy to notes.txt', wait: false });
  for await (const _heard of watching) if (watching.view().state.requests.length > 0) break;
  const attached = await berth.attach(session_id);
  const [request] = attached.view().state.requests;
  expect(openCalls(attached.view())).toMatchObject([{ name: 'write', state: 'asking', requestId: request?.request_id }]);
  expect(request).toMatchObject({ params: { kind: 'approval', tool_name: 'write' } });
  await berth.call('ui_response', { request_id: request?.request_id ?? '', result: 'allow_once' });
  const heard: string[] = [];
  for await (const item of attached) {
    if (item.kind === 'event') heard.push(item.event.type);
    if (attached.view().state.run === null) break;
  }
  expect(heard).toEqual(expect.arrayContaining(['ui_resolved', 'tool_execution_start', 'tool_execution_end', 'agent_end']));
  expect([attached.view().state.requests, openCalls(attached.view())]).toEqual([[], []]);
});

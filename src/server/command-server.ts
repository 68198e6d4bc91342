import type { Socket } from 'node:net';
import { commands, type CommandType } from '../protocol/commands/commands.js';
import type { CommandRow } from '../protocol/commands/command-shapes.js';
import { commandEnvelope, supportedVersions } from '../protocol/envelope.js';
import { refusal, type Refusal } from '../protocol/errors.js';
import { limits } from '../protocol/limits.js';
import type { DecodedLine } from '../protocol/ndjson.js';
import type { Client, Clients } from './clients.js';
import { openConnection, type Connection } from './connection.js';
import { EncodedPayload, type Answer, type Handlers, type Later } from './handler.js';
import type { FairQueue } from './budgets/fair-queue.js';
import type { LineRoom } from './budgets/line-room.js';
import { toPayloadRefusal } from './payload.js';
import type { UnreadReplies } from './budgets/unread-replies.js';

interface Deps {
  handlers: Handlers;
  clients: Clients;
  newClientId(): string;
  seq(): number;
  /** Loads the lazy modules that a command needs; the connection's next commands wait. Undefined when all are loaded. */
  prepareFor(type: CommandType): Promise<void> | undefined;
  onBug(error: unknown): never;
  lineRoom: LineRoom;
  fairQueue: FairQueue;
  unreadReplies: UnreadReplies;
}

const observerCommands = new Set<string>(Object.entries(commands).flatMap(([type, row]) => (row.role === 'observer' ? [type] : [])));
const newline = 10;
const tuning = { longAnswerUnits: 64 * 1024 } as const;
/** Commands with short replies, which are exempt from the budget of unread replies. */
const shortReplies = new Set<string>(['ping', 'hello', 'detach', 'drain', 'shutdown']);

/** Reads commands and sends one reply to each: in order, but for deferred replies. */
export function createCommandServer({ handlers, clients, newClientId, seq, prepareFor, onBug, lineRoom, fairQueue, unreadReplies }: Deps) {
  const connections = new Set<Connection>();

  function accept(socket: Socket): void {
    const client = clients.add(newClientId());
    let waiting = 0;
    let peerEnded = false;
    /** Backpressure: replies that are built once the peer reads and the budget of unread replies has room. */
    let queued: { isShort: boolean; send(): void }[] = [];

    const connection = openConnection(
      socket,
      { lineRoom, fairQueue },
      {
        onLine: (line) => answerLine(line),
        onUnfinished: (why) => closeWith(unfinishedLine(why)),
        onDrain() {
          replies.owes(connection.unreadBytes());
          proceed();
        },
        onEnd() {
          peerEnded = true;
          closeWhenAnswered();
        },
        onClose() {
          connections.delete(connection);
          clients.remove(client);
          replies.leave();
        },
      },
    );
    const replies = unreadReplies.join({ onRoom: proceed, onStalled: () => void socket.destroy() });
    connections.add(connection);

    /** A half-closed connection stays open until its replies are sent. */
    function closeWhenAnswered(): void {
      if (peerEnded && waiting === 0) connection.close();
    }

    function send(id: string, answer: Answer): void {
      connection.write(encodeAnswer(id, answer, seq()));
      replies.owes(connection.unreadBytes());
    }

    /** Refuses a line that was not read to its end: its command id is unknown, so the reply has none. */
    function closeWith(why: Refusal): void {
      connection.close(encodeAnswer('', { ok: false, refusal: why }, seq()));
    }

    function answerLine(line: DecodedLine): void | Promise<void> {
      if (line.kind === 'too_long') {
        const why = refusal('invalid_command', `the line is longer than ${limits.lineBytesMax} bytes; send a shorter command`, {
          line_bytes_max: limits.lineBytesMax,
        });
        return closeWith(why);
      }
      const read = readCommand(line);
      if ('refusal' in read) return send(read.id, { ok: false, refusal: read.refusal });
      const preparing = prepareFor(read.type);
      return preparing ? preparing.then(() => answerInRoom(read), onBug) : answerInRoom(read);
    }

    /** Backpressure for commands that only read; a command that writes is handled and acknowledged at once. */
    function answerInRoom(read: ReadCommand): void | Promise<void> {
      if (!observerCommands.has(read.type) || shortReplies.has(read.type) || replies.hasRoom()) return answerCommand(read);
      return new Promise((resolve) => {
        const answerNow = (): void => {
          answerCommand(read);
          resolve();
        };
        queued.push({ isShort: false, send: answerNow });
      });
    }

    function answerCommand(read: ReadCommand): void {
      const mayWait = commands[read.type].waits === true && read.payload.wait !== false;
      if (mayWait && waiting >= limits.pipelinedWaitingMax) {
        const why = refusal(
          'overloaded',
          `${limits.pipelinedWaitingMax} commands of this connection wait for their replies already; wait for one of them, or open another connection`,
        );
        return send(read.id, { ok: false, refusal: why });
      }
      const answer = runHandler(read, client);
      if (!('later' in answer)) return send(read.id, answer);
      waiting++;
      answer.later(connection.gone).then(
        (make) => {
          if (make) enqueue(read, make);
          else waiting--;
          proceed();
        },
        (error: unknown) => onBug(error),
      );
    }

    function enqueue({ id, type }: ReadCommand, make: () => Answer): void {
      const isShort = shortReplies.has(type);
      const sendNow = (): void => {
        waiting--;
        send(id, make());
      };
      if (isShort) queued.unshift({ isShort, send: sendNow });
      else queued.push({ isShort, send: sendNow });
    }

    function proceed(): void {
      while (connection.canWrite()) {
        const [next] = queued;
        if (!next || !(next.isShort || replies.hasRoom())) break;
        queued = queued.slice(1);
        next.send();
      }
      closeWhenAnswered();
    }

    function runHandler({ type, payload }: ReadCommand, from: Client): Answer | Later {
      if (from.role === 'observer' && !observerCommands.has(type)) {
        return {
          ok: false,
          refusal: refusal(
            'command_rejected',
            'read_only_client',
            {},
            'this connection said hello as an observer; open another as a controller',
          ),
        };
      }
      const row: CommandRow = commands[type];
      const parsed = row.payload.safeParse(row.normalize ? row.normalize(payload) : payload);
      if (!parsed.success) return { ok: false, refusal: toPayloadRefusal(parsed.error) };
      // The table pairs each type with its payload; TypeScript cannot follow the pair through a variable.
      const handler = handlers[type] as (payload: unknown, client: Client) => Answer | Later;
      return handler(parsed.data, from);
    }
  }

  return {
    accept,
    count: (): number => connections.size,
    close(): void {
      for (const connection of connections) connection.close();
    },
  };
}

function unfinishedLine(why: 'timeout' | 'overloaded'): Refusal {
  const details = { unfinished_line_ms: limits.unfinishedLineMs };
  const seconds = limits.unfinishedLineMs / 1000;
  if (why === 'timeout')
    return refusal('timeout', `a line without its newline did not grow for ${seconds} s; end every line with a newline`, details);
  return refusal('overloaded', `the buffer for unfinished lines of all connections was full for ${seconds} s; try again`, details);
}

interface ReadCommand {
  id: string;
  type: CommandType;
  payload: Record<string, unknown>;
}

/** Parses the envelope of a command, not its payload. The id is empty when the line cannot be decoded. */
function readCommand(line: DecodedLine): ReadCommand | { id: string; refusal: Refusal } {
  const read = readEnvelope(line);
  if ('refusal' in read) return read;
  if (read.type === 'subscribe') {
    const message = 'subscribe belongs to the event socket, whose path is the path of this one with .events appended';
    return { id: read.id, refusal: refusal('invalid_command', message, { field: 'type' }) };
  }
  if (!Object.hasOwn(commands, read.type)) {
    return { id: read.id, refusal: refusal('invalid_command', `there is no command ${JSON.stringify(read.type)}`, { field: 'type' }) };
  }
  return { ...read, type: read.type as CommandType };
}

export function readEnvelope(
  line: DecodedLine,
): { id: string; type: string; payload: Record<string, unknown> } | { id: string; refusal: Refusal } {
  if (line.kind !== 'json')
    return { id: '', refusal: refusal('invalid_command', line.kind === 'malformed' ? line.reason : 'the line is too long') };
  const parsed = commandEnvelope.safeParse(line.value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.join('.') ?? '';
    return {
      id: idOf(line.value),
      refusal: refusal('invalid_command', `${field || 'the line'}: ${issue?.message ?? 'is not a command'}`, { field }),
    };
  }
  const { v, id, type, payload } = parsed.data;
  if (v !== undefined && v !== '1' && v !== 1) {
    const message = `this protocol version is not supported; supported are ${supportedVersions.join(', ')}`;
    return { id, refusal: refusal('unsupported_version', message, { supported: supportedVersions }) };
  }
  return { id, type, payload: payload ?? {} };
}

function idOf(value: unknown): string {
  const id = typeof value === 'object' && value !== null ? (value as { id?: unknown }).id : undefined;
  return typeof id === 'string' && id.length <= limits.envelopeIdCharsMax ? id : '';
}

/** Encodes a reply as a line. A long line is a Buffer: appending a newline to a long string would copy it. */
export function encodeAnswer(id: string, answer: Answer, seq: number): string | Buffer {
  if (!answer.ok) return `${JSON.stringify({ v: '1', id, type: 'error', ok: false, payload: {}, error: answer.refusal })}\n`;
  const payload = answer.payload instanceof EncodedPayload ? answer.payload.json : JSON.stringify(answer.payload);
  const line = `${JSON.stringify({ v: '1', id, type: answer.type, ok: true, seq: answer.seq ?? seq }).slice(0, -1)},"payload":${payload}}`;
  if (line.length < tuning.longAnswerUnits) return `${line}\n`;
  const length = Buffer.byteLength(line);
  if (length >= limits.lineBytesMax) {
    return encodeAnswer(
      id,
      {
        ok: false,
        refusal: refusal(
          'overloaded',
          `the reply is longer than a line may be (${limits.lineBytesMax} bytes); ask for fewer rows with limit`,
        ),
      },
      seq,
    );
  }
  const bytes = Buffer.allocUnsafeSlow(length + 1);
  bytes.write(line);
  bytes[length] = newline;
  return bytes;
}

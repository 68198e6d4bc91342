import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inputCommands, observerCommands } from '../protocol/commands/command-roles.js';
import type { CommandInput, CommandType, ReplyPayload } from '../protocol/commands/commands.js';
import type { UiMethod } from '../protocol/requests/requests.js';
import { limits } from '../protocol/limits.js';
import type { KeptInput } from './outbox.js';
import type { Submitted } from './delivery.js';
import { attachSession, type AttachedSession } from './attach.js';
import { openCommandClient, type CommandClient, type Reply } from './command-client.js';
import { ConnectionLost, DaemonUnresponsive, NoDaemon, OtherDaemon } from './errors.js';
import type { SentInput } from '../view/sent-inputs.js';
import { newInputId } from './input-id.js';
import { openEventStream, type EventStream, type SubscribeOptions } from './event-client.js';
import { isSameDirectory, meantDirs, resolvePaths, type MeantDirs, type Paths } from '../machine/paths.js';
import { observerDelivery } from './observer-delivery.js';
import type { Transport } from './transport.js';
import { createUnixTransport } from './unix-transport.js';

export interface ConnectOptions {
  /** Socket and directories of the daemon; from the environment when absent. */
  paths?: Paths;
  /** The transport to the daemon; Unix sockets at `paths` when absent. */
  transport?: Transport;
  client?: { name: string; version?: string; kind?: string };
  /** Attached sessions of an observer send nothing, and leave the outbox alone. */
  role?: 'controller' | 'observer';
  /** The kinds of requests that this client can show to its person. */
  uiCapabilities?: UiMethod[];
  /** Directories that the daemon must use, otherwise OtherDaemon; those that the environment names when `paths` is absent. */
  meant?: MeantDirs;
  /** Called when the daemon is slow to reply; after a timeout the call rejects with DaemonUnresponsive. */
  onSlow?(notice: string): void;
  /** Start a daemon when none runs. Attached sessions start a daemon that crashed again, but not one that was shut down. */
  autostart?: boolean;
}

export interface AttachOptions {
  /** Called for inputs that were committed or refused after `send` had resolved, and for those that another process left in the outbox. */
  onDelivered?(input: SentInput): void;
  /** Called with problems of the outbox, such as a damaged file. */
  onNotice?(text: string): void;
}

/** A connection to a daemon, which reconnects when it is lost. */
export interface Berth {
  readonly paths: Paths;
  readonly transport: Transport;
  hello(): ReplyPayload<'hello'>;
  /**
   * Sends a command. Idempotent commands, which are those that only read and inputs (by their `input_id`), are retried after a lost
   * connection. All others reject with ConnectionLost.
   */
  call<T extends CommandType>(type: T, payload?: CommandInput<T>): Promise<Reply<T>>;
  subscribe(options: SubscribeOptions): Promise<EventStream>;
  attach(sessionId: string, options?: AttachOptions): Promise<AttachedSession>;
  /** Starts the daemon when none runs: attached sessions then reconnect. Rejects with StartFailed, and with NoDaemon without autostart. */
  start(): Promise<void>;
  close(): void;
}

/** The daemon refused to attach to the session; the message says why. */
export class AttachRefused extends Error {
  override name = 'AttachRefused';
}

interface UsedDirs {
  state_dir?: string | undefined;
  config_dir?: string | undefined;
}

const inputs: ReadonlySet<CommandType> = new Set(inputCommands);
const repeatable: ReadonlySet<CommandType> = new Set(observerCommands);

export async function connect(options: ConnectOptions = {}): Promise<Berth> {
  const paths = options.paths ?? resolvePaths({}, process.env);
  const meant = options.meant ?? (options.paths || options.transport ? {} : meantDirs({}, process.env));
  const transport = options.transport ?? createUnixTransport(paths);
  const start = options.autostart ? transport.start?.bind(transport) : undefined;
  let commands: CommandClient | undefined;
  let opening: Promise<CommandClient> | undefined;
  let hello: ReplyPayload<'hello'> | undefined;
  let closed = false;

  async function reach(): Promise<CommandClient> {
    try {
      return await openCommandClient(transport, toStuck);
    } catch (error) {
      if (!(error instanceof NoDaemon) || !start || hello) throw error;
      await start();
      return openCommandClient(transport, toStuck);
    }
  }

  /** Gives up on a suspended daemon (SIGSTOP) at once, and on a running one, which may be busy, after `unansweredMs`. */
  function toStuck(silentMs: number): Error | undefined {
    const holder = transport.findProcess?.();
    const named = holder ? `the daemon (pid ${holder.pid})` : `the daemon on ${transport.name}`;
    const silent = `${named} has not answered for ${Math.round(silentMs / 1000)} s`;
    if (holder?.stopped) {
      return new DaemonUnresponsive(
        `${named} does not answer: it is stopped; kill -CONT ${holder.pid} lets it go on, berth daemon stop --force ends it`,
      );
    }
    if (silentMs >= limits.unansweredMs) {
      const where = transport.host === undefined ? '' : ', there,';
      return new DaemonUnresponsive(`${silent};${where} berth daemon stop --force ends it`);
    }
    options.onSlow?.(`${silent}; still waiting`);
    return undefined;
  }

  /** Throws OtherDaemon when the daemon on the socket uses other directories than expected. */
  function refuseOtherDaemon({ state_dir, config_dir }: UsedDirs): void {
    const pairs = [
      [meant.stateDir, state_dir, 'keeps its data in'],
      [meant.configDir, config_dir, 'has its config in'],
    ] as const;
    for (const [wanted, used, what] of pairs) {
      if (wanted === undefined || used === undefined || isSameDirectory(wanted, used)) continue;
      throw new OtherDaemon(`the daemon on ${transport.name} ${what} ${used}, not ${wanted}; choose another --socket for another daemon`);
    }
  }

  async function open(): Promise<CommandClient> {
    const opened = await reach();
    const reply = await opened.call('hello', {
      client: { name: options.client?.name ?? 'client', version: options.client?.version ?? '', kind: options.client?.kind ?? '' },
      role: options.role ?? 'controller',
      ui_capabilities: options.uiCapabilities ?? [],
    });
    if (!reply.ok) throw new ConnectionLost(reply.error.message);
    try {
      refuseOtherDaemon(await dirsOf(opened, reply.payload));
    } catch (error) {
      opened.close();
      throw error;
    }
    hello = reply.payload;
    commands = opened;
    return opened;
  }

  /** The directories of the daemon; older daemons leave them out of the reply to hello. */
  async function dirsOf(opened: CommandClient, helloReply: UsedDirs): Promise<UsedDirs> {
    if (helloReply.state_dir !== undefined) return helloReply;
    const reply = await opened.call('get_daemon');
    return reply.ok ? reply.payload : {};
  }

  async function connected(): Promise<CommandClient> {
    if (closed) throw new ConnectionLost('this client was closed');
    if (commands?.isOpen()) return commands;
    opening ??= open().finally(() => (opening = undefined));
    return opening;
  }

  async function callAgain<T extends CommandType>(type: T, payload: CommandInput<T> | undefined): Promise<Reply<T>> {
    const deadline = performance.now() + limits.startMs;
    for (;;) {
      try {
        return await (await connected()).call(type, payload);
      } catch (error) {
        const isConnectionError = error instanceof ConnectionLost || error instanceof NoDaemon;
        if (!isConnectionError || closed || performance.now() > deadline) throw error;
        await delay(limits.callRetryMs);
      }
    }
  }

  /** Sends an input without retries. Undefined when the daemon has another store (log_id) than the input's session. */
  async function submit({ inputId: input_id, sessionId: session_id, logId, command, payload }: KeptInput): Promise<Submitted> {
    const client = await connected();
    if (hello?.log_id !== logId) return undefined;
    return client.call(command, { ...payload, session_id, input_id, ...(command === 'prompt' && { wait: false }) });
  }

  await connected();
  return {
    paths,
    transport,
    hello() {
      if (!hello) throw new ConnectionLost('not connected');
      return hello;
    },
    async call(type, payload) {
      if (inputs.has(type)) {
        const input = payload as { input_id?: string } | undefined;
        return callAgain(type, { ...payload, input_id: input?.input_id ?? newInputId() } as typeof payload);
      }
      return repeatable.has(type) ? callAgain(type, payload) : (await connected()).call(type, payload);
    },
    subscribe: (subscription) => openEventStream(transport, subscription),
    async attach(sessionId, { onDelivered, onNotice } = {}) {
      const [{ createDelivery }, { createOutbox }] = await Promise.all([import('./delivery.js'), import('./outbox.js')]);
      const notice = (text: string): void => onNotice?.(text);
      return attachSession({
        transport,
        clientId: () => hello?.client_id,
        revive: start,
        async connected() {
          await connected();
        },
        async snapshot() {
          const reply = await callAgain('attach', { session_id: sessionId });
          if (!reply.ok) throw new AttachRefused(reply.error.message);
          return reply.payload;
        },
        async readPage(page) {
          const reply = await callAgain('get_messages', { ...page });
          if (!reply.ok) throw new AttachRefused(reply.error.message);
          return reply.payload;
        },
        openDelivery(id, logId) {
          if (options.role === 'observer') return observerDelivery;
          const outbox = createOutbox({ dir: join(paths.stateDir, 'outbox'), notice });
          return createDelivery({ sessionId: id, logId, outbox, submit, onDelivered, notice });
        },
      });
    },
    async start() {
      try {
        await connected();
      } catch (error) {
        if (!(error instanceof NoDaemon) || !start) throw error;
        await start();
      }
    },
    close() {
      closed = true;
      commands?.close();
    },
  };
}

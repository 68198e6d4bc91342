import { inScope, type Scope } from '../core/scope.js';
import type { UiMethod } from '../protocol/requests/requests.js';
import type { ClientView } from '../protocol/views.js';

/** Who is on the other end of a command connection. Without a hello it is a controller that can show nothing. */
export interface Client {
  id: string;
  name: string;
  version: string;
  kind: string;
  role: 'controller' | 'observer';
  saidHello: boolean;
  uiCapabilities: UiMethod[];
  /** The session that commands mean which name none; empty when there is none. */
  sessionId: string;
  /** What each of its event connections watches. */
  watches: Map<object, Scope>;
}

/** How a client is named as the one who said something. */
export function byOf({ saidHello, name, id }: Client): string {
  return saidHello ? `${name} (${id})` : id;
}

export function createClients({ onChange }: { onChange(sessionId: string): void }) {
  const clients = new Map<string, Client>();

  function told(client: Client): void {
    const watched = [...client.watches.values()].map(({ sessionId }) => sessionId);
    for (const sessionId of new Set([client.sessionId, ...watched])) {
      if (sessionId !== undefined && sessionId !== '') onChange(sessionId);
    }
  }

  return {
    add(id: string): Client {
      const client: Client = {
        id,
        name: 'unknown',
        version: '',
        kind: '',
        role: 'controller',
        saidHello: false,
        uiCapabilities: [],
        sessionId: '',
        watches: new Map(),
      };
      clients.set(id, client);
      return client;
    },
    remove(client: Client): void {
      clients.delete(client.id);
      told(client);
    },
    /** Gives a connection its session, or none. */
    attach(client: Client, sessionId: string): void {
      if (client.sessionId === sessionId) return;
      told(client);
      client.sessionId = sessionId;
      told(client);
    },
    /** An event connection of a client begins to watch, or stops. */
    watch(clientId: string, connection: object, scope: Scope | undefined): void {
      const client = clients.get(clientId);
      if (!client) return;
      if (scope === undefined) {
        told(client);
        client.watches.delete(connection);
      } else {
        client.watches.set(connection, scope);
        told(client);
      }
    },
    /** A person could answer: a controller that can show this and watches. */
    attended(sessionId: string, method: UiMethod): boolean {
      for (const client of clients.values()) {
        if (client.role !== 'controller' || !client.uiCapabilities.includes(method)) continue;
        for (const watched of client.watches.values()) if (inScope(watched, sessionId)) return true;
      }
      return false;
    },
    count: (): number => clients.size,
    all: (): ClientView[] => [...clients.values()].map(toView),
    of: (sessionId: string): ClientView[] =>
      [...clients.values()]
        .filter(
          (client) => client.sessionId === sessionId || [...client.watches.values()].some((watched) => watched.sessionId === sessionId),
        )
        .map(toView),
  };
}
export type Clients = ReturnType<typeof createClients>;

function toView(client: Client): ClientView {
  return {
    client_id: client.id,
    name: client.name,
    version: client.version,
    kind: client.kind,
    role: client.role,
    ui_capabilities: client.uiCapabilities,
    session_id: client.sessionId,
    subscribed: client.watches.size > 0,
  };
}

import { inScope, type Scope } from '../core/scope.js';
import type { UiMethod } from '../protocol/requests/requests.js';
import type { ClientView } from '../protocol/views.js';

/** The client of a command connection. Before its hello, a client is a controller without UI capabilities. */
export interface Client {
  id: string;
  name: string;
  version: string;
  kind: string;
  role: 'controller' | 'observer';
  saidHello: boolean;
  uiCapabilities: UiMethod[];
  /** The session of commands without a session id; empty when the client is not attached. */
  sessionId: string;
  /** The scope of each of the client's event connections. */
  watches: Map<object, Scope>;
}

/** The name of a client as the author of an answer or a rule. */
export function byOf({ saidHello, name, id }: Client): string {
  return saidHello ? `${name} (${id})` : id;
}

export function createClients({ onChange }: { onChange(sessionId: string): void }) {
  const clients = new Map<string, Client>();

  function notifyChange(client: Client): void {
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
      notifyChange(client);
    },
    /** Attaches a client to a session; an empty id detaches it. */
    attach(client: Client, sessionId: string): void {
      if (client.sessionId === sessionId) return;
      notifyChange(client);
      client.sessionId = sessionId;
      notifyChange(client);
    },
    /** Notes the scope of an event connection; undefined when its subscription ends. */
    watch(clientId: string, connection: object, scope: Scope | undefined): void {
      const client = clients.get(clientId);
      if (!client) return;
      if (scope === undefined) {
        notifyChange(client);
        client.watches.delete(connection);
      } else {
        client.watches.set(connection, scope);
        notifyChange(client);
      }
    },
    /** Whether a request can be answered: a subscribed controller has the UI capability for it. */
    attended(sessionId: string, method: UiMethod): boolean {
      for (const client of clients.values()) {
        if (client.role !== 'controller' || !client.uiCapabilities.includes(method)) continue;
        for (const watched of client.watches.values()) if (inScope(watched, sessionId)) return true;
      }
      return false;
    },
    isConnected: (id: string): boolean => clients.has(id),
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

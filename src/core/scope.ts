/** The scope of a subscription: one session, or all sessions and daemon-wide events (on the wire, the session id `*`). */
export type Scope = { all: true; sessionId?: undefined } | { all?: undefined; sessionId: string };

export const allSessions: Scope = { all: true };

export function inScope(scope: Scope, sessionId: string): boolean {
  return scope.all ?? scope.sessionId === sessionId;
}

/** Whom somebody listens to: one session, or all of them and what is of none. On the wire the session id `*` stands for all. */
export type Scope = { all: true; sessionId?: undefined } | { all?: undefined; sessionId: string };

export const allSessions: Scope = { all: true };

export function inScope(scope: Scope, sessionId: string): boolean {
  return scope.all ?? scope.sessionId === sessionId;
}

import { expect, test } from 'vitest';
import type { Bookkeeping, BookkeepingRows } from '../../src/engine/door/commit.js';
import type { HandlerContext } from '../../src/server/handler-context.js';
import type { ReadStore } from '../../src/store/store.js';
import { createTestEngine } from '../support/engine.js';

/** What a handler might try. The type check fails when one of these lines compiles. */
export function tryFromHandler({ engine }: HandlerContext): unknown {
  const { store } = engine;
  return [
    // @ts-expect-error a handler has no writers
    store.write,
    // @ts-expect-error nor the connection
    store.db,
    // @ts-expect-error a rule is added by a decision
    () => store.permissions.add({ workspace: null, sessionId: null }, { action: 'allow', tool: 'bash' }, 'me', 0),
    // @ts-expect-error and removed by one
    () => store.permissions.remove(1),
    // @ts-expect-error and so is trust
    () => store.permissions.setTrust('/w', 'digest', true, 'me', 0),
    // @ts-expect-error and what is set while there is no session
    () => store.meta.set('first_session', '{}'),
    // @ts-expect-error the log is appended to by commits
    () => store.log.append,
    // @ts-expect-error bookkeeping is not for commands
    engine.bookkeeping,
    // @ts-expect-error nor behind the commit
    engine.commit.maintain,
  ];
}

/** What bookkeeping might try: rows that decisions look at are not among its own. */
export function tryFromBookkeeping({ maintain }: Bookkeeping): void {
  // @ts-expect-error rules are facts
  maintain((rows) => rows.permissions.remove(1));
  // @ts-expect-error sessions are
  maintain((rows) => rows.sessions.setPaused('ses_1', true));
  // @ts-expect-error runs are, but for the daemon that they go on under
  maintain((rows) => rows.runs.abandon('run_1'));
  // @ts-expect-error and the log is appended to by decisions
  maintain((rows: BookkeepingRows) => rows.log.append);
}

test('the store that the engine hands out has no writer and no connection, however it is looked at', async () => {
  await using berth = createTestEngine();
  const handedOut: ReadStore = berth.engine.store;
  expect(Object.keys(handedOut)).toContain('permissions');
  expect(Object.keys(handedOut)).not.toContain('db');
  const tables = new Map<string, unknown>(Object.entries(handedOut));
  const reachable = Object.entries(berth.store.write).flatMap(([table, writers]) =>
    Object.keys(writers)
      .filter((name) => Object.hasOwn(Object(tables.get(table)) as object, name))
      .map((name) => `${table}.${name}`),
  );
  expect(reachable).toEqual([]);
  expect(tables.has('write')).toBe(false);
});

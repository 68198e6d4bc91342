import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { accept, createDraft, type Decision, type Draft, type Fresh } from '../../src/core/decision.js';
import { beginMessage, endMessage, endTurn } from '../../src/core/runs.js';
import { sayRun } from '../../src/core/turns.js';
import { createSession } from '../../src/core/settings.js';
import { createCommit } from '../../src/engine/door/commit.js';
import { makeId, type IdPrefix } from '../../src/protocol/ids.js';
import { openDatabase } from '../../src/store/database.js';
import { migrate, readMigrations } from '../../src/store/migrate.js';
import { createStore } from '../../src/store/store.js';
import { inPlace } from '../support/engine.js';

const runsPerCommit = 500;

function newId(prefix: IdPrefix): string {
  return makeId(prefix, Date.now(), randomBytes(12));
}

/** About 200 characters, no two alike. */
export function messageText(number: number): string {
  return `Message ${number}. ${'The harbour master wrote it down, word for word, as the ships came in. '.repeat(3)}`.slice(0, 200);
}

/** A store with one session of so many messages, made by the daemon's own decisions and door. Returns the session's id. */
export function seedHistory(stateDir: string, messages: number): string {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const migrations = readMigrations(fileURLToPath(new URL('../../migrations', import.meta.url)));
  const db = openDatabase(join(stateDir, 'berth.db'), migrations.length);
  migrate(db, migrations);
  const commit = createCommit({
    store: createStore(db, newId('boot')),
    place: inPlace,
    fresh: () => ({ nowMs: Date.now(), id: newId, contentOf: () => null }),
    onCommitted: () => undefined,
    wake: () => undefined,
    onRules: () => undefined,
    onDeleted: () => undefined,
    fault: () => undefined,
    onFatal(error) {
      throw error;
    },
  });
  const sessionId = newId('ses');
  const fields = {
    title: '',
    cwd: stateDir,
    model: 'offline/guide',
    thinking: 'off',
    steering_mode: 'one-at-a-time',
    follow_up_mode: 'one-at-a-time',
    when_detached: 'wait',
  } as const;
  keep(commit.create(sessionId, () => createSession(sessionId, fields)));
  const runs = messages / 2;
  for (let from = 0; from < runs; from += runsPerCommit) {
    keep(
      commit.decide(sessionId, (state, fresh) => {
        const draft = createDraft(state);
        for (let i = from; i < Math.min(runs, from + runsPerCommit); i++) sayWholeRun(draft, i, fresh);
        return accept(draft.facts, undefined);
      }),
    );
  }
  db.close();
  return sessionId;
}

function sayWholeRun(draft: Draft, number: number, fresh: Fresh): void {
  const id = fresh.id('msg');
  const content = [{ type: 'text' as const, text: messageText(2 * number + 1) }];
  const usage = { input: 10, output: 40, cache_read: 0, cache_write: 0, cost_usd: 0 };
  sayRun(draft, fresh.id('run'), { id: fresh.id('inp'), text: messageText(2 * number), content: null }, fresh);
  sayAll(draft, beginMessage(draft.state, id));
  sayAll(draft, endMessage(draft.state, { id, content, stopReason: 'stop', usage, model: draft.state.model }, null, fresh));
  sayAll(draft, endTurn(draft.state, fresh));
}

function sayAll(draft: Draft, decision: Decision): void {
  keep(decision);
  if (decision.ok) for (const fact of decision.facts) draft.say(fact);
}

function keep(outcome: { ok: boolean }): void {
  if (!outcome.ok) throw new Error(`the history was refused: ${JSON.stringify(outcome)}`);
}

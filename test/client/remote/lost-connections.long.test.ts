import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { connect, createSshTransport, type AttachedSession, type Berth, type SessionView } from '../../../src/client/index.js';
import { isAlive, poll } from '../../cli/run-cli.js';
import { missing } from '../../needs.js';
import { pathsIn, program, startDaemon, type TestDaemon } from '../../support/daemon.js';
import { sized } from '../../support/fault-sizes.js';
import { createRandom, type Random } from '../../support/random.js';
import { readPids, startSshd, type Road } from '../../support/sshd.js';

const clients = 3;
const cutsEach = sized({ short: 5, long: 18, full: 400 });
const seed = process.env.BERTH_SEED === undefined ? Date.now() % 2 ** 31 : Number(process.env.BERTH_SEED);

/** What a client that hears a session has heard, by which others wait. */
interface Listener {
  readonly attached: AttachedSession;
  readonly seqs: number[];
  /** How often the connection was lost, and came back. */
  readonly lost: () => number;
  readonly back: () => number;
  until(fits: () => boolean): Promise<void>;
  /** Resolves when it is over: that the session was closed here. */
  readonly over: Promise<void>;
}

function listen(attached: AttachedSession): Listener {
  const seqs: number[] = [];
  const counts = { lost: 0, back: 0 };
  const waiting: (() => void)[] = [];
  async function hear(): Promise<void> {
    for await (const heard of attached) {
      if (heard.kind === 'event' && heard.event.seq !== undefined) seqs.push(heard.event.seq);
      if (heard.kind === 'lost' && heard.why === undefined) counts.lost++;
      if (heard.kind === 'back') counts.back++;
      if (heard.kind === 'reset' || heard.kind === 'gone') throw new Error(`heard ${heard.kind}`);
      waiting.splice(0).forEach((wake) => wake());
    }
  }
  const over = hear();
  return {
    attached,
    seqs,
    lost: () => counts.lost,
    back: () => counts.back,
    over,
    async until(fits) {
      while (!fits())
        await Promise.race([new Promise<void>((resolve) => waiting.push(resolve)), over.then(() => Promise.reject(new Error('over')))]);
    },
  };
}

function isIdle({ state }: SessionView): boolean {
  return state.run === null && state.inputs.length === 0;
}

/** Berth of the other machine, as a program that writes its processes down. */
function writeFarBerth(dir: string, { env }: TestDaemon): { command: string[]; relays: () => number[] } {
  const set = Object.entries(env).flatMap(([name, value]) => (/^BERTH_|^HOME$/.test(name) ? [`${name}='${value}'`] : []));
  const [path, pids] = [join(dir, 'far-berth'), join(dir, 'relays')];
  writeFileSync(path, `#!/bin/sh\necho $$ >> '${pids}'\nexec env ${set.join(' ')} '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(path, 0o755);
  writeFileSync(pids, '');
  return { command: [path], relays: () => readPids(pids).filter(isAlive) };
}

interface Traveller {
  name: string;
  road: Road;
  relays: () => number[];
  berth: Berth;
  listener: Listener;
  random: Random;
}

/** Loses its connection again and again, at moments that chance picks, and sends prompts before and while it is away. The texts that it sent. */
async function travel({ road, relays, listener, random }: Traveller, takeText: () => string): Promise<string[]> {
  const { attached } = listener;
  const texts: string[] = [];
  const sending: Promise<unknown>[] = [];
  function send(): void {
    const text = takeText();
    texts.push(text);
    sending.push(attached.send('prompt', { text, if_busy: 'follow_up' }));
  }

  async function cutWhileHearing(): Promise<void> {
    let isCut = false;
    const how = random.pick(['sever', 'sever', 'ssh', 'relay']);
    const heardBefore = listener.seqs.length;
    const patience = 1 + random.below(12);
    if (how === 'sever') void road.cutAfter(1 + random.below(20_000)).then(() => (isCut = true));
    for (;;) {
      await listener.until(() => isCut || isIdle(attached.view()) || (how !== 'sever' && listener.seqs.length - heardBefore >= patience));
      if (isCut) return;
      const pids = how === 'relay' ? relays() : road.sshs();
      if (how !== 'sever') {
        for (const pid of pids) process.kill(pid, 'SIGKILL');
        if (pids.length > 0) return;
      }
      send();
      await listener.until(() => isCut || !isIdle(attached.view()));
    }
  }

  for (let cut = 0; cut < cutsEach; cut++) {
    const lostBefore = listener.lost();
    if (random.chance(0.5)) send();
    await cutWhileHearing();
    await listener.until(() => listener.lost() > lostBefore);
    if (random.chance(0.5)) send();
    // A connection that is cut again while it is made.
    if (random.chance(0.15)) await road.cutAfter(1 + random.below(4_000));
    await listener.until(() => listener.back() === listener.lost());
  }
  await Promise.all(sending);
  return texts;
}

describe.skipIf(missing('sshd'))('over a real sshd (needs sshd)', () => {
  test(
    `views whose connections were cut ${clients * cutsEach} times equal one that never left, and each prompt is there once`,
    { timeout: 60_000 + clients * cutsEach * 3_000 },
    async () => {
      await using daemon = await startDaemon({ wps: 600 });
      await using sshd = await startSshd(join(daemon.root, 'sshd'));
      const home = await daemon.connect();
      const made = await home.call('new_session', {});
      if (!made.ok) throw new Error(made.error.message);
      const { session_id } = made.payload;
      const stayer = listen(await home.attach(session_id));

      const travellers: Traveller[] = [];
      for (let i = 0; i < clients; i++) {
        const name = `client-${i}`;
        const own = join(daemon.root, name);
        mkdirSync(own);
        const road = await sshd.openRoad(name);
        const { command, relays } = writeFarBerth(own, daemon);
        const transport = createSshTransport({ host: 'box', ssh: [road.ssh], command });
        const berth = await connect({ paths: pathsIn(own), transport, client: { name } });
        const listener = listen(await berth.attach(session_id));
        travellers.push({ name, road, relays, berth, listener, random: createRandom(seed + i) });
      }

      let words = 50;
      const takeText = (): string => `stream ${words++} words`;
      const texts = (await Promise.all(travellers.map((traveller) => travel(traveller, takeText)))).flat();
      expect(texts.length).toBeGreaterThan(cutsEach);

      await stayer.until(() => isIdle(stayer.attached.view()));
      const { seq } = stayer.attached.view();
      for (const { name, road, listener } of travellers) {
        road.leaveAlone();
        await listener.until(() => listener.attached.view().seq >= seq);
        expect(listener.attached.view(), `${name}, seed ${seed}`).toEqual(stayer.attached.view());
        expect(listener.seqs, `${name}, seed ${seed}`).toEqual(stayer.seqs.filter((heard) => heard <= seq));
        expect(listener.lost()).toBeGreaterThanOrEqual(cutsEach);
        expect(listener.attached.sent().filter(({ state }) => state !== 'taken')).toEqual([]);
      }
      expect(stayer.lost()).toBe(0);
      const prompts = stayer.attached.view().messages.filter(({ role }) => role === 'user');
      expect(prompts.map(({ text }) => text).sort()).toEqual([...texts].sort());

      for (const { berth, listener } of travellers) {
        listener.attached.close();
        berth.close();
        await listener.over;
      }
      stayer.attached.close();
      await poll(
        () => travellers.flatMap(({ road, relays }) => [...road.sshs(), ...relays()]),
        (left) => left.length === 0,
      );
    },
  );
});

import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { makeRoot, pathsIn, startDaemon, type TestDaemon } from '../support/daemon.js';
import { processorMs } from '../support/processor-time.js';
import { mountSmallDisk, noSmallDisk, type SmallDisk } from '../support/small-disk.js';
import { openTalk, type Talk } from '../support/talk.js';

const reason = noSmallDisk();
if (reason !== undefined) process.stderr.write(`disk-full.test.ts is skipped: ${reason}\n`);

/** A daemon whose state is on a disk of 8 MiB. */
async function startOnSmallDisk(wps?: number): Promise<{ daemon: TestDaemon; disk: SmallDisk } & AsyncDisposable> {
  const root = makeRoot();
  const disk = mountSmallDisk(pathsIn(root).stateDir, 8);
  const daemon = await startDaemon({ root, ...(wps === undefined ? {} : { wps }) });
  return {
    daemon,
    disk,
    async [Symbol.asyncDispose]() {
      disk.free();
      await daemon[Symbol.asyncDispose]();
      disk[Symbol.dispose]();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Prompts until one is refused: the store has some room within its own files. Returns the texts that were acknowledged. */
async function promptUntilRefused(talk: Talk): Promise<{ taken: string[]; refusal: string }> {
  const taken: string[] = [];
  for (let i = 0; i < 500; i++) {
    const text = `say ${i} ${'x'.repeat(20_000)}`;
    const reply = await talk.commands.call('prompt', { session_id: talk.session, text, wait: false });
    if (!reply.ok) return { taken, refusal: reply.error?.code ?? '' };
    taken.push(text);
    const run = String(reply.payload.run_id);
    // The run itself may not find the room for its answer.
    const state = await Promise.race([talk.ended(run), parked(talk)]);
    if (state === 'parked') return { taken, refusal: await talk.refused('follow_up', { text: 'x'.repeat(200_000) }) };
  }
  throw new Error('the disk never was full');
}

async function parked(talk: Talk): Promise<'parked'> {
  await talk.until((event) => event.type === 'ui_status' && (event.payload.params as { key: string }).key === 'store');
  return 'parked';
}

describe.skipIf(reason !== undefined)('on a full disk (needs mount)', () => {
  test('an input is refused as storage_full and not taken; with room again everything works without a restart', async () => {
    await using small = await startOnSmallDisk();
    const { daemon, disk } = small;
    const talk = await openTalk(daemon);
    expect(await talk.run('say before')).toBe('completed');
    disk.fill();
    const { taken, refusal } = await promptUntilRefused(talk);
    expect(refusal).toBe('storage_full');
    // Reading goes on, and so does the daemon.
    expect((await talk.commands.call('ping')).ok).toBe(true);
    expect((await talk.messages()).length).toBeGreaterThan(0);
    disk.free();
    await talk.until((event) => event.type === 'agent_end' && (event.seq ?? 0) > 0);
    while ((await talk.state()).run_state !== 'idle') await talk.until(() => true);
    expect(await talk.run('say after')).toBe('completed');
    const texts = await talk.texts('user');
    expect(texts.filter((text) => text !== 'say before' && text !== 'say after')).toEqual(taken);
    // And all of it is really there.
    await daemon.kill9();
    await daemon.start();
    const again = await openTalk(daemon, talk.session);
    expect(await again.texts('user')).toEqual(texts);
  });

  test('a run in progress is parked visibly, and completes when there is room', async () => {
    await using small = await startOnSmallDisk(2_000);
    const { daemon, disk } = small;
    const talk = await openTalk(daemon);
    const run = await talk.prompt('stream 6000 words');
    await talk.until((event) => event.type === 'message_update');
    disk.fill();
    await parked(talk);
    expect(await talk.state()).toMatchObject({ run_state: 'running', ui: { status: { store: expect.stringContaining('full') } } });
    const other = await daemon.raw();
    const workedMs = processorMs(daemon.pid());
    expect((await other.call('ping')).ok).toBe(true);
    expect(processorMs(daemon.pid()) - workedMs).toBeLessThan(300);
    disk.free();
    expect(await talk.ended(run)).toBe('completed');
    const answer = (await talk.texts('assistant'))[0] ?? '';
    expect(answer.split(' ')).toHaveLength(6000);
    expect(answer.endsWith(' word6000')).toBe(true);
    expect(await talk.state()).toMatchObject({ ui: { status: {} } });
    expect((await talk.state()).ui).not.toHaveProperty('status.store');
  });

  test('a daemon starts with hardly any room; with none at all it says so, and nothing is lost', async () => {
    await using small = await startOnSmallDisk();
    const { daemon, disk } = small;
    const talk = await openTalk(daemon);
    expect(await talk.run('say kept')).toBe('completed');
    await daemon.terminate();
    disk.fill();
    await expect(daemon.start()).rejects.toThrow(new RegExp(`ended with 1: .*${daemon.paths.stateDir}.*full`, 's'));
    disk.free();
    disk.fill(256);
    await daemon.start();
    const again = await openTalk(daemon, talk.session);
    expect(await again.texts()).toEqual(['say kept', 'kept']);
    disk.free();
    expect(await again.run('say more')).toBe('completed');
  });
});

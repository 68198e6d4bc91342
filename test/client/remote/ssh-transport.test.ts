import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HostRefused } from '../../../src/client/index.js';
import { createSshTransport, HostUnreachable, NoDaemon } from '../../../src/client/index.js';
import { explainSsh, sshArguments } from '../../../src/client/remote/ssh-command.js';
import { poll } from '../../cli/run-cli.js';
import { program, startDaemon, type TestDaemon } from '../../support/daemon.js';
import { makeFakeSsh, runningIn } from '../../support/fake-ssh.js';

/** Berth on the machine behind a fake ssh: that of a test daemon. */
function commandOf({ env }: TestDaemon): string[] {
  const set = Object.entries(env).flatMap(([name, value]) => (/^BERTH_|^HOME$/.test(name) ? [`${name}=${value}`] : []));
  return ['env', ...set, process.execPath, program];
}

function transportTo(daemon: TestDaemon, before = ''): ReturnType<typeof createSshTransport> {
  return createSshTransport({ host: 'box', ssh: [makeFakeSsh(daemon.root, before)], command: commandOf(daemon) });
}

test('one ssh carries commands and events, through what a shell prints first, and ends when nobody uses it', async () => {
  await using daemon = await startDaemon({ wps: 0 });
  const transport = transportTo(daemon, 'echo "Welcome to box"; printf "half a line"; echo warning >&2');
  const berth = await daemon.connect({ transport });
  const made = await berth.call('new_session', {});
  if (!made.ok) throw new Error(made.error.message);
  const { session_id } = made.payload;
  const attached = await berth.attach(session_id);
  const sent = await attached.send('prompt', { text: 'stream 2000 words' });
  expect(sent.state).toBe('committed');
  for await (const heard of attached) if (heard.kind === 'event' && heard.event.type === 'agent_end') break;
  const text = attached.view().messages[1]?.text ?? '';
  expect(text.split(/\s+/).length).toBeGreaterThan(1900);
  expect(readFileSync(join(daemon.root, 'arguments'), 'utf8').trim().split('\n')).toHaveLength(1);
  expect(transport.home()).toBe(join(daemon.root, 'home'));
  attached.close();
  berth.close();
  await poll(
    () => runningIn(daemon.root),
    (pids) => pids.length === 0,
  );
});

test('an ssh that drops is started again, at the cursor, and without asking', async () => {
  await using daemon = await startDaemon({ wps: 400 });
  const transport = createSshTransport({ host: 'box', ssh: [makeFakeSsh(daemon.root)], command: commandOf(daemon), canAsk: true });
  const berth = await daemon.connect({ transport });
  const made = await berth.call('new_session', {});
  if (!made.ok) throw new Error(made.error.message);
  const attached = await berth.attach(made.payload.session_id);
  await berth.call('prompt', { session_id: made.payload.session_id, text: 'stream 600 words', wait: false });
  const heard: string[] = [];
  const seqs: number[] = [];
  for await (const item of attached) {
    heard.push(item.kind);
    if (item.kind === 'event' && item.event.seq !== undefined) seqs.push(item.event.seq);
    const said = attached.view().open[0]?.blocks[0]?.text ?? '';
    if (said.length > 300 && !heard.includes('lost')) for (const pid of runningIn(daemon.root)) process.kill(pid, 'SIGKILL');
    if (item.kind === 'event' && item.event.type === 'agent_end') break;
  }
  expect(heard).toContain('back');
  expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
  expect(attached.view().state.lastRun?.outcome).toBe('completed');
  const calls = readFileSync(join(daemon.root, 'arguments'), 'utf8').trim().split('\n');
  expect(calls[0]).toContain('|BatchMode=no|');
  expect(calls[1]).toContain('|BatchMode=yes|');
});

test('a daemon that is not there is told as that, and one is started when that is wanted', async () => {
  await using daemon = await startDaemon();
  const transport = transportTo(daemon);
  await daemon.terminate();
  await expect(daemon.connect({ transport })).rejects.toThrow(NoDaemon);
  const berth = await daemon.connect({ transport, autostart: true });
  expect(await berth.call('ping')).toMatchObject({ ok: true });
  const found = await berth.call('get_daemon');
  if (found.ok) process.kill(found.payload.pid, 'SIGTERM');
});

test('what ssh said, and what helps, is in the error', async () => {
  await using daemon = await startDaemon();
  const reach = (before: string, command = ['berth']): Promise<unknown> =>
    daemon.connect({ transport: createSshTransport({ host: 'user@box', ssh: [makeFakeSsh(daemon.root, before)], command }) });
  await expect(reach('echo "user@box: Permission denied (publickey)." >&2; exit 255')).rejects.toThrow(
    /^user@box cannot be reached: user@box: Permission denied \(publickey\)\.; ssh user@box has to work without asking/,
  );
  await expect(reach('exit 255')).rejects.toThrow(HostUnreachable);
  await expect(reach('', ['/nowhere/berth'])).rejects.toThrow(/there is no \/nowhere\/berth.*BERTH_REMOTE_COMMAND/);
  await expect(reach('exec yes')).rejects.toThrow(/before the first line of berth relay/);
  await expect(reach(`printf '\\nberth-relay {"relay":99,"version":"9.0.0"}\\n'; exec cat`)).rejects.toThrow(/berth 9\.0\.0 on user@box/);
  await expect(daemon.connect({ transport: createSshTransport({ host: 'box', ssh: [join(daemon.root, 'none')] }) })).rejects.toThrow(
    /BERTH_SSH/,
  );
  const told = explainSsh({
    code: 255,
    said: 'ssh: Could not resolve hostname box: Name or service not known\r\n',
    host: 'box',
    command: 'berth',
    isLate: false,
  });
  expect(told).toMatch(/Could not resolve hostname.*is its name right/);
});

test.each(['-oProxyCommand=touch /tmp/x', '', 'a b', 'a\tb', 'a\u0000b', 'a\nb', '$(id)', '`id`', 'a;b', 'a|b', 'x'.repeat(300)])(
  'no ssh is started for a host that is none: %j',
  (host) => {
    expect(() => createSshTransport({ host })).toThrow(HostRefused);
  },
);

test('the words of the command there are words for its shell', () => {
  const [program, args] = sshArguments({ host: 'u@[::1]', ssh: ['ssh', '-F', 'x y'], command: ['~/bin/berth', "it's", '$HOME'] }, false);
  expect(program).toBe('ssh');
  expect(args.slice(0, 3)).toEqual(['-F', 'x y', '-T']);
  expect(args.slice(-3)).toEqual(['u@[::1]', '--', `~/bin/berth 'it'\\''s' '$HOME' relay`]);
});

import { expect, test } from 'vitest';
import { sandboxHint } from '../../src/tools/shell/bash-messages.js';
import type { Exit } from '../../src/sandbox/port.js';

const failed = { code: 1, signal: null } as Exit;
const confinement = { kind: 'sandbox', network: false, writable: [], readOnly: [], hidden: [] } as const;
const sandboxed = { cwd: '/w', confinement: { ...confinement, writable: [], readOnly: [], hidden: [] }, readOnly: [] };

/** What programs say without a network, as they say it. */
const outputs: Record<string, string> = {
  npm: 'npm error code EAI_AGAIN\nnpm error request to https://r.example/left-pad failed, reason: getaddrinfo EAI_AGAIN r.example',
  yarn: 'info There appears to be trouble with your network connection. Retrying...',
  pnpm: 'WARN  GET https://r.example/x error (ENOTFOUND). Will retry in 10 seconds.',
  pip: "WARNING: Retrying: NewConnectionError('Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')",
  'pip -q': 'ERROR: Could not find a version that satisfies the requirement flask (from versions: none)',
  uv: 'error: Failed to fetch: `https://p.example/simple/x/`\n  Caused by: dns error: failed to lookup address information',
  git: "fatal: unable to access 'https://g.example/x.git/': Could not resolve host: g.example",
  'git over ssh': 'ssh: Could not resolve hostname g.example: Temporary failure in name resolution',
  curl: 'curl: (6) Could not resolve host: example.com',
  'curl to an address': 'curl: (7) Failed to connect to 192.0.2.1 port 80 after 0 ms: Network is unreachable',
  wget: "wget: unable to resolve host address 'example.com'",
  apt: "Err:1 http://d.example stable InRelease\n  Temporary failure resolving 'd.example'",
  'apt update': "Could not resolve 'archive.example'",
  cargo: "warning: spurious network error (3 tries remaining): [6] Couldn't resolve host name (Could not resolve host: i.example)",
  go: 'go: module example.com/x: Get "https://p.example/@v/list": dial tcp: lookup p.example on 127.0.0.53:53: server misbehaving',
  'go in a container': 'dial tcp 192.0.2.1:443: connect: network is unreachable',
  python: 'urllib.error.URLError: <urlopen error [Errno -2] Name or service not known>',
  requests: "HTTPSConnectionPool(host='x.example', port=443): Max retries exceeded with url: /",
  node: 'TypeError: fetch failed',
  java: 'java.net.UnknownHostException: repo.example',
  gem: "ERROR:  Could not find a valid gem 'x' (>= 0), here is why:\n  Unable to download data from https://g.example/ - getaddrinfo",
  composer: 'curl error 6 while downloading https://p.example/packages.json: Could not resolve host: p.example',
  docker: 'Error response from daemon: Get "https://d.example/v2/": dial tcp: lookup d.example: no such host',
};

test.each(Object.entries(outputs))('%s that fails without a network gets the hint that asks for it', (_, output) => {
  expect(sandboxHint(output, failed, sandboxed)).toMatch(/has no network; network: true/);
});

test('there is no such hint with a network, outside of a sandbox, after a success, or for another failure', () => {
  const output = outputs.curl ?? '';
  expect(sandboxHint(output, failed, { ...sandboxed, confinement: { ...sandboxed.confinement, network: true } })).toBe('');
  expect(sandboxHint(output, failed, { ...sandboxed, confinement: { ...sandboxed.confinement, kind: 'bare' } })).toBe('');
  expect(sandboxHint(output, { ...failed, code: 0 }, sandboxed)).toBe('');
  expect(sandboxHint('FAIL test/x.test.ts\nAssertionError: expected 1 to be 2', failed, sandboxed)).toBe('');
  expect(sandboxHint("x.ts(1,1): error TS2304: Cannot find name 'y'.", failed, sandboxed)).toBe('');
});

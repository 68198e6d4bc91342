import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { createHttpFetch } from '../../src/providers/http/http-fetch.js';
import { closed } from '../support/raw-client.js';
import { createRawServer, writeForever } from './raw-server.js';
import { createWire, ok, onRequests, readWhole } from './wire.js';

describe('a request', () => {
  test('is sent as it was given, and compressed answers are not asked for', async () => {
    let heard = '';
    await using wire = await createWire((socket) =>
      onRequests(socket, (text) => {
        heard = text;
        socket.write('HTTP/1.1 201 Made It\r\nx-a: 1\r\nX-A: 2\r\ncontent-length: 2\r\n\r\nok');
      }),
    );
    const answer = await createHttpFetch()(wire.url, { method: 'POST', headers: { 'x-own': 'm\u00fcsli' }, body: 'wörter' });
    expect([answer.status, answer.statusText, answer.headers.get('x-a')]).toEqual([201, 'Made It', '1, 2']);
    expect(await readWhole(answer)).toBe('ok');
    const [head = '', body = ''] = heard.split('\r\n\r\n');
    expect(head).toMatch(/^POST \/path\?query HTTP\/1\.1\r\n/);
    expect(head).toContain('accept-encoding: identity');
    expect(head).toContain('x-own: m\u00fcsli');
    expect(head).toContain('Content-Length: 7');
    expect(Buffer.from(body, 'latin1').toString('utf8')).toBe('wörter');
  });

  test('may be bytes', async () => {
    let heard = '';
    await using wire = await createWire((socket) =>
      onRequests(socket, (text) => {
        heard = text;
        socket.write(ok);
      }),
    );
    const bytes = new Uint8Array([0, 255, 10]);
    expect(await readWhole(await createHttpFetch()(wire.url, { method: 'POST', headers: {}, body: bytes }))).toBe('ok');
    expect(heard.endsWith('\r\n\r\n\u0000\u00ff\n')).toBe(true);
  });

  test.each([
    ['http://127.0.0.1:0/', { cause: { message: 'bad port' } }],
    ['http://127.0.0.1:25/', { cause: { message: 'bad port' } }],
    ['file:///etc/hosts', { cause: { message: 'unknown scheme' } }],
    ['http://name:word@127.0.0.1/', { message: 'a URL with a user name or a password is not allowed' }],
  ])('to %s is not sent', async (url, problem) => {
    await expect(createHttpFetch()(url, { headers: {} })).rejects.toMatchObject({ name: 'TypeError', ...problem });
  });

  test('is not sent through a proxy of the environment', async () => {
    await using server = await createRawServer((response) => response.end('ok'));
    const names = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'NODE_USE_ENV_PROXY'];
    for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : 'http://127.0.0.1:9';
    try {
      expect(await readWhole(await createHttpFetch()(server.url, { headers: {} }))).toBe('ok');
    } finally {
      for (const name of names) Reflect.deleteProperty(process.env, name);
    }
  });
});

describe('an answer', () => {
  test.each([301, 302, 307, 308])('of %i is given as it is: nobody is asked elsewhere', async (status) => {
    await using other = await createRawServer((response) => response.end());
    await using server = await createRawServer((response) => response.writeHead(status, { location: other.url }).end('moved'));
    const answer = await createHttpFetch()(server.url, { headers: { authorization: 'secret' } });
    expect([answer.status, answer.headers.get('location')]).toEqual([status, other.url]);
    expect(await readWhole(answer)).toBe('moved');
    expect(other.requests).toEqual([]);
  });

  test('may come in spite of 1xx before it', async () => {
    await using wire = await createWire((socket) =>
      onRequests(socket, () => void socket.write(`HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${ok}`)),
    );
    expect(await readWhole(await createHttpFetch()(wire.url, { headers: {} }))).toBe('ok');
  });

  test('that changes the protocol is none', async () => {
    await using wire = await createWire((socket) =>
      onRequests(socket, () => void socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')),
    );
    await expect(createHttpFetch()(wire.url, { headers: {} })).rejects.toMatchObject({ name: 'TypeError', message: 'fetch failed' });
  });

  test('whose headers are huge is refused, and its sender hung up on', async () => {
    await using wire = await createWire((socket) =>
      onRequests(socket, () => void socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`)),
    );
    const asking = createHttpFetch()(wire.url, { headers: {} });
    const socket = await wire.next();
    await expect(asking).rejects.toMatchObject({ message: 'fetch failed', cause: { code: 'HPE_HEADER_OVERFLOW' } });
    await closed(socket);
  });

  test.each([
    ['gzip', gzipSync('many words')],
    ['GZIP', gzipSync('many words')],
    ['x-gzip', gzipSync('many words')],
    ['deflate', deflateSync('many words')],
    ['br', brotliCompressSync('many words')],
    ['gzip, br', brotliCompressSync(gzipSync('many words'))],
    ['identity', Buffer.from('many words')],
    ['unheard-of', Buffer.from('many words')],
  ])('that is packed as %s is unpacked if that is known', async (coding, bytes) => {
    await using server = await createRawServer((response) => response.writeHead(200, { 'content-encoding': coding }).end(bytes));
    expect(await readWhole(await createHttpFetch()(server.url, { headers: {} }))).toBe('many words');
  });

  test('that is packed is given as it comes', async () => {
    const gzip = createGzip();
    await using server = await createRawServer((response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      gzip.pipe(response);
      gzip.write('first');
      gzip.flush();
    });
    const { body } = await createHttpFetch()(server.url, { headers: {} });
    expect(String(Buffer.from((await body.next()).value ?? []))).toBe('first');
    gzip.end(' and last');
    let rest = '';
    for await (const bytes of body) rest += String(Buffer.from(bytes));
    expect(rest).toBe(' and last');
  });

  test('that is packed badly, too often or not to its end has failed', async () => {
    const fetch = createHttpFetch();
    const packed = gzipSync(Buffer.from(Array.from({ length: 5_000 }, (_, i) => (i * 7919) % 251)));
    await using garbage = await createRawServer((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('garbage'));
    await expect(fetch(garbage.url, { headers: {} }).then(readWhole)).rejects.toMatchObject({ cause: { code: 'Z_DATA_ERROR' } });
    await using often = await createRawServer((response) => response.writeHead(200, { 'content-encoding': 'gzip,'.repeat(9) }).end(packed));
    await expect(fetch(often.url, { headers: {} })).rejects.toMatchObject({
      cause: { message: 'its answer has more than 4 content encodings' },
    });
    await using cut = await createRawServer((response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': packed.length });
      response.write(packed.subarray(0, packed.length / 2), () => response.destroy());
    });
    await expect(fetch(cut.url, { headers: {} }).then(readWhole)).rejects.toMatchObject({ name: 'TypeError', message: 'terminated' });
  });

  test.each([
    ['chunked, between chunks', 'transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n', 'HUNG_UP'],
    ['chunked, within a chunk', 'transfer-encoding: chunked\r\n\r\n8\r\nhalf', 'HUNG_UP'],
    ['of known length', 'content-length: 8\r\n\r\nhalf', 'HUNG_UP'],
    ['chunked, with nonsense between', 'transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nnonsense\r\n', 'HPE_INVALID_CHUNK_SIZE'],
  ])('that is %s and breaks off has failed, after what came of it', async (_, rest, code) => {
    for (const hangUp of ['destroy', 'end'] as const) {
      await using wire = await createWire((socket) =>
        onRequests(socket, () => socket.write(`HTTP/1.1 200 OK\r\n${rest}`, () => socket[hangUp]())),
      );
      const { body } = await createHttpFetch()(wire.url, { headers: {} });
      expect(String(Buffer.from((await body.next()).value ?? []))).toBe('half');
      await expect(body.next()).rejects.toMatchObject({ name: 'TypeError', message: 'terminated', cause: { code } });
    }
  });

  test('that is reset has failed as that', async () => {
    await using wire = await createWire((socket) =>
      onRequests(socket, () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nhalf')),
    );
    const { body } = await createHttpFetch()(wire.url, { headers: {} });
    expect(String(Buffer.from((await body.next()).value ?? []))).toBe('half');
    wire.sockets[0]?.resetAndDestroy();
    await expect(body.next()).rejects.toMatchObject({ cause: { code: 'ECONNRESET', syscall: 'read' } });
  });

  test('whose end is that of its connection is whole', async () => {
    await using wire = await createWire((socket) => onRequests(socket, () => socket.end('HTTP/1.1 200 OK\r\n\r\nall of it')));
    expect(await readWhole(await createHttpFetch()(wire.url, { headers: {} }))).toBe('all of it');
  });

  test('that has come whole is read whole, however late and whatever became of its connection', async () => {
    const long = 'x'.repeat(100_000);
    await using wire = await createWire((socket) =>
      onRequests(socket, () => socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${long.length}\r\n\r\n${long}`)),
    );
    const asking = createHttpFetch()(wire.url, { headers: {} });
    const socket = await wire.next();
    const answer = await asking;
    await closed(socket);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await readWhole(answer)).toBe(long);
  });

  test('may come before the request is read, whose rest nobody waits for', async () => {
    await using wire = await createWire((socket) => {
      socket.once('data', () => {
        socket.pause();
        socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno');
      });
    });
    const asking = createHttpFetch()(wire.url, { method: 'POST', headers: {}, body: 'x'.repeat(32 * 1024 * 1024) });
    const socket = await wire.next();
    const answer = await asking;
    expect(answer.status).toBe(413);
    expect(await readWhole(answer)).toBe('no');
    // It leaves although not everything was sent.
    socket.resume();
    await closed(socket);
  });

  test('that comes before the request is read, from a server that then leaves, is heard', async () => {
    await using wire = await createWire((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 401 No\r\nconnection: close\r\ncontent-length: 2\r\n\r\nno'));
    });
    const answer = await createHttpFetch()(wire.url, { method: 'POST', headers: {}, body: 'x'.repeat(8 * 1024 * 1024) });
    expect([answer.status, await readWhole(answer)]).toEqual([401, 'no']);
  });

  test('that nobody reads makes its sender wait', async () => {
    let written = 0;
    let left: Promise<void> | undefined;
    await using server = await createRawServer((response) => {
      response.writeHead(200);
      const { write } = response;
      response.write = ((bytes: Buffer) => {
        written += bytes.length;
        return Reflect.apply(write, response, [bytes]) as boolean;
      }) as typeof write;
      left = writeForever(response, Buffer.alloc(256 * 1024));
    });
    const { body } = await createHttpFetch()(server.url, { headers: {} });
    const first = await body.next();
    expect(first.value?.length).toBeLessThan(1024 * 1024);
    // When nothing more is written in many turns of the loop, the sender waits.
    for (let quiet = 0, seen = written; quiet < 200; quiet = seen === written ? quiet + 1 : 0, seen = written) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(written).toBeLessThan(32 * 1024 * 1024);
    const waited = written;
    while (written < waited + 64 * 1024 * 1024) expect((await body.next()).value?.length).toBeLessThan(1024 * 1024);
    await body.return();
    await left;
    expect(await body.next()).toEqual({ done: true, value: undefined });
  });

  test('may pause for longer than connections are kept', async () => {
    const keptMs = 20;
    await using server = await createRawServer((response) => {
      response.writeHead(200).write('slow');
      setTimeout(() => response.end('ly'), 4 * keptMs);
    });
    expect(await readWhole(await createHttpFetch({ keptMs })(server.url, { headers: {} }))).toBe('slowly');
  });
});

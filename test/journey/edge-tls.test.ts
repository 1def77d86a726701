/** TLS in front of the node, over real sockets and with real clients. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Echo, startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { makeCertificate, OPENSSL_MISSING } from '../support/make-certificate.ts';
import { textOf } from '../support/raw.ts';
import { requires } from '../support/requires.ts';

interface Ran {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

function run(command: string, args: readonly string[], input = ''): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(command, args, { timeout: 20_000 }, (error, out, err) =>
      resolve({ out, err, code: error === null ? 0 : Number(error.code ?? -1) }),
    );
    child.stdin?.end(input);
  });
}

describe('TLS', requires(OPENSSL_MISSING), () => {
  let edge: TlsNode;
  beforeAll(async () => {
    edge = await startTlsNode({
      names: ['shop.test', 'other.test'],
      refused: ['closed.test'],
      fallback: 'shop.test',
    });
  });
  afterAll(() => edge.stop());

  function curl(url: string, ...more: string[]): Promise<Ran> {
    const host = new URL(url).hostname;
    const resolve = ['--resolve', `${host}:${edge.port}:127.0.0.1`];
    const address = url.replace(host, `${host}:${edge.port}`);
    return run('curl', ['-sk', '--max-time', '10', ...resolve, ...more, address]);
  }

  function open(servername: string | undefined, more: object = {}): TLSSocket {
    const name = servername === undefined ? {} : { servername };
    return connectTls({ port: edge.port, host: '127.0.0.1', rejectUnauthorized: false, ...name, ...more });
  }

  test.each([
    ['--http1.1', 'shop.test', 'HTTP/1.1', '1.1'],
    ['--http2', 'shop.test', 'HTTP/2', '2'],
    ['--http1.1', 'www.shop.test', 'HTTP/1.1', '1.1'],
    ['--http2', 'www.other.test', 'HTTP/2', '2'],
  ])('curl %s gets a response from %s', async (flag, host, protocol, version) => {
    const ran = await curl(`https://${host}/a?b=1`, flag, '-w', '\n%{http_version} %{http_code}');
    const [body, status] = ran.out.split('\n');
    expect(status).toBe(`${version} 200`);
    const echo = JSON.parse(body!) as Echo;
    expect(echo.url).toBe('/a?b=1');
    expect(echo.headers['x-forwarded-proto']).toBe('https');
    expect(edge.entries.at(-1)!.exchange!.request.protocol).toBe(protocol);
    expect(edge.entries.at(-1)!.exchange!.request.scheme).toBe('https');
  });

  test('each name gets its own certificate', async () => {
    for (const name of ['shop.test', 'www.shop.test', 'other.test', 'a.other.test']) {
      const socket = open(name);
      await once(socket, 'secureConnect');
      expect(socket.getPeerCertificate().subject.CN).toBe(name.split('.').slice(-2).join('.'));
      socket.destroy();
    }
  });

  test('a client without SNI gets the default certificate', async () => {
    const socket = open(undefined);
    await once(socket, 'secureConnect');
    expect(socket.getPeerCertificate().subject.CN).toBe('shop.test');
    socket.destroy();
  });

  test.each([
    ['--http1.1', 'http1.1'],
    ['--http2', 'h2'],
  ])('a Host other than the name of the handshake gets 421 (%s)', async (flag) => {
    const ran = await curl(
      'https://shop.test/',
      flag,
      '-H',
      'Host: other.test',
      '-o',
      '/dev/null',
      '-w',
      '%{http_code}',
    );
    expect(ran.out).toBe('421');
  });

  test.each([
    ['closed.test', 'a name that must not be served'],
    ['www.closed.test', 'a host below one'],
    ['unknown.test', 'a name that is not served'],
  ])('the handshake for %s is refused', async (name) => {
    const socket = open(name);
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
    const seen = await run('openssl', [
      's_client',
      '-connect',
      `127.0.0.1:${edge.port}`,
      '-servername',
      name,
    ]);
    expect(seen.err + seen.out).toContain('unrecognized name');
  });

  test.each(['TLSv1', 'TLSv1.1'] as const)('%s is refused', async (maxVersion) => {
    const socket = open('shop.test', { minVersion: 'TLSv1', maxVersion, ciphers: 'ALL@SECLEVEL=0' });
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toMatch(/PROTOCOL_VERSION/);
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('%s sessions are resumed, and served', async (version) => {
    const limits = { minVersion: version, maxVersion: version };
    const first = open('shop.test', limits);
    const session = once(first, 'session');
    first.write('GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n');
    first.resume();
    const [ticket] = (await session) as [Buffer];
    await once(first, 'close');
    const second = open('shop.test', { ...limits, session: ticket });
    await once(second, 'secureConnect');
    expect(second.isSessionReused()).toBe(true);
    second.write('GET /again HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n');
    let text = '';
    for await (const chunk of second.setEncoding('utf8')) text += chunk;
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(edge.entries.at(-1)!.exchange!.visitor.serverName).toBe('shop.test');
  });

  test.each([
    ['a host of the same certificate', 'www.shop.test', 'www.shop.test'],
    ['a host of another certificate', 'other.test', 'other.test'],
    ['no name', '', null],
  ])('a TLS 1.2 session is not resumed under another name: %s', async (_what, servername, host) => {
    const limits = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const;
    const sessionOf = async (name: string): Promise<Buffer> => {
      const socket = open(name, limits);
      const [ticket] = (await once(socket, 'session')) as [Buffer];
      socket.destroy();
      return ticket;
    };
    const session = await sessionOf('shop.test');
    const second = open(servername, { ...limits, session });
    await once(second, 'secureConnect');
    expect(second.isSessionReused()).toBe(false);
    second.write(`GET / HTTP/1.1\r\nHost: ${host ?? 'shop.test'}\r\nConnection: close\r\n\r\n`);
    let text = '';
    for await (const chunk of second.setEncoding('utf8')) text += chunk;
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(edge.entries.at(-1)!.exchange!.visitor.serverName).toBe(host);
    const back = open('SHOP.test', { ...limits, session: await sessionOf('shop.test') });
    await once(back, 'secureConnect');
    expect(back.isSessionReused()).toBe(true);
    back.destroy();
  });

  test('rules see the fingerprint of the client, the same on every connection', async () => {
    const seen = async (...flags: string[]): Promise<unknown> => {
      await curl('https://shop.test/', ...flags);
      return edge.entries.at(-1)!.exchange!.request.ja4;
    };
    const first = await seen('--http2');
    expect(first).toMatch(/^t13d\d{4}h2_[0-9a-f]{12}_[0-9a-f]{12}$/);
    expect(await seen('--http2')).toBe(first);
    expect(await seen('--http1.1')).toMatch(/^t13d\d{4}h1_/);
    expect(await seen('--http1.1', '--tls-max', '1.2')).toMatch(/^t12d\d{4}h1_/);
  });

  test('uploads stream over both versions', async () => {
    const body = 'x'.repeat(300_000);
    for (const flag of ['--http1.1', '--http2']) {
      const ran = await run(
        'curl',
        [
          '-sk',
          '--max-time',
          '10',
          flag,
          '--resolve',
          `shop.test:${edge.port}:127.0.0.1`,
          '--data-binary',
          '@-',
          `https://shop.test:${edge.port}/up`,
        ],
        body,
      );
      expect((JSON.parse(ran.out) as Echo).body.length).toBe(body.length);
    }
  });

  test('a GET over HTTP/2 has no body', async () => {
    const client = connectHttp2(`https://127.0.0.1:${edge.port}`, {
      rejectUnauthorized: false,
      servername: 'shop.test',
    });
    const stream = client.request({ ':path': '/', ':authority': 'shop.test' });
    let text = '';
    stream.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    await once(stream, 'end');
    client.close();
    const { headers } = JSON.parse(text) as Echo;
    expect(headers['transfer-encoding']).toBeUndefined();
    expect(headers['content-length']).toBeUndefined();
  });

  test('a WebSocket works over TLS', async () => {
    const socket = open('shop.test', { ALPNProtocols: ['http/1.1'] });
    await once(socket, 'secureConnect');
    socket.write(
      'GET /ws HTTP/1.1\r\nHost: shop.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n',
    );
    let seen = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      seen += chunk;
      if (seen.endsWith('\r\n\r\n')) socket.write('hello there');
      if (seen.endsWith('hello there')) socket.end();
    });
    await once(socket, 'close');
    expect(seen).toMatch(/^HTTP\/1\.1 101 /);
    expect(seen).toContain('hello there');
  });

  test('a ClientHello in records and segments of one octet is read', async () => {
    const through = await oneOctetRelay(edge.port);
    const socket = connectTls({
      port: through.port,
      host: '127.0.0.1',
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    await once(socket, 'secureConnect');
    socket.write('GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n');
    let text = '';
    for await (const chunk of socket.setEncoding('utf8')) text += chunk;
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    through.close();
  });

  test.each([
    ['garbage', '\u0000\u00ff'.repeat(500)],
    ['a record that is too long', '\u0016\u0003\u0001\u00ff\u00ff'],
    ['an empty record', '\u0016\u0003\u0001\u0000\u0000'],
    ['another message', '\u0016\u0003\u0001\u0000\u0004\u0002\u0000\u0000\u0000'],
    ['a hello that is too long', '\u0016\u0003\u0001\u0000\u0004\u0001\u00ff\u00ff\u00ff'],
    [
      'a hello whose lengths lie',
      `\u0016\u0003\u0001\u0000\u0030\u0001\u0000\u0000\u002c${'\u00ff'.repeat(44)}`,
    ],
    ['a PROXY header from a peer that is not trusted', 'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n'],
  ])('%s ends the connection', async (_what, text) => {
    const socket = connect(edge.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(Buffer.from(text, 'latin1'));
    let answered = 0;
    socket.on('data', (chunk) => {
      answered += chunk.length;
    });
    await once(socket, 'close');
    expect(answered).toBe(0);
  });

  test('a replaced certificate is served to new connections and drops none', async () => {
    const kept = open('other.test', { ALPNProtocols: ['http/1.1'] });
    await once(kept, 'secureConnect');
    const serial = kept.getPeerCertificate().serialNumber;
    const unnamed = open(undefined);
    await once(unnamed, 'secureConnect');
    const certs = join(edge.folder, 'certs');
    for (const name of ['other.test', 'shop.test']) {
      const [cert, key] = [join(certs, `${name}.crt`), join(certs, `${name}.key`)];
      await makeCertificate({ names: [name, `*.${name}`], cert, key });
    }
    await edge.certificates.reload();
    for (const [servername, before] of [
      ['other.test', serial],
      [undefined, unnamed.getPeerCertificate().serialNumber],
    ] as const) {
      const socket = open(servername);
      await once(socket, 'secureConnect');
      expect(socket.getPeerCertificate().serialNumber).not.toBe(before);
      socket.destroy();
    }
    kept.write('GET /kept HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n');
    let text = '';
    for await (const chunk of kept.setEncoding('utf8')) text += chunk;
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    unnamed.destroy();
    // A look between the two files' writes says, rightly, that they do not belong together.
    edge.faults.length = 0;
  });

  test('a hundred connections at once, both versions, are all answered', async () => {
    const codes = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        if (index % 2 === 0) return getHttp2(edge.port, '/x');
        const socket = open('other.test', { ALPNProtocols: ['http/1.1'] });
        socket.write('GET /x HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n');
        let text = '';
        for await (const chunk of socket.setEncoding('utf8')) text += chunk;
        return Number(text.slice(9, 12));
      }),
    );
    expect(codes).toEqual(Array.from({ length: 100 }, () => 200));
    expect(edge.faults).toEqual([]);
  });
});

test(
  'a connection that was made before the end, and not more, is served in it',
  requires(OPENSSL_MISSING),
  async () => {
    const edge = await startTlsNode({ names: ['shop.test'] });
    const made = connect(edge.port, '127.0.0.1');
    await once(made, 'connect');
    // Connections are taken in the order they come, so the first is there by then.
    expect(await getHttp2(edge.port, '/')).toBe(200);
    const ended = edge.tls.stop(20_000);
    const secure = connectTls({ socket: made, servername: 'shop.test', rejectUnauthorized: false });
    secure.write('GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n');
    expect(await textOf(secure)).toMatch(/^HTTP\/1\.1 200 /);
    await ended;
    await edge.stop();
  },
);

async function getHttp2(port: number, path: string): Promise<number> {
  const client = connectHttp2(`https://127.0.0.1:${port}`, {
    rejectUnauthorized: false,
    servername: 'shop.test',
  });
  const stream = client.request({ ':path': path, ':authority': 'shop.test' });
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
  stream.resume();
  await once(stream, 'end');
  client.close();
  return Number(headers[':status']);
}

/** Passes a connection on with its first record cut into records of one octet, each octet in a segment of its own. */
async function oneOctetRelay(port: number): Promise<{ readonly port: number; close(): void }> {
  const { createServer } = await import('node:net');
  const server = createServer((client) => {
    const up = connect({ port, host: '127.0.0.1', noDelay: true });
    let first = true;
    client.on('data', async (chunk: Buffer) => {
      if (!first) return void up.write(chunk);
      first = false;
      client.pause();
      const record = chunk.subarray(5, 5 + chunk.readUInt16BE(3));
      const cut = Buffer.concat([...record].map((octet) => Buffer.from([22, 3, 1, 0, 1, octet])));
      for (const octet of cut) {
        up.write(Buffer.from([octet]));
        await new Promise((resolve) => setImmediate(resolve));
      }
      client.resume();
    });
    up.pipe(client);
    up.on('error', () => client.destroy());
    client.on('error', () => up.destroy());
    client.on('end', () => up.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as { port: number }).port, close: () => void server.close() };
}

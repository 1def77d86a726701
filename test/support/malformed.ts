/** What clients say that nobody should, or nearly: HTTP/1.1, frames of HTTP/2, ClientHellos, PROXY headers, each mutated. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import fc, { type Arbitrary } from 'fast-check';
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  field,
  frame,
  number32,
  requestFields,
  setting,
} from './raw-http2.ts';

/** Where a client speaks: plainly, as a balancer that says for whom, in TLS of one protocol, or where TLS is awaited. */
export type Door = 'plain' | 'balancer' | 'hello' | 'http/1.1' | 'h2';

/** How a client goes. */
export const ENDS = ['end', 'destroy', 'reset'] as const;

export interface Talk {
  readonly door: Door;
  /** What is said, in segments. */
  readonly segments: readonly Buffer[];
  /** Milliseconds that it listens after it. */
  readonly listensMs: number;
  readonly end: (typeof ENDS)[number];
}

const NOISE = fc.uint8Array({ maxLength: 40 }).map((octets) => Buffer.from(octets));

/** Takes a few octets out at some places and puts others in; often does nothing. */
function mutated(octets: Arbitrary<Buffer>): Arbitrary<Buffer> {
  const place = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    drops: fc.oneof(fc.nat(4), fc.nat(400)),
    puts: fc.oneof(NOISE, fc.constantFrom('\r\n', '\n', '\r', '\0', ' ', ':', '\r\n\r\n').map(Buffer.from)),
  });
  const places = fc.oneof(fc.constant([]), fc.array(place, { maxLength: 4 }));
  return fc.tuple(octets, places).map(([whole, changes]) => {
    let made = whole;
    for (const { at, drops, puts } of changes) {
      const from = Math.floor(at * made.length);
      made = Buffer.concat([made.subarray(0, from), puts, made.subarray(from + drops)]);
    }
    return made;
  });
}

const METHODS = ['GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'PRI', 'get', ''];
const TARGETS = [
  '/',
  '/page?a=1&a=2',
  '/form',
  '/cached/1',
  '/members/a',
  '/%00%2e%2e/%zz',
  '//x',
  '*',
  'http://shop.test/absolute',
  'shop.test:443',
  `/${'long/'.repeat(2_000)}`,
  '/.edgeplan/x',
  '',
];
const VERSIONS = ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/1.1 ', ''];
const FIELDS = [
  'Host: shop.test',
  'Host: other.test',
  'Content-Length: 5',
  'Content-Length: 5, 6',
  'Content-Length: 99999999999999999999',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked',
  'Expect: 100-continue',
  'Expect: something',
  'Connection: close',
  'Connection: keep-alive, upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version: 13',
  'Upgrade: h2c',
  'HTTP2-Settings: AAMAAABkAAQAAP__',
  'Content-Type: multipart/form-data; boundary=x',
  'Content-Type: application/json',
  'Accept-Encoding: gzip;q=nan',
  'Range: bytes=9-1,-0',
  'If-None-Match: "a", W/"b", *',
  'Cookie: a=b; a=c; =; \x80',
  'X-Forwarded-For: 1.2.3.4, ::, nonsense',
  ' folded: yes',
  ': no name',
  `X-Long: ${'y'.repeat(40_000)}`,
];
const BODIES = [
  '',
  '',
  'five!',
  '5\r\nfive!\r\n0\r\n\r\n',
  'ffffffffff\r\nx',
  '5;a=b\r\nfive!\r\n0\r\nX: y\r\n\r\n',
  '-1\r\n',
];

const head = fc
  .record({
    method: fc.constantFrom(...METHODS),
    target: fc.constantFrom(...TARGETS),
    version: fc.constantFrom(...VERSIONS),
    fields: fc.array(fc.constantFrom(...FIELDS), { maxLength: 8 }),
    body: fc.constantFrom(...BODIES),
  })
  .map(({ method, target, version, fields, body }) => {
    const lines = [`${method} ${target} ${version}`, 'Host: shop.test', ...fields];
    return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1');
  });

/** One request or some in a row. */
const http1 = mutated(fc.array(head, { minLength: 1, maxLength: 3 }).map((heads) => Buffer.concat(heads)));

const streamId = fc.oneof(fc.nat(9), fc.constantFrom(0x7fffffff, 0x80000001, 1_001));
const known = fc.oneof(
  fc
    .tuple(streamId, fc.constantFrom('/', '/form', '/cached/1', ''), fc.constantFrom('GET', 'POST'))
    .map(([id, path, method]) => {
      const flags = method === 'GET' ? END_HEADERS | END_STREAM : END_HEADERS;
      return frame(FRAME.headers, flags, id, requestFields(path, method));
    }),
  fc
    .tuple(streamId, fc.constantFrom('Connection', 'te', ':status', 'content-length', ''), NOISE)
    .map(([id, name, value]) =>
      frame(
        FRAME.headers,
        END_HEADERS,
        id,
        Buffer.concat([requestFields('/form', 'POST'), field(name, value.toString('latin1'))]),
      ),
    ),
  fc.tuple(streamId, NOISE, fc.nat(255)).map(([id, octets, flags]) => frame(FRAME.data, flags, id, octets)),
  fc.tuple(streamId, fc.nat(20)).map(([id, code]) => frame(FRAME.reset, 0, id, number32(code))),
  fc
    .tuple(fc.nat(9), fc.constantFrom(0, 1, 65_535, 0x7fffffff, 0xffffffff))
    .map(([id, value]) => frame(FRAME.settings, 0, 0, setting(id, value))),
  fc
    .tuple(streamId, fc.constantFrom(0, 1, 0x7fffffff))
    .map(([id, by]) => frame(FRAME.window, 0, id, number32(by))),
);
const anyFrame = fc
  .tuple(fc.nat(12), fc.nat(255), streamId, NOISE)
  .map(([type, flags, id, content]) => frame(type, flags, id, content));

const PREFACE = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(FRAME.settings, 0, 0)]);
const frames = fc.oneof({ weight: 3, arbitrary: known }, anyFrame);
const saidInFrames = fc.array(frames, { maxLength: 12 }).map((list) => Buffer.concat(list));
const http2 = fc.oneof(
  saidInFrames.map((said) => Buffer.concat([PREFACE, said])),
  mutated(saidInFrames).map((said) => Buffer.concat([PREFACE, said])),
  mutated(saidInFrames.map((said) => Buffer.concat([PREFACE, said]))),
);

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const proxy1 = fc
  .tuple(
    fc.constantFrom('PROXY', 'proxy', 'PROXY '),
    fc.constantFrom('TCP4', 'TCP6', 'UNKNOWN', 'UDP4', ''),
    fc.constantFrom('192.0.2.1', '2001:db8::1', '256.0.0.1', ''),
    fc.constantFrom('1', '65535', '65536', '-1', ''),
    fc.constantFrom('\r\n', '\n', '\r', ''),
  )
  .map(([word, family, address, port, end]) =>
    Buffer.from(`${word} ${family} ${address} ${address} ${port} 443${end}`),
  );
const proxy2 = fc
  .tuple(
    fc.constantFrom(0x20, 0x21, 0x22, 0x11),
    fc.constantFrom(0x00, 0x11, 0x12, 0x21, 0x31, 0xff),
    fc.oneof(fc.constant(null), fc.nat(65_535)),
    fc.uint8Array({ maxLength: 60 }),
  )
  .map(([command, family, claimed, rest]) => {
    const length = claimed ?? rest.length;
    return Buffer.concat([SIGNATURE, Buffer.from([command, family, length >> 8, length & 255]), rest]);
  });
const balancer = fc
  .tuple(mutated(fc.oneof(proxy1, proxy2)), http1)
  .map(([preamble, request]) => Buffer.concat([preamble, request]));

/** The first octets of a client of TLS that names `shop.test`. */
export async function recordHello(maxVersion: 'TLSv1.2' | 'TLSv1.3'): Promise<Buffer> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connectTls({
    socket: connect(port, '127.0.0.1'),
    servername: 'shop.test',
    maxVersion,
    ALPNProtocols: ['h2', 'http/1.1'],
  });
  // It is never answered.
  client.on('error', () => undefined);
  const [socket] = await once(server, 'connection');
  const [hello] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  socket.destroy();
  server.close();
  return hello;
}

/** Talks at some doors. */
export function talks(doors: readonly Door[], hellos: readonly Buffer[]): Arbitrary<Talk> {
  const hello = mutated(fc.constantFrom(...hellos));
  const said: Readonly<Record<Door, Arbitrary<Buffer>>> = {
    plain: http1,
    balancer: fc.oneof(balancer, NOISE),
    hello: fc.oneof(hello, hello, http1, NOISE),
    'http/1.1': http1,
    h2: http2,
  };
  const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 });
  return fc.constantFrom(...doors).chain((door) =>
    fc
      .record({
        octets: said[door],
        cuts: fc.oneof(fc.constant([]), places),
        listensMs: fc.constantFrom(0, 0, 5, 50),
        end: fc.constantFrom(...ENDS),
      })
      .map(({ octets, cuts, listensMs, end }) => {
        const at = [...cuts, 1].sort((a, b) => a - b).map((part) => Math.floor(part * octets.length));
        const segments = at.map((to, index) => octets.subarray(at[index - 1] ?? 0, to));
        return { door, segments, listensMs, end };
      }),
  );
}

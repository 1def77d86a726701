/** Client certificates over real TLS: which names ask for one, and what a request has by it, on a node and in an application. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import * as http2 from 'node:http2';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type ConnectionOptions, connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256Hex } from '../../src/base/platform/cryptography.ts';
import { MAX_CLIENT_CERTIFICATES } from '../../src/edge/credentials/limits.ts';
import { compileEdge } from '../../src/edge/middleware/node/edge-input.ts';
import { createEdge } from '../../src/edge/middleware/node/index.ts';
import { seal } from '../../src/engine/compiler/index.ts';
import {
  CLIENT_AUTH,
  EXTENSIONS,
  type Issued,
  issueClient,
  makeClientAuthority,
  SERVER_AUTH,
} from '../support/client-authority.ts';
import { startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { requires } from '../support/requires.ts';

const HOUR = 3_600_000;
const HOST = 'shop.localhost';
const PLAIN = 'plain.localhost';
const keyOf = (name: string): string => `epk_${name}`.padEnd(47, 'x');

const ROOT = makeClientAuthority('Root');
const MIDDLE = makeClientAuthority('Middle', { issuer: ROOT });
const OTHER = makeClientAuthority('Other');
/** The same authority as MIDDLE, certified by another one. */
const MIDDLE_OF_OTHER = makeClientAuthority('Middle', { issuer: OTHER, ofKey: MIDDLE });
/** The certificates of clients by what is special about them. */
const CLIENTS = {
  acme: [issueClient(ROOT, 'acme')],
  beta: [issueClient(ROOT, 'beta')],
  chain: [issueClient(MIDDLE, 'acme'), MIDDLE],
  unordered: [issueClient(MIDDLE, 'acme'), OTHER, ROOT, MIDDLE],
  crossed: [issueClient(MIDDLE, 'acme'), MIDDLE_OF_OTHER, MIDDLE],
  headless: [issueClient(MIDDLE, 'acme')],
  expired: [issueClient(ROOT, 'acme', { notAfter: Date.now() - HOUR })],
  early: [issueClient(ROOT, 'acme', { notBefore: Date.now() + HOUR })],
  stranger: [issueClient(OTHER, 'acme')],
  server: [issueClient(ROOT, 'acme', { extensions: [EXTENSIONS.purposes(SERVER_AUTH)] })],
  nobody: [issueClient(ROOT, 'nobody')],
} satisfies Record<string, readonly Issued[]>;
type Client = keyof typeof CLIENTS;

const gateway = (path: string, auth: object) => ({
  ...{ base_path: path, auth, upstream_headers: { set: { 'X-Consumer': '${consumer}' } } },
});
const API_KEY = { sources: [{ in: 'header', name: 'X-Api-Key' }] };
const MTLS = { ca_pem: ROOT.pem };

function fileOf(domain: string, port: number, gateways: readonly object[]): Uint8Array {
  const text = JSON.stringify({
    domain,
    records: ['@', 'other'].map((name) => ({
      ...{ name, type: 'A', destination: '127.0.0.1', port, scheme: 'Http', proxied: true },
    })),
    consumers: ['acme', 'beta'].map((username) => ({
      username,
      keys: [{ sha256: sha256Hex(keyOf(username)) }],
    })),
    gateways,
  });
  const result = compileEdge(Buffer.from(text), 'edge.yaml');
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return seal(result.plan, { revision: 2 });
}

const GATEWAYS = [
  gateway('/cert', { mtls: MTLS }),
  gateway('/any', { api_key: API_KEY, mtls: MTLS }),
  gateway('/all', { require: 'all', api_key: API_KEY, mtls: MTLS }),
  gateway('/none', { require: 'none', mtls: MTLS }),
  gateway('/other', { mtls: { ca_pem: OTHER.pem } }),
  gateway('/key', { api_key: API_KEY }),
].map((one) => ({ ...one, host_includes: [HOST] }));

const pemOf = (client: Client): Pick<ConnectionOptions, 'cert' | 'key'> => ({
  cert: CLIENTS[client].map(({ pem }) => pem).join(''),
  key: CLIENTS[client][0]!.keyPem,
});

interface Sent {
  readonly client?: Client;
  readonly key?: string;
  readonly tls?: ConnectionOptions;
  readonly host?: string;
}
interface Got {
  readonly status: number;
  /** The consumer that the origin was sent; absent: none. */
  readonly consumer?: string;
}
type Ask = (port: number, path: string, sent?: Sent) => Promise<Got>;

function tlsOptions({ client, tls }: Sent): ConnectionOptions {
  return {
    servername: HOST,
    rejectUnauthorized: false,
    ...(client === undefined ? {} : pemOf(client)),
    ...tls,
  };
}

function gotOf(status: number, text: string): Got {
  if (status !== 200) return { status };
  const consumer = (JSON.parse(text) as { headers: Record<string, string> }).headers['x-consumer'];
  return { status, ...(consumer === undefined ? {} : { consumer }) };
}

const overHttp1: Ask = async (port, path, sent = {}) => {
  const headers = { host: sent.host ?? HOST, ...(sent.key === undefined ? {} : { 'x-api-key': sent.key }) };
  const request = httpsRequest({ host: '127.0.0.1', port, path, headers, agent: false, ...tlsOptions(sent) });
  request.end();
  const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return gotOf(response.statusCode!, text);
};

async function askOn(session: http2.ClientHttp2Session, path: string, sent: Sent = {}): Promise<Got> {
  const stream = session.request({
    ...{ ':authority': sent.host ?? HOST, ':path': path },
    ...(sent.key === undefined ? {} : { 'x-api-key': sent.key }),
  });
  const [head] = (await once(stream, 'response')) as [
    http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader,
  ];
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return gotOf(head[':status']!, text);
}

const overHttp2: Ask = async (port, path, sent = {}) => {
  const session = http2.connect(`https://127.0.0.1:${port}`, tlsOptions(sent));
  try {
    return await askOn(session, path, sent);
  } finally {
    session.destroy();
  }
};

const KEYED = { key: keyOf('acme') };
/** Path, what is sent, what comes of it. */
const MATRIX: readonly (readonly [name: string, path: string, sent: Sent, got: Got])[] = [
  ['a valid certificate', '/cert', { client: 'acme' }, { status: 200, consumer: 'acme' }],
  ['a valid chain', '/cert', { client: 'chain' }, { status: 200, consumer: 'acme' }],
  ['a chain in another order', '/cert', { client: 'unordered' }, { status: 200, consumer: 'acme' }],
  ['a cross-signed chain', '/cert', { client: 'crossed' }, { status: 200, consumer: 'acme' }],
  ['the same at its other authority', '/other', { client: 'crossed' }, { status: 200, consumer: 'acme' }],
  ['a chain without its intermediate', '/cert', { client: 'headless' }, { status: 401 }],
  ['an expired certificate', '/cert', { client: 'expired' }, { status: 401 }],
  ['one that is not valid yet', '/cert', { client: 'early' }, { status: 401 }],
  ['one of an unknown authority', '/cert', { client: 'stranger' }, { status: 401 }],
  ['one for servers', '/cert', { client: 'server' }, { status: 401 }],
  ['one of nobody', '/cert', { client: 'nobody' }, { status: 401 }],
  ['no certificate', '/cert', {}, { status: 401 }],
  ['a key where none is taken', '/cert', KEYED, { status: 401 }],
  ['any: a key', '/any', KEYED, { status: 200, consumer: 'acme' }],
  ['any: a certificate', '/any', { client: 'beta' }, { status: 200, consumer: 'beta' }],
  ['any: both of one consumer', '/any', { client: 'acme', ...KEYED }, { status: 200, consumer: 'acme' }],
  ['any: both, of two consumers', '/any', { client: 'beta', ...KEYED }, { status: 401 }],
  ['any: a key and a refused certificate', '/any', { client: 'stranger', ...KEYED }, { status: 401 }],
  ['all: a key', '/all', KEYED, { status: 401 }],
  ['all: a certificate', '/all', { client: 'acme' }, { status: 401 }],
  ['all: both', '/all', { client: 'acme', ...KEYED }, { status: 200, consumer: 'acme' }],
  ['none: a certificate', '/none', { client: 'acme' }, { status: 200, consumer: 'acme' }],
  ['none: an expired certificate', '/none', { client: 'expired' }, { status: 200 }],
  ['none: no certificate', '/none', {}, { status: 200 }],
  ["the certificate of another gateway's authority", '/other', { client: 'acme' }, { status: 401 }],
  ["the other gateway's own", '/other', { client: 'stranger' }, { status: 200, consumer: 'acme' }],
  ['a certificate where none is taken', '/key', { client: 'acme' }, { status: 401 }],
  [
    'a certificate beside a key where none is taken',
    '/key',
    { client: 'beta', ...KEYED },
    { status: 200, consumer: 'acme' },
  ],
];

const ASKS: readonly (readonly [string, Ask])[] = [
  ['HTTP/1.1', overHttp1],
  ['HTTP/2', overHttp2],
];

describe('a node', requires(OPENSSL_MISSING), () => {
  let node: TlsNode;
  const setPlan = (gateways: readonly object[], digest: string, host = HOST): void => {
    const bytes = fileOf(host, originPort, gateways);
    node.node.plans.set(host, { revision: 2, digest: digest.repeat(64), purgeEpoch: 0, read: () => bytes });
  };
  let originPort = 0;
  beforeAll(async () => {
    const { startOrigin } = await import('../support/edge-tls.ts');
    const origin = await startOrigin();
    originPort = origin.port;
    node = await startTlsNode({ names: [HOST, PLAIN], originPort });
    setPlan(GATEWAYS, 'a');
    return () => void origin.server.close();
  });
  afterAll(() => node.stop());

  describe.each(ASKS)('over %s', (_, ask) => {
    test.each(MATRIX)('%s at %s', async (_name, path, sent, got) => {
      expect(await ask(node.port, path, sent)).toEqual(got);
    });

    test.each(['TLSv1.2', 'TLSv1.3'] as const)('takes a certificate in %s', async (version) => {
      const tls = { minVersion: version, maxVersion: version };
      expect(await ask(node.port, '/cert', { client: 'acme', tls })).toEqual({
        status: 200,
        consumer: 'acme',
      });
      expect(await ask(node.port, '/cert', { client: 'stranger', tls })).toEqual({ status: 401 });
    });
  });

  /** Whether a handshake for a name asks for a certificate. */
  async function asks(servername: string, tls: ConnectionOptions = {}): Promise<boolean> {
    let asked = false;
    const socket = connect({
      ...{ host: '127.0.0.1', port: node.port, servername, rejectUnauthorized: false, enableTrace: false },
      ...pemOf('acme'),
      ...tls,
    });
    // A client that is not asked sends none, and the node has none to judge.
    await once(socket, 'secureConnect');
    socket.write(`GET /cert HTTP/1.1\r\nHost: ${servername}\r\nConnection: close\r\n\r\n`);
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    asked = /"x-consumer":"acme"/.test(text);
    return asked;
  }

  test('asks for certificates on the hosts of the gateways alone', async () => {
    const plan = [gateway('/cert', { require: 'none', mtls: MTLS })];
    expect(await asks(HOST)).toBe(true);
    expect(await asks(`other.${HOST}`)).toBe(false);
    expect(await asks(PLAIN)).toBe(false);
    setPlan(plan, 'b', PLAIN);
    expect(await asks(PLAIN)).toBe(true);
    setPlan([], 'c', PLAIN);
    expect(await asks(PLAIN)).toBe(false);
  });

  test('takes no certificate of one name for another', async () => {
    setPlan([gateway('/cert', { mtls: MTLS })], 'd', PLAIN);
    for (const [, ask] of ASKS) {
      expect(await ask(node.port, '/cert', { client: 'acme', host: PLAIN })).toEqual({ status: 421 });
      const tls = { servername: `other.${HOST}` };
      expect(await ask(node.port, '/cert', { client: 'acme', tls })).toEqual({ status: 421 });
    }
    setPlan([], 'e', PLAIN);
  });

  test('does not resume sessions that have a certificate', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const tls: ConnectionOptions = { minVersion: version, maxVersion: version };
      const open = async (more: ConnectionOptions): Promise<{ isReused: boolean; session: Buffer }> => {
        let session: Buffer | undefined;
        const socket = connect({ host: '127.0.0.1', port: node.port, ...tlsOptions({ tls }), ...more });
        socket.on('session', (one: Buffer) => {
          session = one;
        });
        await once(socket, 'secureConnect');
        const isReused = socket.isSessionReused();
        const own = socket.getSession();
        socket.write(`GET /cert HTTP/1.1\r\nHost: ${more.servername ?? HOST}\r\nConnection: close\r\n\r\n`);
        socket.resume();
        await once(socket, 'close');
        return { isReused, session: session ?? own! };
      };
      const first = await open(pemOf('acme'));
      expect((await open({ session: first.session })).isReused, version).toBe(false);
      // Nor does a session of a name without such a gateway spare the handshake of one that has it.
      const plain = await open({ servername: PLAIN });
      expect((await open({ session: plain.session, servername: PLAIN })).isReused, version).toBe(true);
      expect((await open({ session: plain.session, ...pemOf('acme') })).isReused, version).toBe(false);
    }
  });

  test('judges each request of a connection by the present plan', async () => {
    const session = http2.connect(`https://127.0.0.1:${node.port}`, tlsOptions({ client: 'acme' }));
    expect(await askOn(session, '/cert')).toEqual({ status: 200, consumer: 'acme' });
    setPlan([{ ...gateway('/cert', { mtls: { ca_pem: OTHER.pem } }), host_includes: [HOST] }], 'f');
    expect(await askOn(session, '/cert')).toEqual({ status: 401 });
    setPlan(GATEWAYS, 'a');
    expect(await askOn(session, '/cert')).toEqual({ status: 200, consumer: 'acme' });
    session.destroy();
  });

  test('sends clients whose connection was not asked to another one', async () => {
    setPlan([], '1');
    const session = http2.connect(`https://127.0.0.1:${node.port}`, tlsOptions({ client: 'acme' }));
    expect(await askOn(session, '/cert')).toEqual({ status: 200 });
    setPlan(GATEWAYS, 'a');
    const goaway = once(session, 'goaway');
    expect(await askOn(session, '/cert')).toEqual({ status: 421 });
    await goaway;
    session.destroy();
    setPlan([], '2');
    const agent = new (await import('node:https')).Agent({ keepAlive: true, maxSockets: 1 });
    const on = (path: string): Promise<import('node:http').IncomingMessage> =>
      new Promise((resolve, reject) => {
        const options = { host: '127.0.0.1', port: node.port, path, agent, headers: { host: HOST } };
        httpsRequest({ ...options, ...tlsOptions({ client: 'acme' }) }, (response) => {
          response.resume().once('end', () => resolve(response));
        })
          .once('error', reject)
          .end();
      });
    expect((await on('/cert')).statusCode).toBe(200);
    setPlan(GATEWAYS, 'a');
    const misdirected = await on('/cert');
    expect(misdirected.statusCode).toBe(421);
    expect(misdirected.headers.connection).toBe('close');
    expect((await on('/cert')).statusCode).toBe(200);
    agent.destroy();
  });

  /** What a connection gets from before the gateways, which was not asked for a certificate. */
  const UNASKED: readonly (readonly [name: string, path: string, sent: Sent, got: Got])[] = [
    ['a certificate is required', '/cert', {}, { status: 421 }],
    ['a certificate is required beside a key', '/all', KEYED, { status: 421 }],
    ['all: no credentials', '/all', {}, { status: 421 }],
    ['all: an unknown key', '/all', { key: keyOf('nobody') }, { status: 401 }],
    ['any: a key', '/any', KEYED, { status: 200, consumer: 'acme' }],
    ['any: no credentials', '/any', {}, { status: 401 }],
    ['none', '/none', {}, { status: 200 }],
    ['no client certificates', '/key', {}, { status: 401 }],
    ['an open operation', '/open/status', {}, { status: 200 }],
    ['another operation', '/open/orders', {}, { status: 421 }],
    ['dry_run', '/dry', {}, { status: 200 }],
  ];
  const LATER = [
    ...GATEWAYS,
    {
      ...gateway('/open', { mtls: MTLS }),
      host_includes: [HOST],
      operations: [
        { methods: ['GET'], path: '/status', auth: 'none' },
        { methods: ['GET'], path: '/orders' },
      ],
    },
    { ...gateway('/dry', { mtls: MTLS }), host_includes: [HOST], action_mode: 'dry_run' },
  ];

  test.each(UNASKED)('answers 421 on an older connection where %s', async (_name, path, sent, got) => {
    setPlan([], '3');
    const session = http2.connect(`https://127.0.0.1:${node.port}`, tlsOptions({ client: 'acme' }));
    expect(await askOn(session, path)).toEqual({ status: 200 });
    setPlan(LATER, '4');
    expect(await askOn(session, path, sent)).toEqual(got);
    session.destroy();
    setPlan(GATEWAYS, 'a');
  });

  test('takes requests in clear text and without a server name for ones without a certificate', async () => {
    const { ask } = await import('../support/ask.ts');
    expect((await ask(node.httpPort, '/cert', { from: null, headers: { host: HOST } })).status).toBe(401);
    expect(
      (await ask(node.httpPort, '/any', { from: null, headers: { host: HOST, 'x-api-key': keyOf('acme') } }))
        .status,
    ).toBe(200);
  });

  test('takes a certificate among many others, and ends a handshake with more than 100 KB of them', async () => {
    const sentWith = (others: readonly Issued[]): Sent => ({
      tls: {
        cert: [...CLIENTS.acme, ...others].map(({ pem }) => pem).join(''),
        key: CLIENTS.acme[0]!.keyPem,
      },
    });
    const copies = Array.from({ length: 60 }, () => MIDDLE);
    const others = Array.from({ length: MAX_CLIENT_CERTIFICATES }, (_, at) => makeClientAuthority(`${at}`));
    const taken = { status: 200, consumer: 'acme' };
    expect(await overHttp1(node.port, '/cert', sentWith(copies))).toEqual(taken);
    expect(await overHttp1(node.port, '/cert', sentWith(others.slice(1)))).toEqual(taken);
    expect(await overHttp1(node.port, '/cert', sentWith(others))).toEqual({ status: 401 });
    const big = issueClient(ROOT, 'acme', {
      extensions: [EXTENSIONS.purposes(CLIENT_AUTH), EXTENSIONS.names([0x82, 'a'.repeat(110_000)])],
    });
    await expect(
      overHttp1(node.port, '/cert', { tls: { cert: big.pem, key: big.keyPem } }),
    ).rejects.toThrow();
    expect(await overHttp1(node.port, '/cert', { client: 'acme' })).toEqual({
      status: 200,
      consumer: 'acme',
    });
  });

  test('has no certificate of a trusted proxy for that of the visitor', async () => {
    const behind = await startTlsNode({ names: [HOST], originPort, trusted: ['127.0.0.1'] });
    const bytes = fileOf(HOST, originPort, GATEWAYS);
    behind.node.plans.set(HOST, { revision: 2, digest: 'a'.repeat(64), purgeEpoch: 0, read: () => bytes });
    expect(await overHttp1(behind.port, '/cert', { client: 'acme' })).toEqual({ status: 401 });
    await behind.stop();
  });

  test('reports no fault', () => {
    expect(node.faults).toEqual([]);
  });
});

describe('the middleware for Node', requires(OPENSSL_MISSING), () => {
  const application = (request: { headers: object }, response: import('node:http').ServerResponse): void => {
    response.end(JSON.stringify({ headers: { ...request.headers } }));
  };
  const stops: (() => unknown)[] = [];
  let port = 0;
  beforeAll(async () => {
    const holder = await startTlsNode({ names: [HOST] });
    const own = {
      cert: readFileSync(join(holder.folder, 'certs', `${HOST}.crt`)),
      key: readFileSync(join(holder.folder, 'certs', `${HOST}.key`)),
    };
    await holder.stop();
    const edge = await createEdge({ plans: [fileOf(HOST, 1, GATEWAYS)], secret: 's'.repeat(32) });
    const tls = { ...own, requestCert: true, rejectUnauthorized: false, allowHTTP1: true };
    const server = createSecureServer(tls, edge.wrap(application as never) as never);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
    const unasked = createHttpsServer(own, edge.wrap(application as never));
    unasked.listen(0, '127.0.0.1');
    await once(unasked, 'listening');
    unaskedPort = (unasked.address() as AddressInfo).port;
    stops.push(
      () => edge.close(),
      () => server.close(),
      () => unasked.close(),
    );
  });
  let unaskedPort = 0;
  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  describe.each(ASKS)('over %s', (_, ask) => {
    test.each(MATRIX)('%s at %s', async (_name, path, sent, got) => {
      expect(await ask(port, path, sent)).toEqual(got);
    });
  });

  test('has no certificate of a server that does not ask for one', async () => {
    expect(await overHttp1(unaskedPort, '/cert', { client: 'acme' })).toEqual({ status: 401 });
    expect(await overHttp1(unaskedPort, '/any', { client: 'acme', ...KEYED })).toEqual({
      status: 200,
      consumer: 'acme',
    });
  });
});

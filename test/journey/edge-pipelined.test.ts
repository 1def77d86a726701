/** Requests sent behind each other without waiting (RFC 9112 §9.3.2), by clients that do not stay. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RequestLogEntry } from '../../src/edge/proxy/log/request-log.ts';
import { planOf, startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { type RawOrigin, say, startRawOrigin, statusesOf, textOf } from '../support/raw.ts';
import { requires } from '../support/requires.ts';
import { until } from '../support/until.ts';

const OCTETS = 300_000;
/** As many as the node keeps connections to one origin. */
const CLIENTS = 64;
const GET = 'GET /large HTTP/1.1\r\nHost: shop.test\r\n\r\n';

describe('pipelining', requires(OPENSSL_MISSING), () => {
  let origin: RawOrigin;
  let edge: TlsNode;
  beforeAll(async () => {
    const answerOf = (body: string): string =>
      `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const large = answerOf('x'.repeat(OCTETS));
    origin = await startRawOrigin(({ socket, path }) => {
      socket.write(path.startsWith('/small/') ? answerOf(`<${path}>`) : large);
    });
    edge = await startTlsNode({ names: ['shop.test'] });
    const bytes = planOf('shop.test', origin.port);
    const plan = { revision: 2, digest: 'e'.repeat(64), purgeEpoch: 0, read: () => bytes };
    edge.node.plans.set('shop.test', plan);
  });
  afterAll(async () => {
    await edge.stop();
    await origin.close();
  });

  test('clients that leave with pending responses leave no open request', async () => {
    const clients = Array.from({ length: CLIENTS }, () => connect(edge.httpPort, '127.0.0.1'));
    await Promise.all(
      clients.map(async (socket) => {
        socket.on('error', () => undefined);
        socket.write(GET.repeat(3));
        await once(socket, 'readable');
        socket.resetAndDestroy();
      }),
    );
    const last = GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
    const texts = await Promise.all(clients.map(() => say(edge.httpPort, last)));
    expect(texts.map(statusesOf)).toEqual(clients.map(() => [200]));
    await until(() => edge.entries.length >= origin.seen.length, 'every request to be told of');
  });

  test('many pipelined responses arrive in order', async () => {
    const gets = Array.from(
      { length: 40 },
      (_, at) => `GET /${at} HTTP/1.1\r\nHost: shop.test\r\n${at === 39 ? 'Connection: close\r\n' : ''}\r\n`,
    );
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    const text = await say(edge.httpPort, gets.join(''));
    process.off('warning', note);
    expect(warnings).toEqual([]);
    expect(statusesOf(text)).toEqual(gets.map(() => 200));
  });

  test.each(['HTTP', 'TLS'])('small pipelined responses over %s arrive whole', async (over) => {
    const paths = Array.from({ length: 20 }, (_, at) => `/small/${over}/${at}`);
    const gets = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: shop.test\r\n\r\n`);
    const options = { host: '127.0.0.1', servername: 'shop.test', rejectUnauthorized: false };
    const socket =
      over === 'TLS'
        ? connectTls({ ...options, port: edge.port, ALPNProtocols: ['http/1.1'] })
        : connect(edge.httpPort, '127.0.0.1');
    const text = textOf(socket);
    // The first is alone on its connection, those behind it wait for each other.
    socket.write(gets[0]!);
    await once(socket, 'data');
    socket.write(
      gets
        .slice(1)
        .join('')
        .replace(/\r\n\r\n$/, '\r\nConnection: close\r\n\r\n'),
    );
    expect((await text).match(/<[^>]*>/g)).toEqual(paths.map((path) => `<${path}>`));
    const told = (): readonly RequestLogEntry[] =>
      edge.entries.filter(({ exchange }) => exchange?.request.target.startsWith(`/small/${over}/`));
    await until(() => told().length === paths.length, 'every request to be told of');
    const outcomes = told().map(({ octets, fault }) => ({ octets, fault }));
    expect(outcomes).toEqual(paths.map(({ length }) => ({ octets: length + 2, fault: null })));
  });
});

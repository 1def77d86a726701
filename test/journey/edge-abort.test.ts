/** A client that goes away before its answer begins: the origin is not left working for nobody. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect as connectHttp2, constants } from 'node:http2';
import { request as requestHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { planOf, startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { requires } from '../support/requires.ts';

const HOST = 'shop.test';

describe('a client that leaves before the head of its response', requires(OPENSSL_MISSING), () => {
  let edge: TlsNode;
  let origin: Server;

  beforeAll(async () => {
    // Takes requests, answers none.
    origin = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(origin, 'listening');
    edge = await startTlsNode({ names: [HOST], bodyOctets: 0 });
    const bytes = planOf(HOST, (origin.address() as AddressInfo).port);
    edge.node.plans.set(HOST, { revision: 2, digest: 'd'.repeat(64), purgeEpoch: 0, read: () => bytes });
  });

  afterAll(async () => {
    await edge.stop();
    origin.closeAllConnections();
    await new Promise((resolve) => origin.close(resolve));
  });

  /** Asks, leaves once the origin has the request, and waits until the origin's connection is gone. */
  async function leave(ask: () => () => void): Promise<void> {
    const before = edge.entries.length;
    const arrived = once(origin, 'request') as Promise<[IncomingMessage]>;
    const gone = ask();
    const [{ socket }] = await arrived;
    gone();
    // `once` would take the error for it with which a half body ends.
    await new Promise((resolve) => socket.on('close', resolve));
    expect(edge.entries.slice(before).map(({ fault }) => fault)).toEqual(['aborted']);
    expect(edge.faults).toEqual([]);
  }

  test('over HTTP/1.1 its request to the origin is aborted', async () => {
    await leave(() => {
      const headers = { host: HOST };
      const where = { host: '127.0.0.1', port: edge.port, servername: HOST, rejectUnauthorized: false };
      const asked = requestHttps({ ...where, headers, agent: false });
      asked.on('error', () => undefined);
      asked.end();
      return () => asked.destroy();
    });
  });

  test('over HTTP/2 only the request of its stream is aborted', async () => {
    const client = connectHttp2(`https://127.0.0.1:${edge.port}`, {
      servername: HOST,
      rejectUnauthorized: false,
    });
    const fields = { ':authority': HOST };
    const arrived = once(origin, 'request') as Promise<[IncomingMessage]>;
    const stays = client.request({ ...fields, ':path': '/stays' });
    stays.on('error', () => undefined);
    const [kept] = await arrived;
    await leave(() => {
      const stream = client.request({ ...fields, ':path': '/leaves' });
      return () => stream.close(constants.NGHTTP2_CANCEL);
    });
    expect(kept.socket.destroyed).toBe(false);
    client.destroy();
    await once(kept.socket, 'close');
  });

  test('a request is aborted while its body is being sent', async () => {
    await leave(() => {
      const headers = { host: HOST, 'content-length': '10' };
      const where = { host: '127.0.0.1', port: edge.port, servername: HOST, rejectUnauthorized: false };
      const asked = requestHttps({ ...where, method: 'POST', headers, agent: false });
      asked.on('error', () => undefined);
      asked.write('half');
      return () => asked.destroy();
    });
  });
});

/** A node that gets SIGTERM in the middle of traffic: readiness first, then the connections, then the listener. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request, type Server } from 'node:http';
import { connect as connectHttp2, constants } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli } from '../support/built.ts';
import { makeCertificate, OPENSSL_MISSING } from '../support/make-certificate.ts';
import { until } from '../support/publish-setup.ts';
import { requires } from '../support/requires.ts';
import { ask, startWorkerNode } from '../support/worker-node.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-node-drain-'));
const file = join(folder, 'edge.yaml');
const certificates = join(folder, 'certificates');
let origin: Server;

beforeAll(async () => {
  await builtCli();
  origin = createServer((_, response) => response.end('served'));
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  const { port } = origin.address() as AddressInfo;
  writeFileSync(
    file,
    `domain: { name: shop.test }
records:
  - { name: '@', type: A, destination: 127.0.0.1, scheme: Http, port: ${port}, proxied: true }
`,
  );
  if (OPENSSL_MISSING !== null) return;
  const pair = { cert: join(certificates, 'shop.test.crt'), key: join(certificates, 'shop.test.key') };
  await makeCertificate({ names: ['shop.test'], ...pair });
}, 120_000);
afterAll(() => {
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What a client saw until its server asked it to leave. */
interface Seen {
  answers: number;
  readonly faults: string[];
  left: boolean;
}

const CLIENTS = 16;

/** Asks without pause on one connection of HTTP/1.1, until an answer says that it was the last. */
async function askOn(port: number, seen: Seen): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!seen.left) {
    await new Promise<void>((resolve) => {
      const sent = request({ host: '127.0.0.1', port, agent, headers: { host: 'shop.test' } });
      const fail = (error: Error): void => {
        seen.faults.push(error.message);
        seen.left = true;
        resolve();
      };
      sent.on('error', fail);
      sent.on('response', (response) => {
        if (response.statusCode !== 200) seen.faults.push(`status ${response.statusCode}`);
        seen.answers++;
        if (response.headers.connection === 'close') seen.left = true;
        response.on('error', fail).on('end', resolve).resume();
      });
      sent.end();
    });
  }
  agent.destroy();
}

/**
 * The same on one connection of HTTP/2, until a GOAWAY comes. A request that the client had ready when the GOAWAY came is
 * refused by the client itself and goes out on another connection (RFC 9113 §8.7).
 */
async function askOnHttp2(port: number, seen: Seen): Promise<void> {
  const options = { servername: 'shop.test', rejectUnauthorized: false };
  let session = connectHttp2(`https://127.0.0.1:${port}`, options);
  session.on('error', (error) => seen.faults.push(error.message));
  session.on('goaway', (code) => {
    if (code !== 0) seen.faults.push(`GOAWAY ${code}`);
    seen.left = true;
  });
  let refused = false;
  const askOnce = (): Promise<void> =>
    new Promise((resolve) => {
      const stream = session.request({ ':path': '/', ':authority': 'shop.test' });
      stream.on('response', (headers) => {
        if (headers[':status'] !== 200) seen.faults.push(`status ${headers[':status']}`);
        seen.answers++;
      });
      stream.on('error', (error) => {
        if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) refused = true;
        else seen.faults.push(error.message);
      });
      stream.on('close', resolve).resume();
      stream.end();
    });
  while (!seen.left && !refused) await askOnce();
  await until(() => seen.left, 'the GOAWAY');
  session.close();
  if (!refused) return;
  session = connectHttp2(`https://127.0.0.1:${port}`, options);
  await askOnce();
  session.close();
}

const PATIENT = { timeout: 120_000 };

describe.each(['1', '2'])('a node of %s processes', (workers) => {
  test('SIGTERM fails no request of busy keep-alive clients', requires(OPENSSL_MISSING), async () => {
    const node = await startWorkerNode(
      [
        ...['--file', file, '--data', mkdtempSync(join(folder, 'data-')), '--workers', workers],
        ...['--tls-port', '0', '--certificates', certificates, '--drain', '3600'],
      ],
      { cwd: folder },
    );
    const clients = Array.from({ length: CLIENTS }, (): Seen => ({ answers: 0, faults: [], left: false }));
    const asking = clients.map((seen, index) =>
      index % 2 === 0 ? askOn(node.port, seen) : askOnHttp2(node.tlsPort!, seen),
    );
    await until(() => clients.every(({ answers }) => answers >= 5), 'traffic');
    node.signal('SIGTERM');
    await Promise.all(asking);
    expect(clients.flatMap(({ faults }) => faults)).toEqual([]);
    // A load balancer that has not noticed yet is still served.
    expect(await (await fetch(`${node.operations}/readyz`)).text()).toBe('draining\n');
    expect((await ask({ port: node.port, path: '/' })).status).toBe(200);
    node.signal('SIGTERM');
    expect(await node.ended).toBe(4);
  });

  test('the drain ends after its time, and SIGINT skips it', PATIENT, async () => {
    const start = (drain: string) => {
      const data = mkdtempSync(join(folder, 'data-'));
      const args = ['--file', file, '--data', data, '--workers', workers, '--drain', drain];
      return startWorkerNode(args, { cwd: folder });
    };
    const drained = await start('1');
    drained.signal('SIGTERM');
    expect(await drained.ended).toBe(0);
    const interrupted = await start('3600');
    interrupted.signal('SIGINT');
    expect(await interrupted.ended).toBe(0);
  });
});

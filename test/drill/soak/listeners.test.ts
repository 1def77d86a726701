/**
 * A node as a process whose listeners hear nonsense of every kind: it serves on, reports at most one kind of it a minute, and when
 * its clients are gone nothing of them is left. `EDGEPLAN_TALKS` sets how many clients there are, `EDGEPLAN_SEED` which.
 */
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createConnectionBounds } from '../../../src/edge/listeners/connection-limits.ts';
import { builtCli } from '../../support/built.ts';
import { startTlsNode } from '../../support/edge-tls.ts';
import { makeCertificate, OPENSSL_MISSING } from '../../support/make-certificate.ts';
import { type Door, recordHello, type Talk, talks } from '../../support/malformed.ts';
import { say, statusesOf } from '../../support/raw.ts';
import { requires } from '../../support/requires.ts';
import { sizeOf } from '../../support/size.ts';
import { until } from '../../support/until.ts';
import { type Left, type SoakedNode, startSoakedNode } from './soaked-node.ts';
import { type Ports, startSoakOrigin } from './traffic.ts';

const TALKS = sizeOf('EDGEPLAN_TALKS', { usual: 600, full: 600 });
const SEED = Number(process.env['EDGEPLAN_SEED'] ?? 1);
const AT_ONCE = 12;
/** An address of this machine that the node takes for a balancer's. */
const BALANCER = '127.0.0.2';
/** Octets by which what is held after a collection may grow from the first half of the talks to the second. */
const FLAT = 3 * 1024 * 1024;
/** Timers and the like that may be under way in the end beyond those at the start: of caches and counts. */
const SPARE = 8;
const ORDINARY = 'GET /page HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n';

const MISSING =
  OPENSSL_MISSING ?? (existsSync('/proc/self/fd') ? null : 'no /proc: open files cannot be counted here');

describe(`a node that hears nonsense (seed ${SEED})`, requires(MISSING), () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-listeners-'));
  let origin: Awaited<ReturnType<typeof startSoakOrigin>>;
  let node: SoakedNode;
  let hellos: readonly Buffer[];
  beforeAll(async () => {
    await builtCli();
    hellos = [await recordHello('TLSv1.2'), await recordHello('TLSv1.3')];
    const [cert, key] = [join(folder, 'certs', 'shop.crt'), join(folder, 'certs', 'shop.key')];
    mkdirSync(join(folder, 'certs'));
    await makeCertificate({ names: ['shop.test'], cert, key });
    origin = await startSoakOrigin();
    const file = join(folder, 'edge.yaml');
    writeFileSync(
      file,
      `domain: shop.test
records:
  - { id: 1, name: '@', type: A, destination: 127.0.0.1, port: ${(origin.address() as AddressInfo).port}, scheme: Http, proxied: true }
rules:
  - { id: 1, type: captcha, path_includes: ['/members/*'] }
  - { id: 2, type: waf, path_includes: ['/form'], paranoia: 1, threshold: 5, body_cap_kb: 64 }
  - { id: 3, type: cache, path_includes: ['/cached/*'] }
  - { id: 4, type: rate_limit, path_includes: ['/page'], limit: 1000000, window_sec: 60 }
`,
    );
    node = await startSoakedNode({ folder, file, args: ['--proxy-protocol', BALANCER] });
  }, 120_000);
  afterAll(async () => {
    origin.closeAllConnections();
    node.child.kill('SIGTERM');
    await once(node.child, 'close');
    origin.close();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  /** What the node holds once nothing is open that was not in the beginning. */
  async function settled(before: Left): Promise<Left> {
    await until(async () => (await node.left()).files <= before.files, 'everything is closed');
    return node.left();
  }

  test(`and serves on, ${TALKS} clients later`, { timeout: 240_000 + TALKS * 100 }, async () => {
    expect(statusesOf(await say(node.http, ORDINARY))).toEqual([200]);
    const before = await node.left();
    const doors: readonly Door[] = ['plain', 'balancer', 'hello', 'http/1.1'];
    const all = fc.sample(talks(doors, hellos), { numRuns: TALKS, seed: SEED });
    const half = Math.ceil(all.length / 2);
    await talkAll(node, all.slice(0, half));
    const first = await settled(before);
    await talkAll(node, all.slice(half));
    const second = await settled(before);
    expect(statusesOf(await say(node.http, ORDINARY))).toEqual([200]);
    expect(node.child.exitCode).toBeNull();
    // Plain HTTP on the port for TLS is reported once a minute.
    expect(node.said.filter((line) => !line.includes('sent HTTP without TLS'))).toEqual([]);
    expect(second.held - first.held).toBeLessThan(FLAT);
    expect(second.resources).toBeLessThanOrEqual(before.resources + SPARE);
  });

  // Node (seen in 20.20) neither tells of a session that nghttp2 has ended by itself nor reads on: only time closes those.
  test('and loses no connection of HTTP/2', { timeout: 240_000 + TALKS * 100 }, async () => {
    const connections = createConnectionBounds({
      maxConnections: 10_000,
      perAddress: 10_000,
      isProxy: () => false,
      onRefused: () => undefined,
    });
    const { port } = origin.address() as AddressInfo;
    const times = { idleMs: 1_000, stallMs: 1_000 };
    const edge = await startTlsNode({ names: ['shop.test'], originPort: port, connections, ...times });
    try {
      const all = fc.sample(talks(['h2'], hellos), { numRuns: Math.ceil(TALKS / 4), seed: SEED });
      await talkAll({ http: edge.httpPort, tls: edge.port }, all);
      await until(() => connections.counts().open === 0, 'everything is closed');
      expect(statusesOf(await say(edge.httpPort, ORDINARY))).toEqual([200]);
      expect(edge.faults).toEqual([]);
    } finally {
      await edge.stop();
    }
  });
});

async function talkAll(node: Ports, all: readonly Talk[]): Promise<void> {
  const left = all.values();
  // As many take from the same list.
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const one of left) await talk(node, one);
    }),
  );
}

/** Says it all, listens a while unless the node hangs up, and leaves. */
async function talk({ http, tls }: Ports, { door, segments, listensMs, end }: Talk): Promise<void> {
  const plain = connect({
    host: '127.0.0.1',
    port: door === 'plain' || door === 'balancer' ? http : tls,
    noDelay: true,
    ...(door === 'balancer' ? { localAddress: BALANCER } : {}),
  });
  // A connection that breaks is told by `close`.
  plain.on('error', () => undefined);
  await once(plain, 'connect');
  const speaker = door === 'http/1.1' || door === 'h2' ? await encrypted(plain, door) : plain;
  const gone = new Promise((resolve) => speaker.once('close', resolve));
  speaker.resume();
  for (const segment of segments) {
    speaker.write(segment);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, listensMs))]);
  if (end === 'end') speaker.end();
  else if (end === 'reset') plain.resetAndDestroy();
  else speaker.destroy();
  // Who only stops speaking may be waited for: the node has the time of a whole request for it.
  const late = setTimeout(() => speaker.destroy(), 200);
  await gone;
  clearTimeout(late);
}

async function encrypted(socket: Socket, protocol: string): Promise<Socket> {
  const client = connectTls({
    socket,
    servername: 'shop.test',
    rejectUnauthorized: false,
    ALPNProtocols: [protocol],
  });
  client.on('error', () => undefined);
  await once(client, 'secureConnect');
  return client;
}

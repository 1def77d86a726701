/** Probes of origin pools begin with the node: what it knows of origins before its first visitor. */
import { afterEach, describe, expect, test } from 'vitest';
import { startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { type RawOrigin, say, startRawOrigin, statusesOf } from '../support/raw.ts';
import { requires } from '../support/requires.ts';
import { until } from '../support/until.ts';

const GET = 'GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const DOWN = 'HTTP/1.1 503 No\r\nContent-Length: 4\r\n\r\ndown';

describe('probes of a pool', requires(OPENSSL_MISSING), () => {
  const running: { stop?(): unknown; close?(): unknown }[] = [];
  afterEach(async () => {
    for (const one of running.splice(0)) await (one.stop?.() ?? one.close?.());
  });

  async function start(origins: readonly RawOrigin[], check: object): Promise<TlsNode> {
    const rule = {
      id: 1,
      type: 'origin_pool',
      origins: origins.map(({ port }) => ({ address: '127.0.0.1', port, scheme: 'http' })),
      health_check: { path: '/healthz', interval_sec: 1, unhealthy_threshold: 1, timeout_sec: 1, ...check },
    };
    const edge = await startTlsNode({
      names: ['shop.test'],
      originPort: origins[0]!.port,
      plan: { rules: [rule] },
    });
    running.push(edge, ...origins);
    return edge;
  }

  const answering = (answer: string): Promise<RawOrigin> =>
    startRawOrigin(({ socket }) => void socket.write(answer));

  test('no visitor reaches an origin that was down before the first one came', async () => {
    const [bad, good] = [await answering(DOWN), await answering(OK)];
    const { node, httpPort } = await start([bad, good], { enabled: true });
    await until(() => !node.probing(), 'the end of the first round');
    expect([bad.seen[0], good.seen[0]]).toEqual(['GET /healthz', 'GET /healthz']);
    expect(node.origins.down()).toBe(1);
    for (let visitor = 0; visitor < 6; visitor++) {
      expect(statusesOf(await say(httpPort, GET))).toEqual([200]);
    }
    expect(bad.seen).not.toContain('GET /');
  });

  test('an origin that does not answer delays the node for a bounded time', async () => {
    const [silent, good] = [await startRawOrigin(() => undefined), await answering(OK)];
    const { node } = await start([silent, good], { enabled: true, timeout_sec: 60 });
    expect(node.probing()).toBe(true);
    await until(() => silent.seen.length > 0, 'the first probe');
    expect(node.probing()).toBe(true);
    await until(() => !node.probing(), 'the bound of the first round');
    expect(node.origins.unprobed()).toBe(1);
  });

  test('a node without probes waits for none, and opens no plan before its first request', async () => {
    const good = await answering(OK);
    const { node } = await start([good], { enabled: false });
    await until(() => !node.probing(), 'the look into the plan');
    expect(node.plans.opened).toBe(0);
    expect(good.seen).toEqual([]);
  });

  test('failed requests eject an origin as the rule says, with and without probes', async () => {
    for (const enabled of [false, true]) {
      const [bad, good] = [await startRawOrigin(({ socket }) => socket.destroy()), await answering(OK)];
      const { httpPort } = await start([bad, good], {
        enabled,
        interval_sec: 3_600,
        unhealthy_threshold: 2,
        eject_sec: 3_600,
      });
      for (let visitor = 0; visitor < 10; visitor++) {
        expect(statusesOf(await say(httpPort, GET))).toEqual([200]);
      }
      expect([enabled, bad.seen.filter((line) => line === 'GET /').length]).toEqual([enabled, 2]);
    }
  });

  test('an ejected origin gets requests again after the seconds of its rule', async () => {
    const [bad, good] = [await startRawOrigin(({ socket }) => socket.destroy()), await answering(OK)];
    const { httpPort } = await start([bad, good], { enabled: false, unhealthy_threshold: 1, eject_sec: 1 });
    const asked = (): number => bad.seen.length;
    await until(async () => {
      await say(httpPort, GET);
      return asked() >= 2;
    }, 'a request after the ejection');
  });

  test('a pool that a later plan removes is probed no more', async () => {
    const good = await answering(OK);
    const { node } = await start([good], { enabled: true });
    await until(() => good.seen.length > 1, 'probes');
    node.plans.delete('shop.test');
    const before = good.seen.length;
    const other = await answering(OK);
    running.push(other);
    await start([other], { enabled: true });
    await until(() => other.seen.length > 2, 'probes of another node');
    expect(good.seen.length).toBeLessThanOrEqual(before + 1);
  });
});

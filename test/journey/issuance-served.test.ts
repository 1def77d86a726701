/**
 * `edgeplan serve --acme` without zones, Pebble, and a node as processes: certificates are proved by HTTP-01 through the node,
 * which serves them, and their renewals, without a restart.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli } from '../support/built.ts';
import { NXDOMAIN, type ScriptedServer, startDnsServer } from '../support/dns-server.ts';
import { handshake, servedPrint } from '../support/feed-certificate.ts';
import { freePort } from '../support/free-ports.ts';
import { PEBBLE_MISSING, type Pebble, startPebble } from '../support/pebble.ts';
import { requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';
import { until } from '../support/until.ts';
import { startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

/** Seconds that Pebble's certificates live: they are renewed after two thirds. */
const LIFE_SEC = 60;
const PATIENCE_MS = 90_000;

describe('certificates of a server without zones', requires(PEBBLE_MISSING), () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-issuance-'));
  let dns: ScriptedServer;
  let pebble: Pebble;
  let served: Served;
  let node: WorkerNode;
  let origin: Server;

  beforeAll(async () => {
    await builtCli();
    dns = await startDnsServer('127.0.0.1', 0, ({ name, type }) => {
      if (!name.endsWith('.test')) return { rcode: NXDOMAIN };
      return { answers: type === 'A' ? [{ name, type: 'A', ttl: 60, data: '127.0.0.1' }] : [] };
    });
    origin = createServer((_request, response) => response.end('the origin')).listen(0, '127.0.0.1');
    await once(origin, 'listening');
    const [httpPort, tlsPort] = [await freePort(), await freePort()];
    pebble = await startPebble({ folder, dnsPort: dns.port, httpPort, tlsPort, validitySec: LIFE_SEC });
    served = await serve({
      tier: 'enterprise',
      args: ['--acme', pebble.directoryUrl, '--acme-email', 'ops@example.net'],
      env: { NODE_EXTRA_CA_CERTS: pebble.authority },
    });
    const ports = ['--port', String(httpPort), '--tls-port', String(tlsPort)];
    const args = ['--control', served.url, '--data', join(folder, 'node'), ...ports];
    node = await startWorkerNode(args, { cwd: folder, env: await served.node('edge-1') });
  }, 240_000);
  afterAll(async () => {
    node?.signal('SIGTERM');
    await node?.ended;
    await served?.stop();
    pebble?.stop();
    origin?.close();
    await dns?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  const ssl = (domain: string) => `/domains/${domain}/ssl/`;
  const print = (host: string) => servedPrint(node.tlsPort!, host);
  const prints = (host: string, other: string | null): Promise<string> =>
    until(
      async () => {
        const found = await print(host);
        return found === other ? null : found;
      },
      `a certificate for ${host}`,
      PATIENCE_MS,
    );

  async function addRecord(domain: string, name: string): Promise<void> {
    const { port } = origin.address() as AddressInfo;
    const record = { type: 'A', name, destination: '127.0.0.1', port, scheme: 'http', proxied: true };
    const { status, body } = await served.call('POST', `/domains/${domain}/records/`, record);
    expect([status, body]).toEqual([200, expect.anything()]);
  }

  async function addDomain(name: string): Promise<void> {
    await served.call('POST', '/domains/', { name });
    for (const host of ['@', 'www']) await addRecord(name, host);
    await served.call('POST', `/domains/${name}/check-ns`);
  }

  async function certificatesOf(domain: string) {
    const { body } = await served.call('GET', ssl(domain));
    return body.certificates as readonly {
      readonly id: number;
      readonly names: readonly string[];
      readonly status: string;
      readonly source: string;
    }[];
  }

  /** The body of the answer to a request over HTTPS. @throws the connection's error */
  function get(agent: Agent, host: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const sent = request({
        agent,
        host: '127.0.0.1',
        port: node.tlsPort!,
        servername: host,
        headers: { host },
      });
      sent.on('error', reject);
      sent.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.on('error', reject);
        response.on('end', () => resolve(text));
      });
      sent.end();
    });
  }

  test('a domain gets a certificate of its names, proved through the HTTP port of the node', async () => {
    expect(await print('shop.test')).toBeNull();
    await addDomain('shop.test');
    await prints('shop.test', null);
    const socket = await handshake(node.tlsPort!, 'www.shop.test');
    const { issuer, subjectaltname } = socket.getPeerCertificate();
    socket.destroy();
    expect(issuer.CN).toMatch(/^Pebble Intermediate CA/);
    expect(subjectaltname).toBe('DNS:shop.test, DNS:www.shop.test');
    expect(await certificatesOf('shop.test')).toMatchObject([
      {
        status: expect.stringMatching(/^(active|expiring)$/),
        source: 'acme',
        names: ['shop.test', 'www.shop.test'],
      },
    ]);
  });

  test('a certificate is not issued again within a day, nor for names that are covered', async () => {
    const again = { names: ['shop.test', 'www.shop.test'] };
    expect(await served.call('POST', `${ssl('shop.test')}issue`, again)).toMatchObject({
      status: 409,
      body: expect.toSatisfy((body) => JSON.stringify(body).includes('was issued within a day')),
    });
    expect(await served.call('POST', `${ssl('shop.test')}issue`, {})).toMatchObject({
      status: 409,
      body: expect.toSatisfy((body) => JSON.stringify(body).includes('no proxied name is without')),
    });
    const wildcard = { names: ['*.shop.test'] };
    expect(await served.call('POST', `${ssl('shop.test')}issue`, wildcard)).toMatchObject({ status: 400 });
  });

  test('a renewed certificate is served to new connections, and an open connection goes on', {
    timeout: 240_000,
  }, async () => {
    await addDomain('long.test');
    const before = await prints('long.test', null);
    const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
    let connections = 0;
    const created = agent.createConnection.bind(agent);
    agent.createConnection = (...args) => {
      connections += 1;
      return created(...args);
    };
    try {
      let after: string | null = before;
      await until(
        async () => {
          expect(await get(agent, 'long.test')).toBe('the origin');
          after = await print('long.test');
          // A handshake is refused at no time.
          expect(after).not.toBeNull();
          await new Promise((resolve) => setTimeout(resolve, 250));
          return after !== before;
        },
        'the renewal',
        PATIENCE_MS,
      );
      expect(await get(agent, 'long.test')).toBe('the origin');
      expect(connections).toBe(1);
    } finally {
      agent.destroy();
    }
    expect(await certificatesOf('long.test')).toHaveLength(1);
    const audit = await served.run(['audit', 'long.test', '--json']);
    expect(audit).toMatchObject({ code: 0, out: expect.stringMatching(/certificate\.issue/) });
    expect(audit.out).toMatch(/certificate\.renew/);
  });

  test('a later host gets a certificate of its own', async () => {
    await addRecord('shop.test', 'api');
    await prints('api.shop.test', null);
    const names = (await certificatesOf('shop.test')).map((one) => one.names);
    expect(names).toEqual(expect.arrayContaining([['shop.test', 'www.shop.test'], ['api.shop.test']]));
  });
});

/** `edgeplan node --workers --acme`: one process orders a certificate, a worker answers the authority, all serve it. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli } from '../support/built.ts';
import { type ScriptedServer, startDnsServer } from '../support/dns-server.ts';
import { freePort } from '../support/free-ports.ts';
import { PEBBLE_MISSING, type Pebble, startPebble } from '../support/pebble.ts';
import { until } from '../support/publish-setup.ts';
import { requires } from '../support/requires.ts';
import { ADDRESSES, startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

describe('ACME with workers', requires(PEBBLE_MISSING), () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-workers-acme-'));
  const certs = join(folder, 'certs');
  let dns: ScriptedServer;
  let pebble: Pebble;
  let node: WorkerNode;

  beforeAll(async () => {
    await builtCli();
    dns = await startDnsServer('127.0.0.1', 0, ({ name, type }) => ({
      answers: type === 'A' ? [{ name, type: 'A', ttl: 60, data: '127.0.0.1' }] : [],
    }));
    const [httpPort, tlsPort] = [await freePort(), await freePort()];
    pebble = await startPebble({ folder, dnsPort: dns.port, httpPort, tlsPort });
    mkdirSync(certs);
    const file = join(folder, 'edge.yaml');
    writeFileSync(file, 'domain: { name: shop.test }\nrecords: []\nrules: []\n');
    const ports = ['--port', String(httpPort), '--tls-port', String(tlsPort)];
    const order = ['--certificates', certs, '--acme', pebble.directoryUrl, '--acme-name', 'shop.test'];
    node = await startWorkerNode(
      ['--workers', '3', '--file', file, '--data', join(folder, 'data'), ...ports, ...order],
      { cwd: folder, env: { NODE_EXTRA_CA_CERTS: pebble.authority } },
    );
  }, 180_000);
  afterAll(async () => {
    node.signal('SIGTERM');
    await node.ended;
    pebble.stop();
    await dns.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  async function issuerFor(from: string): Promise<string> {
    const socket = connectTls({
      socket: connect({ host: '127.0.0.1', port: node.tlsPort!, localAddress: from }),
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    try {
      await once(socket, 'secureConnect');
      return String(socket.getPeerCertificate().issuer.CN);
    } catch {
      // Without a certificate the handshake is refused.
      return 'none';
    } finally {
      socket.destroy();
    }
  }

  test('the certificate that one process obtained is served by every worker', {
    timeout: 240_000,
  }, async () => {
    await until(
      async () => {
        const issuers = new Set(await Promise.all(ADDRESSES.map(issuerFor)));
        return issuers.size === 1 && /^Pebble Intermediate CA/.test([...issuers][0]!);
      },
      'the certificate at all workers',
      60_000,
    );
    expect(node.err()).not.toContain('could not be obtained');
  });
});

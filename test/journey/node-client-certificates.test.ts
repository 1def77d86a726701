/** `edgeplan node --file` takes client certificates, as one process and with workers. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256Hex } from '../../src/base/platform/cryptography.ts';
import { builtCli } from '../support/built.ts';
import { type Issued, issueClient, makeClientAuthority } from '../support/client-authority.ts';
import { startOrigin } from '../support/edge-tls.ts';
import { makeCertificate, OPENSSL_MISSING } from '../support/make-certificate.ts';
import { requires } from '../support/requires.ts';
import { until } from '../support/until.ts';
import { startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const HOST = 'shop.localhost';
const KEY = 'epk_acme'.padEnd(47, 'x');
const ROOT = makeClientAuthority('Root');
const OTHER = makeClientAuthority('Other');
const ACME = issueClient(ROOT, 'acme');
const BETA = issueClient(ROOT, 'beta');

/** The status, and the consumer that the origin was sent. */
async function ask(port: number, client: Issued | null, key: string | null = null): Promise<string> {
  const sent = request({
    ...{ host: '127.0.0.1', port, path: '/v1', servername: HOST, agent: false, rejectUnauthorized: false },
    headers: { host: HOST, ...(key === null ? {} : { 'x-api-key': key }) },
    ...(client === null ? {} : { cert: client.pem, key: client.keyPem }),
  });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return `${response.statusCode} ${/"x-consumer":"(\w+)"/.exec(text)?.[1] ?? ''}`.trim();
}

describe.each([1, 2])('a node of %i processes', requires(OPENSSL_MISSING), (workers) => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-mtls-'));
  let node: WorkerNode;
  let origin: Awaited<ReturnType<typeof startOrigin>>;

  const writeFile = (authority: Issued): void =>
    writeFileSync(
      join(folder, 'edge.yaml'),
      JSON.stringify({
        domain: HOST,
        records: [
          {
            name: '@',
            type: 'A',
            destination: '127.0.0.1',
            port: origin.port,
            scheme: 'Http',
            proxied: true,
          },
        ],
        consumers: [{ username: 'acme', keys: [{ sha256: sha256Hex(KEY) }] }, { username: 'beta' }],
        gateways: [
          {
            auth: {
              api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] },
              mtls: { ca_pem: authority.pem },
            },
            upstream_headers: { set: { 'X-Consumer': '${consumer}' } },
          },
        ],
      }),
    );

  beforeAll(async () => {
    await builtCli();
    origin = await startOrigin();
    const certs = join(folder, 'certs');
    await makeCertificate({ names: [HOST], cert: join(certs, 'a.crt'), key: join(certs, 'a.key') });
    writeFile(ROOT);
    const place = ['--file', join(folder, 'edge.yaml'), '--certificates', certs, '--tls-port', '0'];
    node = await startWorkerNode([...place, '--workers', String(workers), '--data', join(folder, 'data')], {
      cwd: folder,
    });
  }, 180_000);
  afterAll(async () => {
    node.signal('SIGTERM');
    await node.ended;
    origin.server.closeAllConnections();
    origin.server.close();
    rmSync(folder, { recursive: true });
  });

  test('names consumers by their certificates', async () => {
    for (let round = 0; round < 4; round++) {
      expect(await ask(node.tlsPort!, ACME)).toBe('200 acme');
      expect(await ask(node.tlsPort!, BETA)).toBe('200 beta');
    }
  });

  test('refuses requests without one, of another authority, and beside the key of another consumer', async () => {
    expect(await ask(node.tlsPort!, null)).toBe('401');
    expect(await ask(node.tlsPort!, null, KEY)).toBe('200 acme');
    expect(await ask(node.tlsPort!, ACME, KEY)).toBe('200 acme');
    expect(await ask(node.tlsPort!, BETA, KEY)).toBe('401');
    expect(await ask(node.tlsPort!, issueClient(OTHER, 'acme'))).toBe('401');
  });

  test('takes those of another authority once the file names it', async () => {
    writeFile(OTHER);
    const other = issueClient(OTHER, 'acme');
    await until(async () => (await ask(node.tlsPort!, other)) === '200 acme', 'the new authority counts');
    await until(async () => (await ask(node.tlsPort!, ACME)) === '401', 'the old authority counts no more');
    // Names of certificates are in no log.
    expect(node.out() + node.err()).not.toMatch(/CN=|BEGIN CERT/);
  });
});

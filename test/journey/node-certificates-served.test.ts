/** `edgeplan serve` and `edgeplan node` together: a certificate that a customer uploads is served over TLS within seconds. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtCli } from '../support/built.ts';
import { feedCertificate, handshake, printOf, servedPrint } from '../support/feed-certificate.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { type MadeLeaf, makeAuthority, type TestAuthority } from '../support/make-chain.ts';
import { requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';
import { until } from '../support/until.ts';
import { startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'edgeplan-served-tls-'));
let served: Served;
let authority: TestAuthority;
let env: Readonly<Record<string, string>>;
let node: WorkerNode;

const startNode = async (): Promise<void> => {
  const args = ['--control', served.url, '--data', join(folder, 'node'), '--tls-port', '0', '--drain', '0'];
  node = await startWorkerNode(args, { cwd: folder, env });
};
const serves = (name: string, print: string | null): Promise<true> =>
  until(async () => (await servedPrint(node.tlsPort!, name)) === print, `${print} for ${name}`, 30_000);
const print = ({ chain }: MadeLeaf): string => printOf({ chain });

async function upload(name: string, made: MadeLeaf): Promise<number> {
  const body = { certificate: made.chain, key: made.key };
  const { status, body: answer } = await served.call('POST', `/domains/${name}/ssl/`, body);
  expect([status, answer]).toEqual([
    expect.toSatisfy((one: number) => one < 300),
    expect.objectContaining({ source: 'custom' }),
  ]);
  return (answer as { readonly id: number }).id;
}

beforeAll(async () => {
  if (OPENSSL_MISSING !== null) return;
  await builtCli();
  authority = makeAuthority(join(folder, 'ca'));
  served = await serve({ tier: 'enterprise' });
  for (const name of ['shop.test', 'other.test']) {
    await served.domain(name);
    const record = { type: 'A', name: '@', destination: '127.0.0.1', proxied: true };
    expect((await served.call('POST', `/domains/${name}/records/`, record)).status).toBe(200);
  }
  env = await served.node('edge-1');
  await startNode();
}, 240_000);
afterAll(async () => {
  node?.signal('SIGTERM');
  await node?.ended;
  await served?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

test('uploaded, replaced and removed certificates reach the node without a restart', {
  ...requires(OPENSSL_MISSING),
  timeout: 180_000,
}, async () => {
  await until(async () => (await node.status('/readyz')) === 200, 'the node');
  const first = authority.leaf({ names: ['shop.test', 'www.shop.test'], days: 30 });
  const began = performance.now();
  const id = await upload('shop.test', first);
  await serves('shop.test', print(first));
  expect(performance.now() - began).toBeLessThan(15_000);
  expect(await servedPrint(node.tlsPort!, 'other.test')).toBeNull();

  const { stdout } = await run('openssl', [
    ...['s_client', '-connect', `127.0.0.1:${node.tlsPort}`, '-servername', 'shop.test', '-showcerts'],
    ...['-CAfile', join(folder, 'ca', 'root.pem'), '-verify_hostname', 'shop.test', '-verify_return_error'],
  ]).catch((error: { stdout: string }) => error);
  expect(stdout).toMatch(/Verify return code: 0 \(ok\)/);

  const open = await handshake(node.tlsPort!, 'shop.test');
  const second = authority.leaf({ names: ['shop.test'], days: 60 });
  await upload('shop.test', second);
  await serves('shop.test', print(second));
  expect((await served.call('DELETE', `/domains/shop.test/ssl/${id}`)).status).toBe(200);
  await serves('www.shop.test', null);
  expect([open.destroyed, open.readyState]).toEqual([false, 'open']);
  open.destroy();
});

test('a node that restarts without the server serves TLS, and follows it again later', {
  ...requires(OPENSSL_MISSING),
  timeout: 180_000,
}, async () => {
  const made = authority.leaf({ names: ['other.test', 'shop.test'] });
  await upload('other.test', made);
  await serves('other.test', print(made));
  const shop = await servedPrint(node.tlsPort!, 'shop.test');
  expect(shop).not.toBe(print(made));
  node.signal('SIGTERM');
  expect(await node.ended).toBe(0);
  process.kill(served.pid, 'SIGSTOP');
  try {
    await startNode();
    await serves('other.test', print(made));
    expect(await servedPrint(node.tlsPort!, 'shop.test')).toBe(shop);
  } finally {
    process.kill(served.pid, 'SIGCONT');
  }
  const next = authority.leaf({ names: ['other.test'], days: 120 });
  await upload('other.test', next);
  await serves('other.test', print(next));
});

test(
  'a certificate that only the name of another domain has is refused by the server',
  requires(OPENSSL_MISSING),
  async () => {
    const { chain, key } = await feedCertificate(['shop.test']);
    const { status } = await served.call('POST', '/domains/other.test/ssl/', { certificate: chain, key });
    expect(status).toBe(400);
  },
);

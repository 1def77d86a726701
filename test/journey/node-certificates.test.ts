/** `edgeplan node --control --tls-port` serves the certificates that its control plane sends, as one process and with workers. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { builtCli, edgeplan } from '../support/built.ts';
import { newFolder } from '../support/edge-follower.ts';
import { planOf, startOrigin } from '../support/edge-tls.ts';
import { feedCertificate, handshake, printOf, servedPrint } from '../support/feed-certificate.ts';
import { makeCertificate, OPENSSL_MISSING } from '../support/make-certificate.ts';
import { requires } from '../support/requires.ts';
import { type ScriptedControl, startScriptedControl } from '../support/scripted-control.ts';
import { until } from '../support/until.ts';
import { NO_CHILDREN, startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const PATIENCE_MS = 60_000;
let origin: Awaited<ReturnType<typeof startOrigin>>;

beforeAll(async () => {
  await builtCli();
  origin = await startOrigin();
}, 180_000);
afterAll(() => {
  origin.server.closeAllConnections();
  origin.server.close();
});

/** Requests on one connection in turn; resolves with the status line. */
function askOn(socket: TLSSocket, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const onData = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      if (!text.endsWith('"body":""}')) return;
      socket.off('data', onData);
      resolve(text.slice(0, text.indexOf('\r\n')));
    };
    socket.on('data', onData);
    socket.once('close', () => reject(new Error(`the connection was closed after: ${text}`)));
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  });
}

describe.each([1, 2])(
  'a node of %i processes that serve',
  { timeout: 120_000, ...requires(OPENSSL_MISSING) },
  (workers) => {
    let control: ScriptedControl;
    let folder: string;
    let node: WorkerNode;

    async function start(more: readonly string[] = []): Promise<void> {
      const args = ['--workers', String(workers), '--control', control.url, '--data', folder];
      node = await startWorkerNode([...args, '--tls-port', '0', '--drain', '0', ...more], {
        cwd: folder,
        env: { EDGEPLAN_NODE_TOKEN: `edn_${'a'.repeat(43)}` },
      });
    }

    async function stop(): Promise<void> {
      node.signal('SIGTERM');
      expect(await node.ended).toBe(0);
    }

    /** Waits until every worker serves a certificate, or refuses the name; connections of one address go to one worker. */
    async function serves(name: string, print: string | null): Promise<void> {
      await until(async () => (await servedPrint(node.tlsPort!, name)) === print, `${name}`, PATIENCE_MS);
      expect(await servedPrint(node.tlsPort!, name)).toBe(print);
    }

    function plan(name: string): { readonly plan: Uint8Array } {
      return { plan: planOf(name, origin.port) };
    }

    beforeEach(async () => {
      control = await startScriptedControl();
      folder = newFolder();
    });
    afterEach(async () => {
      await stop();
      await control.close();
      rmSync(folder, { recursive: true });
    });

    test('an uploaded, replaced and deleted certificate takes effect while open connections go on', async () => {
      const [first, second] = [
        await feedCertificate(['shop.test']),
        await feedCertificate(['shop.test'], { days: 60 }),
      ];
      control.change('shop.test', plan('shop.test'));
      await start();
      await serves('shop.test', null);
      control.change('shop.test', { certificates: [first] });
      await serves('shop.test', printOf(first));
      const open = await handshake(node.tlsPort!, 'shop.test');
      expect(await askOn(open, 'shop.test')).toBe('HTTP/1.1 200 OK');
      control.change('shop.test', { certificates: [second] });
      await serves('shop.test', printOf(second));
      expect(await askOn(open, 'shop.test')).toBe('HTTP/1.1 200 OK');
      expect(open.getPeerX509Certificate()!.fingerprint256).toBe(printOf(first));
      expect(await node.metric('edgeplan_node_certificates')).toBe(1);
      // A set is in use before it is stored, and pending until then.
      await expect.poll(() => node.metric('edgeplan_node_certificates_pending')).toBe(0);
      const expiry = await node.metric('edgeplan_node_certificate_expiry_timestamp_seconds');
      expect(expiry).toBeGreaterThan(Date.now() / 1_000 + 59 * 86_400);
      control.change('shop.test', { certificates: null });
      await serves('shop.test', null);
      expect(await askOn(open, 'shop.test')).toBe('HTTP/1.1 200 OK');
      open.destroy();
      expect(node.err()).not.toMatch(/PRIVATE KEY/);
    });

    test('a restart without the control plane serves TLS, and no key is on the disk in plain text', async () => {
      const certificate = await feedCertificate(['shop.test', '*.shop.test']);
      control.change('shop.test', { ...plan('shop.test'), certificates: [certificate] });
      await start();
      await serves('www.shop.test', printOf(certificate));
      await stop();
      control.away(true);
      await start();
      expect(await servedPrint(node.tlsPort!, 'shop.test')).toBe(printOf(certificate));
      const body = certificate.key.split('\n')[1]!;
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        expect(readFileSync(join(entry.parentPath, entry.name), 'latin1')).not.toContain(body);
      }
    });

    test('a certificate of one domain is used for no name of another', async () => {
      const greedy = await feedCertificate(['evil.test', 'shop.test', 'api.shop.test', '*.shop.test']);
      const shop = await feedCertificate(['shop.test']);
      control.change('shop.test', plan('shop.test'));
      control.change('api.shop.test', plan('api.shop.test'));
      control.change('evil.test', { ...plan('evil.test'), certificates: [greedy] });
      await start();
      await serves('evil.test', printOf(greedy));
      expect(await servedPrint(node.tlsPort!, 'shop.test')).toBeNull();
      control.change('shop.test', { certificates: [{ ...greedy, source: 'acme' }, shop] });
      await serves('shop.test', printOf(shop));
      expect(await servedPrint(node.tlsPort!, 'www.shop.test')).toBe(printOf(greedy));
      // A domain of its own below the other one.
      expect(await servedPrint(node.tlsPort!, 'api.shop.test')).toBeNull();
      control.change('shop.test', { tombstone: 'refused' });
      await serves('shop.test', null);
      expect(await servedPrint(node.tlsPort!, 'evil.test')).toBe(printOf(greedy));
    });

    test('a certificate of --certificates precedes the one of the feed', async () => {
      const certs = join(folder, 'certs');
      const [cert, key] = [join(certs, 'a.crt'), join(certs, 'a.key')];
      await makeCertificate({ names: ['shop.test'], cert, key });
      const own = printOf({ chain: readFileSync(cert, 'latin1') });
      const sent = await feedCertificate(['shop.test', 'www.shop.test'], { days: 90 });
      control.change('shop.test', { ...plan('shop.test'), certificates: [sent] });
      await start(['--certificates', certs]);
      await serves('www.shop.test', printOf(sent));
      expect(await servedPrint(node.tlsPort!, 'shop.test')).toBe(own);
      rmSync(certs, { recursive: true });
      await makeCertificate({ names: ['other.test'], cert, key });
      node.signal('SIGHUP');
      await serves('shop.test', printOf(sent));
    });

    if (workers > 1) {
      test('a worker that starts later has the certificates', requires(NO_CHILDREN), async () => {
        const [first, second] = [await feedCertificate(['shop.test']), await feedCertificate(['shop.test'])];
        control.change('shop.test', { ...plan('shop.test'), certificates: [first] });
        await start();
        await serves('shop.test', printOf(first));
        for (const pid of node.workers()) process.kill(pid, 'SIGKILL');
        control.change('shop.test', { certificates: [second] });
        await serves('shop.test', printOf(second));
        control.away(true);
        for (const pid of node.workers()) process.kill(pid, 'SIGKILL');
        await serves('shop.test', printOf(second));
      });
    }
  },
);

test('TLS without certificates of either source ends the start with a remedy', async () => {
  const folder = newFolder();
  const { code, err } = await edgeplan(['node', '--file', 'x.yaml', '--tls-port', '443'], { cwd: folder });
  expect([code, err]).toEqual([2, expect.stringContaining('TLS needs certificates')]);
  expect(err).toMatch(/--certificates, or follow a server with --control/);
  rmSync(folder, { recursive: true });
});

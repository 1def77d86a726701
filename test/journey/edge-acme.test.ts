/** Certificates by ACME, from Pebble, the test authority of Let's Encrypt, as Debian has it. */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import acme from 'acme-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Acme, type AcmeTokens, startAcme } from '../../src/edge/listeners/tls/acme.ts';
import { NXDOMAIN, type ScriptedServer, startDnsServer } from '../support/dns-server.ts';
import { startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { PEBBLE_MISSING, type Pebble, startPebble } from '../support/pebble.ts';
import { requires } from '../support/requires.ts';

const DAY = 86_400_000;

describe('ACME', requires(PEBBLE_MISSING), () => {
  const tokens: AcmeTokens = new Map();
  const obtained: string[] = [];
  const problems: (readonly [string, unknown])[] = [];
  let folder: string;
  let dns: ScriptedServer;
  let edge: TlsNode;
  let pebble: Pebble;
  let certs: string;
  let names: readonly string[] = [];
  let later = 0;
  let running: Acme;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'edgeplan-acme-'));
    dns = await startDnsServer('127.0.0.1', 0, ({ name, type }) => {
      if (!name.endsWith('.test') || name === 'nowhere.test') return { rcode: NXDOMAIN };
      return { answers: type === 'A' ? [{ name, type: 'A', ttl: 60, data: '127.0.0.1' }] : [] };
    });
    edge = await startTlsNode({
      names: ['shop.test'],
      bare: ['new.test'],
      fallback: 'shop.test',
      ownTokens: tokens,
    });
    certs = join(edge.folder, 'certs');
    pebble = await startPebble({ folder, dnsPort: dns.port, httpPort: edge.httpPort, tlsPort: edge.port });
    acme.axios.defaults.httpsAgent = pebble.agent;
    running = startAcme({
      directoryUrl: pebble.directoryUrl,
      email: 'somebody@shop.test',
      folder: certs,
      certificates: edge.certificates,
      names: () => names,
      tokens,
      checkMs: 60_000,
      retryMs: 1_000,
      askMs: 100,
      clock: () => Date.now() + later,
      onObtained: (name) => obtained.push(name),
      onProblem: (name, error) => problems.push([name, error]),
    });
    await running.pass();
  });

  afterAll(async () => {
    pebble.stop();
    running.stop();
    await Promise.all([edge.stop(), dns.stop()]);
    rmSync(folder, { recursive: true });
  });

  async function issuerOf(servername: string): Promise<string> {
    const socket = connectTls({ port: edge.port, host: '127.0.0.1', servername, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { issuer, subjectaltname } = socket.getPeerCertificate();
    socket.destroy();
    return `${issuer.CN} ${subjectaltname}`;
  }

  test('a name without a certificate gets one, which is in use at once', async () => {
    expect(await issuerOf('new.test')).toBe('shop.test DNS:shop.test, DNS:*.shop.test');
    names = ['new.test', 'shop.test'];
    await running.pass();
    expect(problems).toEqual([]);
    expect(obtained).toEqual(['new.test']);
    expect(await issuerOf('new.test')).toMatch(/^Pebble Intermediate CA .* DNS:new\.test$/);
    expect(await issuerOf('shop.test')).toMatch(/^shop\.test /);
    expect(tokens.size).toBe(0);
  });

  test('keys and accounts are readable by their owner alone, and no incomplete file remains', () => {
    for (const file of [join(certs, 'new.test.acme.pem'), join(certs, '.acme/account.key')]) {
      expect(statSync(file).mode & 0o777, file).toBe(0o600);
    }
    expect(readdirSync(certs).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect(edge.certificates.problems()).toEqual([]);
  });

  test('a valid certificate causes no order, and is renewed before it expires', async () => {
    const before = edge.certificates.find('new.test')!;
    later = before.notAfter - Date.now() - 31 * DAY;
    names = ['new.test'];
    await running.pass();
    expect(obtained).toEqual(['new.test']);
    later = before.notAfter - Date.now() - (before.notAfter - before.notBefore) / 3 + 60_000;
    later = Math.max(later, before.notAfter - Date.now() - 30 * DAY + 60_000);
    await running.pass();
    expect(obtained).toEqual(['new.test', 'new.test']);
    expect(edge.certificates.find('new.test')!.notAfter).toBeGreaterThanOrEqual(before.notAfter);
    expect(edge.certificates.find('new.test')).not.toBe(before);
    later = 0;
  });

  test('a name that fails is reported, tried again later, and delays no other', async () => {
    names = ['nowhere.test', '*.wild.test', 'more.test'];
    obtained.length = 0;
    await running.pass();
    expect(problems.map(([name]) => name)).toEqual(['nowhere.test', '*.wild.test']);
    expect(obtained).toEqual(['more.test']);
    await running.pass();
    expect(problems).toHaveLength(2);
    later = 1_500;
    await running.pass();
    expect(problems).toHaveLength(4);
    expect(tokens.size).toBe(0);
  });

  test('requests for tokens of others reach the origin', async () => {
    tokens.set('mine', 'mine.print');
    const ask = async (path: string, method = 'GET'): Promise<string> =>
      (
        await fetch(`http://127.0.0.1:${edge.httpPort}${path}`, { method, headers: { host: 'shop.test' } })
      ).text();
    expect(await ask('/.well-known/acme-challenge/mine')).toBe('mine.print');
    for (const [path, method] of [
      ['/.well-known/acme-challenge/other', 'GET'],
      ['/.well-known/acme-challenge/mine?x', 'GET'],
      ['/.well-known/acme-challenge/mine', 'POST'],
    ] as const) {
      expect(await ask(path, method)).not.toContain('mine.print');
    }
    tokens.delete('mine');
  });
});

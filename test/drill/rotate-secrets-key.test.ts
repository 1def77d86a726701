/** Certificates of a served store: uploaded by the command, after a restart, without their secrets key, and rotated. */
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openKey, openKeyRing, sealedUnder, sealKey } from '../../src/control/certificates/key-ring.ts';
import { openStore } from '../../src/control/store/database/open.ts';
import type { SignedPage } from '../../src/engine/plan/manifest.ts';
import { builtCli, edgeplan, startEdgeplan } from '../support/built.ts';
import { keyTraces } from '../support/key-traces.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { type MadeLeaf, makeAuthority } from '../support/make-chain.ts';
import { requires } from '../support/requires.ts';
import { newCertificate, seed } from '../support/sample-rows.ts';
import { type Served, serve } from '../support/served.ts';
import { until } from '../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-secrets-'));
const data = join(folder, 'data');
const keyFile = join(data, 'secrets.key');
beforeAll(() => builtCli(), 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a served store', requires(OPENSSL_MISSING), () => {
  let leaf: MadeLeaf;
  let server: Served;
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];

  beforeAll(async () => {
    leaf = makeAuthority(join(folder, 'ca')).leaf({ names: ['shop.test', '*.shop.test'] });
    writeFileSync(cert, leaf.chain);
    writeFileSync(key, leaf.key);
    server = await serve({ database: data });
    await server.domain('shop.test');
  }, 120_000);
  afterAll(() => server.stop());

  const list = async () => {
    const { out } = await server.run(['ssl', 'list', 'shop.test', '--json']);
    return JSON.parse(out) as { status: string; certificates: { id: number; status: string }[] };
  };
  const restart = async (args: readonly string[] = []) => {
    await server.stop();
    server = await serve({ database: data, args });
  };

  test('has its secrets key beside it, which only its owner may read', () => {
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(readFileSync(keyFile, 'utf8')).toMatch(/^[A-Za-z0-9+/]{43}=\n$/);
  });

  test('takes a certificate from the command, and nodes learn of it within a second', async () => {
    const { EDGEPLAN_NODE_TOKEN: token } = await server.node('eu-1');
    const headers = { authorization: `Bearer ${token}` };
    const page = async (since: number, seconds: number): Promise<SignedPage['manifest']> => {
      const response = await fetch(`${server.url}/nodes/manifest?since=${since}&wait=${seconds}`, {
        headers,
      });
      return ((await response.json()) as SignedPage).manifest;
    };
    const through = await until(async () => {
      const { entries, through } = await page(0, 0);
      return entries.some(({ digest }) => digest !== null) ? through : null;
    }, 'a plan');
    const parsed = await server.run(['ssl', 'parse', 'shop.test', '--cert', cert, '--private-key', key]);
    expect(parsed).toMatchObject({ code: 0, err: '' });
    expect(parsed.out).toContain('belongs to it');
    const waiting = page(through, 30);
    const uploaded = await server.run(['ssl', 'upload', 'shop.test', '--cert', cert, '--private-key', key]);
    const began = performance.now();
    expect(uploaded, uploaded.err).toMatchObject({ code: 0 });
    expect(uploaded.out).toMatch(/^certificate 1 of shop\.test, \*\.shop\.test, until 20/);
    const [entry] = (await waiting).entries;
    expect(performance.now() - began).toBeLessThan(1_000);
    expect(entry).toMatchObject({
      domain: 'shop.test',
      certificates: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const listed = await server.run(['ssl', 'list', 'shop.test']);
    expect(listed.out).toContain('status: active');
    expect(listed.out).toMatch(
      /1 +active +custom +20\S+ +P-256 +shop\.test, \*\.shop\.test +Test Intermediate/,
    );
    const wrong = await server.run(['ssl', 'parse', 'shop.test', '--cert', key]);
    expect(wrong.code).toBe(1);
    expect(wrong.out).toContain('has a private key, which belongs into `key` alone');
  });

  test('has the certificate after a restart, and its backup has no key in any form', async () => {
    await restart();
    expect(await list()).toMatchObject({ status: 'active' });
    const copy = join(folder, 'copy.db');
    const { code, err } = await server.run(['backup', ...server.data, '--to', copy]);
    expect(code).toBe(0);
    expect(err).toContain(`copy \`${keyFile}\` as well`);
    const traces = keyTraces(leaf.key);
    expect(traces.in(readFileSync(key))).not.toEqual([]);
    expect(traces.in(readFileSync(copy))).toEqual([]);
    expect(readFileSync(copy).includes(readFileSync(keyFile).subarray(0, 43))).toBe(false);
  });

  test('follows a rotation beside it', async () => {
    const before = readFileSync(keyFile, 'utf8').trim();
    const { code, out, err } = await server.run(['secrets-key', 'rotate', ...server.data]);
    expect(code, err).toBe(0);
    expect(out).toMatch(/^1 private key encrypted under key [0-9a-f]{16}\n$/);
    const [current, previous, ...rest] = readFileSync(keyFile, 'utf8').trim().split('\n');
    expect([previous, rest]).toEqual([before, []]);
    expect(current).not.toBe(before);
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    const again = await server.run(['ssl', 'upload', 'shop.test', '--cert', cert, '--private-key', key]);
    expect(again.code, again.err).toBe(0);
    const second = await server.run(['secrets-key', 'rotate', ...server.data]);
    expect(second.code, second.err).toBe(0);
    expect(readFileSync(keyFile, 'utf8')).not.toContain(before);
    await restart();
    expect(await list()).toMatchObject({ status: 'active' });
  });

  test('starts without its secrets key, names what is lost, and has it again with the key', async () => {
    const away = join(folder, 'away.key');
    await server.stop();
    renameSync(keyFile, away);
    const child = startEdgeplan(
      ['serve', '--data', data, '--port', '0', '--ops-port', '0', '--trust-names'],
      {
        cwd: folder,
      },
    );
    let [out, err] = ['', ''];
    child.stdout.on('data', (text) => (out += String(text)));
    child.stderr.on('data', (text) => (err += String(text)));
    await until(() => /listening on/.exec(out), 'the server');
    child.kill('SIGTERM');
    await new Promise((resolve) => child.on('close', resolve));
    expect(err).toMatch(
      /"certificates":1,"domains":1,.*private keys of certificates cannot be decrypted: start with/,
    );
    expect(existsSync(keyFile)).toBe(true);
    server = await serve({ database: data });
    expect(await list()).toMatchObject({ status: 'failed', certificates: [{ status: 'failed' }] });
    const refused = await server.run(['secrets-key', 'rotate', ...server.data]);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('1 private key cannot be decrypted');
    await restart(['--secrets-key', away]);
    expect(await list()).toMatchObject({ status: 'active' });
    const deleted = await server.run(['ssl', 'delete', 'shop.test', '1']);
    expect(deleted.out).toBe('certificate 1 is deleted\n');
  });
});

test('a rotation that is killed at any point loses no private key, and the next one ends it', async () => {
  const KEYS = 200;
  const killed = join(folder, 'killed');
  const file = join(killed, 'secrets.key');
  const made = await edgeplan(['account', 'create', 'a', '--data', killed], { cwd: folder });
  expect(made.code, made.err).toBe(0);
  writeFileSync(file, `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 });
  const ring = openKeyRing({ where: 'here', read: () => readFileSync(file, 'utf8') });
  const store = await openStore({ database: killed, role: 'tool' });
  try {
    await store.write(async (tx) => {
      const { domain } = await seed(tx);
      for (let index = 0; index < KEYS; index += 1) {
        const sha256 = `s${index}`;
        const sealed_key = sealKey(`key ${index}`, { domain_id: domain.id, sha256 }, ring.current());
        await tx.certificates.insert(newCertificate(domain.id, { sha256, chain: 'PEM', sealed_key }));
      }
    });
    const check = async () => {
      const rows = await store.latest.certificates.withKeys(0, KEYS + 1);
      expect(rows).toHaveLength(KEYS);
      for (const [index, row] of rows.entries())
        expect(openKey(row.sealed_key!, row, ring)).toBe(`key ${index}`);
      const { id } = ring.current();
      return rows.filter(({ sealed_key }) => sealedUnder(sealed_key!) !== id).length;
    };
    const left: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      const before = readFileSync(file, 'utf8');
      const child = startEdgeplan(['secrets-key', 'rotate', '--data', killed], { cwd: folder });
      const closed = new Promise((resolve) => child.on('close', resolve));
      await until(() => (readFileSync(file, 'utf8') === before ? null : true), 'the new key');
      await wait(round * 15);
      child.kill('SIGKILL');
      await closed;
      left.push(await check());
    }
    // At least one was killed between two keys.
    expect(
      left.some((count) => count > 0),
      String(left),
    ).toBe(true);
    const last = await edgeplan(['secrets-key', 'rotate', '--data', killed], { cwd: folder });
    expect(last.code, last.err).toBe(0);
    expect(await check()).toBe(0);
  } finally {
    await store.close();
  }
});

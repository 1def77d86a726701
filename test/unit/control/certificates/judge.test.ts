/** Uploaded certificates are judged: each fault is named with what would be right, and nothing of a key is repeated. */
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { judgeUpload } from '../../../../src/control/certificates/judge.ts';
import { MAX_CHAIN_CHARACTERS, MAX_KEY_CHARACTERS } from '../../../../src/control/certificates/limits.ts';
import { readPem } from '../../../../src/control/certificates/read-certificate.ts';
import { describeMistakes } from '../../../../src/rules/model/report.ts';
import { OPENSSL_MISSING } from '../../../support/make-certificate.ts';
import {
  type LeafKey,
  type MadeLeaf,
  makeAuthority,
  type TestAuthority,
} from '../../../support/make-chain.ts';
import { requires } from '../../../support/requires.ts';

const DAY = 86_400_000;
const DOMAIN = 'shop.example';

describe('an upload', requires(OPENSSL_MISSING), () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-judge-'));
  let ca: TestAuthority;
  let leaf: MadeLeaf;
  const now = Date.now() + 60_000;

  beforeAll(() => {
    ca = makeAuthority(join(folder, 'ca'));
    leaf = ca.leaf({ names: [DOMAIN, '*.Shop.Example'] });
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const judge = (certificate: string, key: string | null = leaf.key, at = now) =>
    judgeUpload({ certificate, key }, { domain: DOMAIN, now: at });
  const codes = (result: ReturnType<typeof judge>) => result.diagnostics.map(({ code }) => code);

  test('of a chain with its key is usable, with its names in lower case', () => {
    const result = judge(leaf.chain);
    expect(result.diagnostics).toEqual([]);
    expect(result.key).toEqual({ key_type: 'P-256', fits: true });
    expect(result.usable).toMatchObject({
      names: [DOMAIN, '*.shop.example'],
      issuer: 'Test Intermediate',
      key_type: 'P-256',
      chain: 2,
    });
    expect(result.usable!.chainPem).toBe(leaf.chain);
    expect(result.usable!.keyPem).toContain('-----BEGIN PRIVATE KEY-----');
    expect(result.usable!.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(result.usable!.not_after - result.usable!.not_before).toBe(90 * DAY);
  });

  test.each(['P-384', 'Ed25519', 'RSA 2048'] as const)('with a key %s is usable', (key) => {
    const made = ca.leaf({ names: [DOMAIN], key });
    expect(judge(made.chain, made.key)).toMatchObject({ diagnostics: [], usable: { key_type: key } });
  });

  test.each(['RSA 1024', 'P-521'] as const)('with a key %s is refused', (key: LeafKey) => {
    const made = ca.leaf({ names: [DOMAIN], key });
    const result = judge(made.chain, made.key);
    expect(codes(result)).toContain('certificate_weak_key');
    expect(result.usable).toBeNull();
  });

  test('that ends with its root is usable without it', () => {
    const result = judge(leaf.chain + ca.root);
    expect(codes(result)).toEqual(['certificate_root']);
    expect(result.usable!.chainPem).toBe(leaf.chain);
  });

  test('of a leaf alone is usable with a warning', () => {
    const result = judge(leaf.certificate);
    expect(codes(result)).toEqual(['certificate_issuer_missing']);
    expect(result.usable).not.toBeNull();
  });

  test('with text around the blocks and Windows line ends is usable', () => {
    const dressed = `Bag Attributes\n  friendlyName: x\n${leaf.chain}\nend\n`.replaceAll('\n', '\r\n');
    expect(judge(dressed).usable!.chainPem).toBe(leaf.chain);
  });

  test('in the wrong order is refused, with the right order', () => {
    const result = judge(ca.root + ca.intermediate + leaf.certificate);
    expect(result.usable).toBeNull();
    const [wrong] = result.diagnostics.filter(({ code }) => code === 'certificate_order');
    expect(wrong!.message).toBe(
      'certificate 1 (`Test Root`) is not issued by certificate 2 (`Test Intermediate`)',
    );
    expect(wrong!.remedy).toBe('put them in the order 3, 2, 1');
  });

  test('with a foreign issuer is refused', () => {
    const other = makeAuthority(join(folder, 'other'));
    expect(codes(judge(leaf.certificate + other.intermediate))).toEqual(['certificate_order']);
  });

  test('with the key of another certificate is refused', () => {
    const result = judge(leaf.chain, ca.leaf({ names: [DOMAIN] }).key);
    expect(codes(result)).toEqual(['key_mismatch']);
    expect(result.key).toEqual({ key_type: 'P-256', fits: false });
    expect(result.usable).toBeNull();
  });

  test('that has expired, or is not in force yet, is refused with the certificate and the time', () => {
    const late = judge(leaf.chain, leaf.key, now + 91 * DAY);
    expect(codes(late)).toEqual(['certificate_expired']);
    expect(late.diagnostics[0]!.message).toMatch(/^certificate 1 \(`shop\.example`\) expired at 20\d\d-/);
    const early = judge(leaf.chain, leaf.key, now - 2 * DAY);
    expect(codes(early)).toEqual(['certificate_not_yet_valid', 'certificate_not_yet_valid']);
    expect(codes(judge(leaf.chain, leaf.key, now + 80 * DAY))).toEqual(['certificate_expiring']);
  });

  test.each([
    [['other.example'], false],
    [['notshop.example'], false],
    [['*.example'], true],
    [['deep.www.shop.example'], true],
    [[], false],
  ])('of the names %j is usable for the domain: %s', (names, isUsable) => {
    const made = ca.leaf({ names });
    const result = judge(made.chain, made.key);
    expect(codes(result)).toEqual(isUsable ? [] : ['certificate_names']);
  });

  test('for clients alone is refused', () => {
    const made = ca.leaf({ names: [DOMAIN], extensions: ['extendedKeyUsage=clientAuth'] });
    expect(codes(judge(made.chain, made.key))).toEqual(['certificate_unusable']);
    const both = ca.leaf({ names: [DOMAIN], extensions: ['extendedKeyUsage=clientAuth,serverAuth'] });
    expect(judge(both.chain, both.key).diagnostics).toEqual([]);
  });

  test('that is issued by itself is usable with a warning', () => {
    const [cert, key] = [join(folder, 'self.pem'), join(folder, 'self.key')];
    execFileSync('openssl', [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=x', '-days', '30'],
      ...['-addext', `subjectAltName=DNS:${DOMAIN}`, '-keyout', key, '-out', cert],
    ]);
    const result = judge(readFileSync(cert, 'utf8'), readFileSync(key, 'utf8'));
    expect(codes(result)).toEqual(['certificate_self_signed']);
    expect(result.usable).toMatchObject({ key_type: 'RSA 2048', chain: 1 });
  });

  test('accepts keys in PKCS #1 and SEC 1, and refuses encrypted ones', () => {
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const convert = (...words: readonly string[]) =>
      execFileSync('openssl', words, { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
    const sec1 = convert('ec', '-in', file('a.key', leaf.key));
    expect(judge(leaf.chain, sec1).diagnostics).toEqual([]);
    expect(judge(leaf.chain, convert('ecparam', '-name', 'prime256v1') + sec1).diagnostics).toEqual([]);
    const rsa = ca.leaf({ names: [DOMAIN], key: 'RSA 2048' });
    const pkcs1 = convert('rsa', '-traditional', '-in', file('b.key', rsa.key));
    expect(pkcs1).toContain('BEGIN RSA PRIVATE KEY');
    expect(judge(rsa.chain, pkcs1).diagnostics).toEqual([]);
    const locked = convert('pkcs8', '-topk8', '-passout', 'pass:secret', '-in', join(folder, 'a.key'));
    expect(codes(judge(leaf.chain, locked))).toEqual(['key_encrypted']);
    const old = convert(
      'rsa',
      '-traditional',
      '-aes128',
      '-passout',
      'pass:secret',
      '-in',
      join(folder, 'b.key'),
    );
    expect(codes(judge(rsa.chain, old))).toEqual(['key_encrypted']);
  });

  test('with other than one key is refused', () => {
    expect(codes(judge(leaf.chain, leaf.key + leaf.key))).toEqual(['key_pem']);
    expect(codes(judge(leaf.chain, leaf.key + leaf.certificate))).toEqual(['key_pem']);
    expect(codes(judge(leaf.chain, ''))).toEqual(['key_pem']);
    const { publicKey } = generateKeyPairSync('ed25519');
    const text = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    expect(codes(judge(leaf.chain, text))).toEqual(['key_pem']);
  });

  test('with a key among the certificates is refused', () => {
    const result = judge(leaf.key + leaf.chain);
    expect(codes(result)).toEqual(['certificate_pem']);
    expect(result.certificate).toBeNull();
  });

  test('of garbage is refused', () => {
    const der = readPem(leaf.certificate)![0]!.der;
    const pem = (octets: Uint8Array) =>
      `-----BEGIN CERTIFICATE-----\n${Buffer.from(octets).toString('base64')}\n-----END CERTIFICATE-----\n`;
    const wrong = [
      '',
      'garbage',
      '\0'.repeat(100),
      '-----BEGIN CERTIFICATE-----',
      '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----',
      '-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----',
      leaf.certificate.replace('CERTIFICATE', 'NONSENSE'),
      pem(Buffer.from('garbage')),
      pem(der.subarray(0, der.length - 1)),
      `${leaf.certificate}${pem(Buffer.alloc(200))}`,
    ];
    for (const text of wrong) {
      expect(codes(judge(text)), text).toEqual(['certificate_pem']);
      expect(judge(text, 'garbage').usable).toBeNull();
    }
    // Every single octet damaged: read or refused, never thrown.
    for (let at = 0; at < der.length; at += 1) {
      const damaged = Uint8Array.from(der);
      damaged[at] = damaged[at]! ^ 0x55;
      const result = judge(pem(damaged));
      if (result.usable !== null) expect(result.usable.chainPem).not.toBe(leaf.chain);
    }
  });

  test('of a damaged key is judged without an exception', () => {
    const rsa = ca.leaf({ names: [DOMAIN], key: 'RSA 2048' });
    const der = readPem(rsa.key)![0]!.der;
    for (let at = 0; at < der.length; at += 7) {
      const damaged = Uint8Array.from(der);
      damaged[at] = damaged[at]! ^ 0x55;
      const text = `-----BEGIN PRIVATE KEY-----\n${Buffer.from(damaged).toString('base64')}\n-----END PRIVATE KEY-----\n`;
      const result = judge(rsa.chain, text);
      expect(describeMistakes(result.diagnostics)).not.toContain('error:');
    }
  });

  test('of huge or many certificates is refused at once', () => {
    expect(codes(judge(leaf.chain.repeat(200)))).toEqual(['certificate_pem']);
    expect(codes(judge(ca.intermediate.repeat(11)))).toEqual(['certificate_count']);
    expect(codes(judge(leaf.chain, 'x'.repeat(MAX_KEY_CHARACTERS + 1)))).toEqual(['key_pem']);
    expect('x'.repeat(MAX_CHAIN_CHARACTERS).length).toBeLessThan(leaf.chain.length * 200);
    const names = Array.from({ length: 251 }, (_, index) => `n${index}.${DOMAIN}`);
    const made = ca.leaf({ names });
    expect(codes(judge(made.chain, made.key))).toEqual(['certificate_names']);
  });

  test('repeats nothing of a key in any diagnostic', () => {
    const pieces = leaf.key.split('\n').filter((line) => line.length > 20 && !line.startsWith('-----'));
    expect(pieces.length).toBeGreaterThan(0);
    const inputs: readonly (readonly [string, string])[] = [
      [leaf.key, leaf.key],
      [leaf.chain, leaf.key.replace('PRIVATE', 'OPENSSH PRIVATE')],
      [leaf.chain, leaf.key.slice(0, -40)],
      [leaf.chain, pieces.join('\n')],
      [pieces.join('\n'), leaf.key + leaf.key],
    ];
    for (const [certificate, key] of inputs) {
      const text = JSON.stringify(judge(certificate, key));
      for (const piece of pieces) expect(text).not.toContain(piece);
    }
  });

  test('without a key is described, and not usable', () => {
    const result = judge(leaf.chain, null);
    expect(result).toMatchObject({ diagnostics: [], key: null, usable: null, certificate: { chain: 2 } });
  });
});

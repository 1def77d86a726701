/** Identifiers of certificates at their CA. */
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readCertificateId } from '../../../../../src/control/certificates/issuance/authority.ts';
import { createIssuer } from '../../../../support/acme-authority/issuer.ts';
import { OPENSSL_MISSING } from '../../../../support/make-certificate.ts';
import { requires } from '../../../../support/requires.ts';

const NOW = Date.parse('2031-01-02T03:04:05Z');
const DAY = 86_400_000;

test('identifiers are those of the test authority, for serials with and without the first bit', () => {
  const issuer = createIssuer(NOW);
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyInfo = publicKey.export({ format: 'der', type: 'spki' });
  let high = 0;
  for (let index = 0; index < 200; index += 1) {
    const names = [`n${index}.example`, `${'a'.repeat(index % 60)}b.example`];
    const leaf = issuer.issue({ names, key: publicKey, keyInfo, notBefore: NOW, notAfter: NOW + DAY });
    const certificate = new X509Certificate(leaf.pem);
    if (Number.parseInt(certificate.serialNumber.slice(0, 2), 16) >= 0x80) high += 1;
    expect(readCertificateId(certificate)).toBe(leaf.certId);
  }
  expect(high).toBe(100);
});

describe('against openssl', requires(OPENSSL_MISSING), () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-certificate-id-'));
  const at = (name: string) => join(folder, name);
  const run = (...words: readonly string[]) =>
    execFileSync('openssl', words, { stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  run('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', at('key'));
  run('req', '-x509', '-key', at('key'), '-subj', '/CN=root', '-days', '9', '-out', at('root'));
  run('req', '-new', '-key', at('key'), '-subj', '/CN=leaf', '-out', at('csr'));

  /** A certificate with a serial number and lines of extensions. */
  const make = (serial: string, lines: string): X509Certificate => {
    writeFileSync(at('ext'), `${lines}\n`);
    const from = ['-in', at('csr'), '-CA', at('root'), '-CAkey', at('key')];
    const text = run('x509', '-req', ...from, '-days', '9', '-set_serial', serial, '-extfile', at('ext'));
    writeFileSync(at('leaf'), text);
    return new X509Certificate(text);
  };
  /** The key identifier as openssl prints it. */
  const keyId = () => {
    const text = run('x509', '-in', at('leaf'), '-noout', '-ext', 'authorityKeyIdentifier');
    return Buffer.from(/((?:[0-9A-F]{2}:)+[0-9A-F]{2})/.exec(text)![1]!.replaceAll(':', ''), 'hex');
  };

  test.each([
    // The serial number of the example of RFC 9773 section 4.1, and what it has there.
    ['0x87654321', 'AIdlQyE'],
    ['1', 'AQ'],
    ['127', 'fw'],
    ['128', 'AIA'],
    ['0x0fffff', 'D___'],
    [`0x${'ff'.repeat(19)}`, `AP${'_'.repeat(24)}8`],
  ])('serial number %s is %s', (serial, text) => {
    const one = make(serial, 'authorityKeyIdentifier=keyid');
    expect(keyId()).toHaveLength(20);
    const [key, number] = readCertificateId(one)!.split('.');
    expect(key).toBe(keyId().toString('base64url'));
    expect(Buffer.from(number!, 'base64url')).toEqual(Buffer.from(text, 'base64url'));
  });

  test('the name and the serial number of the issuer beside its key change nothing', () => {
    const one = make('77', 'authorityKeyIdentifier=keyid:always,issuer:always');
    expect(readCertificateId(one)).toBe(`${keyId().toString('base64url')}.TQ`);
  });

  test('octets that look like the extension in another one are passed over', () => {
    const lines = '1.2.3.4=DER:0603551D23040401028003\nauthorityKeyIdentifier=keyid';
    expect(readCertificateId(make('77', lines))).toBe(`${keyId().toString('base64url')}.TQ`);
  });

  test('a certificate that names no key of its issuer has no identifier', () => {
    expect(
      readCertificateId(make('77', 'basicConstraints=CA:FALSE\nauthorityKeyIdentifier=none')),
    ).toBeNull();
  });
});

/** Authorities of client certificates in the form of gateways (semantics §15): which PEM texts are refused, and with what remedy. */
import { describe, expect, test } from 'vitest';
import { MAX_CA_CERTIFICATES, MAX_CA_CHARACTERS } from '../../../../src/base/vocabulary/limits.ts';
import { compile } from '../../../../src/engine/compiler/compile.ts';
import { sealedVersion, WIDE_GATEWAYS_VERSION } from '../../../../src/engine/plan/layout.ts';
import { parseRuleSet } from '../../../../src/rules/model/parse.ts';
import {
  CLIENT_AUTH,
  EXTENSIONS,
  issue,
  issueClient,
  makeClientAuthority,
  SERVER_AUTH,
} from '../../../support/client-authority.ts';

const ROOT = makeClientAuthority('Root');
const OTHER = makeClientAuthority('Other', { key: 'RSA 2048' });

function parsed(ca_pem: unknown, more: object = {}) {
  return parseRuleSet({
    domain: { name: 'shop.test' },
    records: [{ id: 1, name: '@', type: 'A', destination: '192.0.2.1', proxied: true }],
    rules: [{ id: 1, type: 'gateway', auth: { mtls: { ca_pem }, ...more } }],
  });
}

const findings = (ca_pem: unknown): readonly string[] =>
  parsed(ca_pem).diagnostics.map(({ code, message }) => `${code}: ${message}`);

describe('authorities of client certificates', () => {
  const authority = (...extensions: readonly Buffer[]) =>
    makeClientAuthority('Limited', { extensions: [EXTENSIONS.authority(), ...extensions] }).pem;

  test.each([
    ['one', ROOT.pem],
    ['several, with text around them', `first\n${ROOT.pem}\nsecond\n${OTHER.pem}end`],
    ['with line ends of Windows', ROOT.pem.replaceAll('\n', '\r\n')],
    ['for clients and servers', authority(EXTENSIONS.purposes(SERVER_AUTH, CLIENT_AUTH))],
    ['an intermediate one', makeClientAuthority('Middle', { issuer: ROOT }).pem],
  ])('are taken: %s', (_, pem) => {
    expect(findings(pem)).toEqual([]);
  });

  test.each([
    ['no text', 7, /^invalid_type/],
    ['no PEM', 'ca.pem', /^client_authority: has no certificate in PEM form/],
    ['a block without its end', ROOT.pem.slice(0, 200), /^client_authority: PEM block 1 has no end/],
    ['a damaged block', ROOT.pem.replace(/M/, '*'), /^client_authority: PEM block 1 is no X.509 certificate/],
    ['a certificate cut short', `${ROOT.pem.slice(0, 92)}\n-----END CERTIFICATE-----`, /block 1 is no X.509/],
    ['another kind of block', ROOT.pem.replaceAll('CERTIFICATE', 'X509 CRL'), /block 1 is no certificate/],
    ["a client's certificate", `${ROOT.pem}${issueClient(ROOT, 'acme').pem}`, /block 2 .*`CA:TRUE`/],
    ['no extensions', issue(null, { name: 'Root' }).pem, /block 1 .*`CA:TRUE`/],
    ['one that signs no certificates', authority(EXTENSIONS.usage(0x02)), /`keyCertSign`/],
    ['one for servers', authority(EXTENSIONS.purposes(SERVER_AUTH)), /`clientAuth`/],
    ['a weak key', makeClientAuthority('Weak', { key: 'RSA 1024' }).pem, /key that is not accepted/],
    ['name constraints', authority(EXTENSIONS.constraints('a.example')), /`nameConstraints`/],
    ['an unknown critical extension', authority(EXTENSIONS.unknown), /extension that is not read/],
    ['too many', ROOT.pem.repeat(MAX_CA_CERTIFICATES + 1), /has more than 16 certificates/],
    ['a text that is too long', 'x'.repeat(MAX_CA_CHARACTERS + 1), /^too_long/],
  ])('are refused: %s', (_, pem, finding) => {
    const found = findings(pem);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(finding);
  });

  test.each(['PRIVATE KEY', 'EC PRIVATE KEY', 'ENCRYPTED PRIVATE KEY'])(
    'with a %s are refused, and no part of it is repeated',
    (label) => {
      const key = ROOT.keyPem.replaceAll('PRIVATE KEY', label);
      const { ok, diagnostics } = parsed(`${ROOT.pem}${key}`);
      expect(ok).toBe(false);
      expect(diagnostics).toEqual([
        expect.objectContaining({ code: 'private_key', path: ['rules', 0, 'auth', 'mtls', 'ca_pem'] }),
      ]);
      for (const line of key.split('\n').slice(1, -2))
        expect(JSON.stringify(diagnostics)).not.toContain(line);
    },
  );

  test('that have expired are taken with a warning', () => {
    const expired = makeClientAuthority('Expired', { notAfter: Date.UTC(2020, 0, 1) });
    expect(findings(`${ROOT.pem}${expired.pem}`)).toEqual([
      'expired_authority: PEM block 2 expired at 2020-01-01T00:00:00.000Z: certificates that it issued are refused',
    ]);
  });

  test('are in plans of version 7, and other plans stay as they were', () => {
    const versionOf = (auth: object): number => {
      const { ruleSet } = parsed(ROOT.pem, auth) as Extract<ReturnType<typeof parsed>, { ok: true }>;
      return sealedVersion(compile(ruleSet).plan);
    };
    expect(versionOf({})).toBe(WIDE_GATEWAYS_VERSION);
    expect(versionOf({ mtls: undefined, require: 'none' })).toBe(6);
  });
});

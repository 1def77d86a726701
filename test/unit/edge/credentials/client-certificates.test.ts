/** Client certificates: which paths to an authority count, and whom they name (semantics §15; RFC 5280 §6). */
import { describe, expect, test } from 'vitest';
import { isSignedBy, sha256, sha256Hex } from '../../../../src/base/platform/cryptography.ts';
import {
  type ClientCertificate,
  createCertificateVerifier,
} from '../../../../src/edge/credentials/client-certificates.ts';
import {
  MAX_CERTIFICATE_NAMES,
  MAX_CLIENT_CERTIFICATES,
  MAX_PATH_SIGNATURES,
  REFUSED_MS,
} from '../../../../src/edge/credentials/limits.ts';
import { createCredentialVerifier } from '../../../../src/edge/credentials/verify.ts';
import type { ClientAuthorities } from '../../../../src/engine/evaluator/gateways.ts';
import type { OpenedRegistry } from '../../../../src/engine/plan/open-registry.ts';
import {
  ANY_PURPOSE,
  CLIENT_AUTH,
  DNS,
  EMAIL,
  EXTENSIONS,
  extension,
  type Issued,
  issue,
  issueClient,
  makeClientAuthority,
  SERVER_AUTH,
  URI,
} from '../../../support/client-authority.ts';
import { registryOf, requestOf, wantedOf } from '../../../support/credentials.ts';

const NOW = Date.now();
const HOUR = 3_600_000;
const KEY = 'svc_3kTMd0aXx1vHqJ5yYpR2cLwE8uNbS7fZ';
const OTHER_KEY = 'svc_9zGmH4eDq7WnB1oCiV6tUkAjX0rYsP2f';
/** The first octets of the SHA-256 of KEY. */
const KEY_ID = sha256Hex(KEY).slice(0, 8);
const REGISTRY = registryOf({
  keys: { [KEY]: 'shop', [OTHER_KEY]: 'partner' },
  customIds: { partner: 'urn:partner:7', shop: 'shop.clients.example' },
});
const ROOT = makeClientAuthority('Root');
const MIDDLE = makeClientAuthority('Middle', { issuer: ROOT });
const STRANGER = makeClientAuthority('Stranger');

const authoritiesOf = (...authorities: readonly Issued[]): ClientAuthorities => ({
  certificates: authorities.map(({ der }) => der.toString('base64')),
});
const sent = (...chain: readonly Issued[]): ClientCertificate => ({ chain: chain.map(({ der }) => der) });

function judge(
  chain: readonly Issued[],
  {
    authorities = [ROOT],
    now = NOW,
    registry = REGISTRY,
  }: {
    readonly authorities?: readonly Issued[];
    readonly now?: number;
    readonly registry?: OpenedRegistry;
  } = {},
): unknown {
  return createCertificateVerifier(isSignedBy)(
    sent(...chain),
    { clients: authoritiesOf(...authorities), registry },
    now,
  );
}

const named = (consumer: string) => ({ consumer, verified: ['mtls'] });
const refused = (failure: string) => ({ consumer: null, failure });
const names = (...list: readonly (readonly [number, string])[]) => ({
  extensions: [EXTENSIONS.purposes(CLIENT_AUTH), EXTENSIONS.names(...list)],
});

describe('a valid certificate', () => {
  const cases: readonly (readonly [string, readonly Issued[], string, (readonly Issued[])?])[] = [
    ['of a listed root', [issueClient(ROOT, 'shop')], 'shop'],
    ['with an intermediate', [issueClient(MIDDLE, 'shop'), MIDDLE], 'shop'],
    ['with an intermediate and the root', [issueClient(MIDDLE, 'shop'), MIDDLE, ROOT], 'shop'],
    ['in a chain out of order', [issueClient(MIDDLE, 'shop'), ROOT, STRANGER, MIDDLE], 'shop'],
    ['of a listed intermediate', [issueClient(MIDDLE, 'shop')], 'shop', [MIDDLE]],
    ['of the second authority', [issueClient(ROOT, 'shop')], 'shop', [STRANGER, ROOT]],
    ['with an RSA key', [issueClient(ROOT, 'shop', { key: 'RSA 2048' })], 'shop'],
    ['with an Ed25519 key', [issueClient(ROOT, 'shop', { key: 'Ed25519' })], 'shop'],
    [
      'with an extension whose id has a UUID (X.667)',
      [
        issueClient(ROOT, 'shop', {
          extensions: [extension('2.25.340282366920938463463374607431768211455', Buffer.from([5, 0]))],
        }),
      ],
      'shop',
    ],
    ['without extensions', [issueClient(ROOT, 'shop', { extensions: [] })], 'shop'],
    ['named by a DNS name', [issueClient(ROOT, '', names([DNS, 'shop.clients.example']))], 'shop'],
    ['named by a URI', [issueClient(ROOT, 'x', names([URI, 'urn:partner:7']))], 'partner'],
    [
      'whose alternative name precedes',
      [issueClient(ROOT, 'shop', names([URI, 'urn:partner:7']))],
      'partner',
    ],
    ['whose alternative names are unknown', [issueClient(ROOT, 'shop', names([DNS, 'a.example']))], 'shop'],
    [
      'with two names of one consumer',
      [issueClient(ROOT, '', names([DNS, 'partner'], [URI, 'urn:partner:7']))],
      'partner',
    ],
  ];
  for (const [name, chain, consumer, authorities = [ROOT]] of cases)
    test(`${name} names its consumer`, () => {
      expect(judge(chain, { authorities })).toEqual(named(consumer));
    });

  test('of an authority that was renewed counts by the certificate in force', () => {
    const old = makeClientAuthority('Root', { ofKey: ROOT, notAfter: NOW - HOUR });
    expect(judge([issueClient(ROOT, 'shop')], { authorities: [old, ROOT] })).toEqual(named('shop'));
    expect(judge([issueClient(ROOT, 'shop')], { authorities: [old] })).toEqual(refused('expired'));
  });
});

describe('a path', () => {
  const other = makeClientAuthority('Other');
  const byOther = makeClientAuthority('Middle', { issuer: other, ofKey: MIDDLE });
  const expired = makeClientAuthority('Middle', { issuer: ROOT, ofKey: MIDDLE, notAfter: NOW - HOUR });
  const rootByOther = makeClientAuthority('Root', { issuer: other, ofKey: ROOT });
  const otherByRoot = makeClientAuthority('Other', { issuer: ROOT, ofKey: other });
  const leaf = issueClient(MIDDLE, 'shop');

  test.each([
    ['another authority certifies its issuer, too', [leaf, byOther, MIDDLE], [ROOT]],
    ['the issuer has an expired certificate before the valid one', [leaf, expired, MIDDLE], [ROOT]],
    ['a root is cross-signed by the listed authority', [leaf, MIDDLE, ROOT, rootByOther], [other]],
    ['two roots certify each other', [leaf, otherByRoot, rootByOther, ROOT, MIDDLE], [other]],
    ['the leaf comes again', [leaf, leaf, MIDDLE], [ROOT]],
  ])('is found where %s', (_, chain, authorities) => {
    expect(judge(chain, { authorities })).toEqual(named('shop'));
  });

  test('is found among as many certificates as a client may send', () => {
    const many = Array.from({ length: MAX_CLIENT_CERTIFICATES - 2 }, (_, at) =>
      makeClientAuthority(`R${at}`),
    );
    expect(judge([leaf, ...many, MIDDLE])).toEqual(named('shop'));
  });

  test.each([
    [
      'of the name of its issuer',
      (issuer: Issued | null) => makeClientAuthority('Middle', issuer ? { issuer } : {}),
    ],
    [
      'that all certify its issuer',
      (issuer: Issued | null) =>
        makeClientAuthority('Middle', { ofKey: MIDDLE, ...(issuer ? { issuer } : {}) }),
    ],
  ])('takes a bounded number of signatures among certificates %s', (_, make) => {
    const many = Array.from({ length: MAX_CLIENT_CERTIFICATES - 1 }, (_unused, at) =>
      make(at % 2 === 0 ? MIDDLE : null),
    );
    let verified = 0;
    const verify = createCertificateVerifier((...pair) => {
      verified += 1;
      return isSignedBy(...pair);
    });
    const wanted = { clients: authoritiesOf(ROOT), registry: REGISTRY };
    expect(verify(sent(leaf, ...many), wanted, NOW).consumer).toBeNull();
    expect(verified).toBe(MAX_PATH_SIGNATURES);
  });
});

describe('a refused certificate', () => {
  const limited = makeClientAuthority('Limited', {
    issuer: ROOT,
    extensions: [EXTENSIONS.authority(0), EXTENSIONS.usage(0x06)],
  });
  const below = makeClientAuthority('Below', { issuer: limited });
  const other = makeClientAuthority('Root');
  const leafAsAuthority = issueClient(ROOT, 'shop');
  const ofServers = makeClientAuthority('Servers', {
    issuer: ROOT,
    extensions: [EXTENSIONS.authority(), EXTENSIONS.usage(0x06), EXTENSIONS.purposes(SERVER_AUTH)],
  });
  const constrained = makeClientAuthority('Constrained', {
    issuer: ROOT,
    extensions: [EXTENSIONS.authority(), EXTENSIONS.constraints('other.example')],
  });
  const critical = makeClientAuthority('Critical', {
    issuer: ROOT,
    extensions: [EXTENSIONS.authority(), EXTENSIONS.unknown],
  });
  const noSigner = makeClientAuthority('No signer', {
    issuer: ROOT,
    extensions: [EXTENSIONS.authority(), EXTENSIONS.usage(0x02)],
  });
  const expired = makeClientAuthority('Expired', { issuer: ROOT, notAfter: NOW - HOUR });
  const weak = makeClientAuthority('Weak', { issuer: ROOT, key: 'RSA 1024' });
  const purpose = (...ids: readonly string[]) => ({ extensions: [EXTENSIONS.purposes(...ids)] });
  const many = Array.from({ length: MAX_CERTIFICATE_NAMES + 1 }, (_, at) => [DNS, `h${at}`] as const);

  const cases: readonly (readonly [string, string, readonly Issued[]])[] = [
    ['of an unknown authority', 'wrong_issuer', [issueClient(STRANGER, 'shop')]],
    ['of an unknown authority that it sends', 'wrong_issuer', [issueClient(STRANGER, 'shop'), STRANGER]],
    ['of an authority of the same name', 'wrong_signature', [issueClient(other, 'shop'), other]],
    ['that issues itself', 'wrong_issuer', [issue(null, { name: 'shop' })]],
    ['without its intermediate', 'wrong_issuer', [issueClient(MIDDLE, 'shop')]],
    ['that a client has issued', 'wrong_issuer', [issueClient(leafAsAuthority, 'partner'), leafAsAuthority]],
    ['below a path that is too long', 'wrong_issuer', [issueClient(below, 'shop'), below, limited]],
    ['of an authority for servers', 'wrong_issuer', [issueClient(ofServers, 'shop'), ofServers]],
    [
      'of an authority with name constraints',
      'wrong_issuer',
      [issueClient(constrained, 'shop'), constrained],
    ],
    ['of an authority with an unknown limit', 'wrong_issuer', [issueClient(critical, 'shop'), critical]],
    ['of one that may not sign certificates', 'wrong_issuer', [issueClient(noSigner, 'shop'), noSigner]],
    ['of an authority with a weak key', 'wrong_issuer', [issueClient(weak, 'shop'), weak]],
    ['of an expired intermediate', 'expired', [issueClient(expired, 'shop'), expired]],
    ['that has expired', 'expired', [issueClient(ROOT, 'shop', { notAfter: NOW - HOUR })]],
    ['that is not valid yet', 'not_yet_valid', [issueClient(ROOT, 'shop', { notBefore: NOW + HOUR })]],
    ['for servers', 'wrong_type', [issueClient(ROOT, 'shop', purpose(SERVER_AUTH))]],
    ['for any purpose alone, as OpenSSL', 'wrong_type', [issueClient(ROOT, 'shop', purpose(ANY_PURPOSE))]],
    [
      'that may not sign',
      'wrong_type',
      [issueClient(ROOT, 'shop', { extensions: [EXTENSIONS.usage(0x20)] })],
    ],
    [
      'with an unknown critical extension',
      'wrong_type',
      [issueClient(ROOT, 'shop', { extensions: [EXTENSIONS.unknown] })],
    ],
    ['with a weak key', 'wrong_algorithm', [issueClient(ROOT, 'shop', { key: 'RSA 1024' })]],
    ['signed with SHA-1', 'wrong_algorithm', [issueClient(ROOT, 'shop', { digest: 'sha1' })]],
    ['of nobody', 'unknown_consumer', [issueClient(ROOT, 'nobody')]],
    ['without a name', 'claim_missing', [issueClient(ROOT, '')]],
    ['of two consumers', 'conflict', [issueClient(ROOT, '', names([DNS, 'shop'], [EMAIL, 'partner']))]],
    ['whose name has a NUL', 'unknown_consumer', [issueClient(ROOT, 'shop\0.example')]],
    ['whose name is of another case', 'unknown_consumer', [issueClient(ROOT, 'SHOP')]],
    ['with too many names', 'too_long', [issueClient(ROOT, 'shop', names(...many))]],
    [
      'with a chain that is too long',
      'too_long',
      [issueClient(ROOT, 'shop'), ...Array.from({ length: MAX_CLIENT_CERTIFICATES }, () => STRANGER)],
    ],
  ];
  test.each(cases)('%s fails as `%s`', (_, failure, chain) => {
    expect(judge(chain)).toEqual(refused(failure));
  });

  test('that is cut short or has octets behind it fails as `malformed`', () => {
    const { der } = issueClient(ROOT, 'shop');
    const verify = createCertificateVerifier(isSignedBy);
    const wanted = { clients: authoritiesOf(ROOT), registry: REGISTRY };
    for (let end = 0; end < der.length; end++)
      expect(verify({ chain: [der.subarray(0, end)] }, wanted, NOW)).toEqual(refused('malformed'));
    expect(verify({ chain: [Buffer.concat([der, Buffer.alloc(1)])] }, wanted, NOW)).toEqual(
      refused('malformed'),
    );
  });

  test('with one bit changed never names a consumer that it was not issued for', () => {
    const { der } = issueClient(ROOT, 'shop');
    const verify = createCertificateVerifier(isSignedBy);
    const wanted = { clients: authoritiesOf(ROOT), registry: REGISTRY };
    for (let at = 0; at < der.length; at++) {
      const changed = Buffer.from(der);
      changed[at]! ^= 1 << (at % 8);
      expect(verify({ chain: [changed] }, wanted, NOW).consumer, `octet ${at}`).toBeNull();
    }
  });
});

describe('the cache of a connection', () => {
  const wantedBy = (clients: ClientAuthorities) => ({ clients, registry: REGISTRY });

  test('is of one set of authorities', () => {
    const verify = createCertificateVerifier(isSignedBy);
    const connection = sent(issueClient(ROOT, 'shop'));
    expect(verify(connection, wantedBy(authoritiesOf(ROOT)), NOW)).toEqual(named('shop'));
    expect(verify(connection, wantedBy(authoritiesOf(STRANGER)), NOW)).toEqual(refused('wrong_issuer'));
  });

  test('ends with the certificate', () => {
    const verify = createCertificateVerifier(isSignedBy);
    const notAfter = Math.floor(NOW / 1_000) * 1_000 + HOUR;
    const connection = sent(issueClient(ROOT, 'shop', { notAfter }));
    const wanted = wantedBy(authoritiesOf(ROOT));
    expect(verify(connection, wanted, NOW)).toEqual(named('shop'));
    expect(verify(connection, wanted, notAfter + 999)).toEqual(named('shop'));
    expect(verify(connection, wanted, notAfter + 1_000)).toEqual(refused('expired'));
  });

  test('refuses for seconds a certificate that is not valid yet, and takes it then', () => {
    const verify = createCertificateVerifier(isSignedBy);
    const notBefore = Math.ceil(NOW / 1_000) * 1_000 + 1_000;
    const connection = sent(issueClient(ROOT, 'shop', { notBefore }));
    const wanted = wantedBy(authoritiesOf(ROOT));
    expect(verify(connection, wanted, NOW)).toEqual(refused('not_yet_valid'));
    expect(verify(connection, wanted, notBefore)).toEqual(refused('not_yet_valid'));
    expect(verify(connection, wanted, NOW + REFUSED_MS)).toEqual(named('shop'));
  });

  test('has no consumers: a changed registry counts at once', () => {
    const verify = createCertificateVerifier(isSignedBy);
    const connection = sent(issueClient(ROOT, 'shop'));
    const clients = authoritiesOf(ROOT);
    expect(verify(connection, { clients, registry: REGISTRY }, NOW)).toEqual(named('shop'));
    const registry = registryOf({ consumers: ['partner'] });
    expect(verify(connection, { clients, registry }, NOW)).toEqual(refused('unknown_consumer'));
  });
});

describe('a certificate beside a key', () => {
  const { verify } = createCredentialVerifier(sha256, createCertificateVerifier(isSignedBy));
  const wanted = {
    ...wantedOf(REGISTRY, [], [{ in: 'header', name: 'X-Api-Key' }]),
    clients: authoritiesOf(ROOT),
  };
  const own = sent(issueClient(ROOT, 'shop'));
  const judged = (key: string | null, certificate: ClientCertificate | null): unknown =>
    verify(requestOf(key === null ? {} : { 'x-api-key': key }), wanted, { now: NOW, certificate });

  test.each([
    ['none of both', null, null, refused('missing')],
    ['none of both, asked for', null, sent(), refused('missing')],
    ['a key alone', KEY, sent(), { consumer: 'shop', verified: ['api_key'], keyId: KEY_ID }],
    ['a certificate alone', null, own, named('shop')],
    ['both of one consumer', KEY, own, { consumer: 'shop', verified: ['api_key', 'mtls'], keyId: KEY_ID }],
    ['both, of two consumers', OTHER_KEY, own, refused('conflict')],
    ['a valid certificate and an unknown key', 'svc_unknown', own, refused('unknown_key')],
    ['a key and a refused certificate', KEY, sent(issueClient(STRANGER, 'shop')), refused('wrong_issuer')],
  ])('%s', (_, key, certificate, identity) => {
    expect(judged(key, certificate)).toEqual(identity);
  });

  test('counts nowhere that the gateway takes none', () => {
    const found = verify(requestOf({}), { ...wanted, clients: null }, { now: NOW, certificate: own });
    expect(found).toEqual(refused('missing'));
  });
});

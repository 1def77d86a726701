/** The test authority, asked by acme-client, and with requests that acme-client does not send. */
import { createHash, createPrivateKey, randomBytes, sign, X509Certificate } from 'node:crypto';
import acme from 'acme-client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ChallengeCheck, startAuthority, type TestAuthority } from './acme-authority.ts';

const DAY = 86_400_000;
const START = Date.parse('2031-03-04T05:06:07.890Z');
const NAMES = ['example.test', '*.example.test'];

const retries = (acme.axios.defaults as { acmeSettings?: { retryMaxAttempts: number } }).acmeSettings;
const usualRetries = retries?.retryMaxAttempts ?? 0;
const accept: ChallengeCheck = async () => null;

let now = START;
let check = accept;
let authority: TestAuthority;

beforeAll(async () => {
  if (retries !== undefined) retries.retryMaxAttempts = 0;
  authority = await startAuthority({
    clock: () => now,
    lifeMs: 90 * DAY,
    resolve: (challenge) => check(challenge),
  });
});

afterAll(async () => {
  if (retries !== undefined) retries.retryMaxAttempts = usualRetries;
  await authority.stop();
});

afterEach(() => {
  authority.clearFaults();
  check = accept;
});

async function createClient(key?: Buffer): Promise<acme.Client> {
  const accountKey = key ?? (await acme.crypto.createPrivateEcdsaKey());
  const client = new acme.Client({ ...pace(), directoryUrl: authority.directoryUrl, accountKey });
  await client.createAccount({ termsOfServiceAgreed: true, contact: ['mailto:somebody@example.test'] });
  return client;
}

function pace() {
  return { backoffAttempts: 20, backoffMin: 1, backoffMax: 20 };
}

interface Wanted {
  readonly names: readonly string[];
  readonly replaces?: string;
}

async function orderOf(client: acme.Client, { names, replaces }: Wanted): Promise<acme.Order> {
  const identifiers = names.map((value) => ({ type: 'dns', value }));
  return client.createOrder({ identifiers, ...(replaces === undefined ? {} : { replaces }) });
}

async function prove(client: acme.Client, order: acme.Order): Promise<void> {
  for (const authorization of await client.getAuthorizations(order)) {
    const challenge = authorization.challenges.at(-1);
    if (challenge === undefined) throw new Error('an authorization has no challenge');
    await client.completeChallenge(challenge);
    await client.waitForValidStatus(authorization);
  }
}

async function obtain(client: acme.Client, wanted: Wanted): Promise<string> {
  const order = await orderOf(client, wanted);
  await prove(client, order);
  return client.getCertificate(await client.finalizeOrder(order, await csrOf(wanted.names)));
}

async function csrOf(names: readonly string[]): Promise<Buffer> {
  const [, csr] = await acme.crypto.createCsr(
    { altNames: [...names] },
    await acme.crypto.createPrivateEcdsaKey(),
  );
  return csr;
}

interface Renewal {
  readonly suggestedWindow: { readonly start: string; readonly end: string };
}

async function renewalOf(certId: string): Promise<{ readonly after: string | null; readonly body: Renewal }> {
  const { renewalInfo } = (await (await fetch(authority.directoryUrl)).json()) as { renewalInfo: string };
  const response = await fetch(`${renewalInfo}/${certId}`);
  expect(response.status).toBe(200);
  return { after: response.headers.get('retry-after'), body: (await response.json()) as Renewal };
}

describe('certificates', () => {
  test('a name and its wildcard get a certificate that chains to the root and is dated by the clock', async () => {
    const asked: string[] = [];
    check = async ({ type, name, token, keyAuthorization, digest }) => {
      asked.push(`${type} ${name}`);
      expect(keyAuthorization.startsWith(`${token}.`)).toBe(true);
      expect(digest).toBe(createHash('sha256').update(keyAuthorization).digest('base64url'));
      return null;
    };
    const chain = acme.crypto.splitPemChain(await obtain(await createClient(), { names: NAMES }));
    check = accept;
    const [leaf, issuing] = chain.map((pem) => new X509Certificate(pem));
    if (leaf === undefined || issuing === undefined) throw new Error('the chain is short');
    const root = new X509Certificate(authority.pem);
    expect(chain).toHaveLength(2);
    expect([
      leaf.verify(issuing.publicKey),
      issuing.verify(root.publicKey),
      root.verify(root.publicKey),
    ]).toEqual([true, true, true]);
    expect([leaf.checkIssued(issuing), issuing.checkIssued(root)]).toEqual([true, true]);
    expect([leaf.ca, issuing.ca, root.ca]).toEqual([false, true, true]);
    expect(leaf.checkHost('example.test')).toBe('example.test');
    expect(leaf.checkHost('any.example.test')).toBe('*.example.test');
    expect(leaf.checkHost('other.test')).toBeUndefined();
    expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    const notBefore = Math.floor((START - 3_600_000) / 1_000) * 1_000;
    expect([Date.parse(leaf.validFrom), Date.parse(leaf.validTo)]).toEqual([notBefore, notBefore + 90 * DAY]);
    const issued = authority.records.issued.at(-1);
    expect(issued).toMatchObject({
      names: NAMES,
      serial: leaf.serialNumber,
      at: START,
      notBefore,
      replaces: null,
    });
    expect(asked).toEqual(['dns-01 example.test', 'dns-01 example.test']);
    expect(authority.records.orders.at(-1)?.url).toBe(issued?.orderUrl);
  });

  test('a wildcard has no http-01 challenge', async () => {
    const client = await createClient();
    const authorizations = await client.getAuthorizations(await orderOf(client, { names: NAMES }));
    expect(authorizations.map(({ challenges }) => challenges.map(({ type }) => type))).toEqual([
      ['http-01', 'dns-01'],
      ['dns-01'],
    ]);
    expect(authorizations.map(({ wildcard = false }) => wildcard)).toEqual([false, true]);
  });

  test('an RSA key gets one account, found again by its key', async () => {
    const key = await acme.crypto.createPrivateRsaKey();
    const before = authority.records.accounts.length;
    const [first, second] = [await createClient(key), await createClient(key)];
    expect(second.getAccountUrl()).toBe(first.getAccountUrl());
    expect(authority.records.accounts).toHaveLength(before + 1);
    const other = new acme.Client({
      directoryUrl: authority.directoryUrl,
      accountKey: await acme.crypto.createPrivateEcdsaKey(),
    });
    await expect(other.createAccount({ onlyReturnExisting: true })).rejects.toThrow('the key has no account');
    await expect(other.getOrder({ ...(await orderOf(first, { names: ['a.test'] })) })).rejects.toThrow(
      'account',
    );
  });

  test('a signing request for other names, and one before the validation, are refused', async () => {
    const client = await createClient();
    const order = await orderOf(client, { names: ['a.test'] });
    const csr = await csrOf(['a.test']);
    await expect(client.finalizeOrder(order, csr)).rejects.toThrow('the order is pending');
    await prove(client, order);
    await expect(client.finalizeOrder(order, await csrOf(['a.test', 'b.test']))).rejects.toThrow(
      '`a.test, b.test`',
    );
    const broken = Buffer.from(acme.crypto.getPemBodyAsB64u(csr), 'base64url');
    broken.writeUInt8(broken.readUInt8(broken.length - 1) ^ 1, broken.length - 1);
    const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${broken.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    await expect(client.finalizeOrder(order, pem)).rejects.toThrow('signature');
    await client.finalizeOrder(order, csr);
  });

  test('names that no public authority certifies are refused, each with a subproblem', async () => {
    const client = await createClient();
    const wrong = ['under_score.test', 'fine.test', '*.*.test', 'single', '192.0.2.1'];
    const problem = await refusedOrder(client, wrong);
    expect(problem).toMatchObject({ status: 400, type: 'urn:ietf:params:acme:error:rejectedIdentifier' });
    expect(problem.subproblems?.map(({ identifier }) => identifier.value)).toEqual(
      wrong.filter((n) => n !== 'fine.test'),
    );
    const many = Array.from({ length: 101 }, (_, index) => `n${index}.test`);
    await expect(orderOf(client, { names: many })).rejects.toThrow('more than 100');
    await expect(orderOf(client, { names: ['www.a.test', '*.a.test'] })).rejects.toThrow('redundant');
  });

  test('a revoked certificate is recorded, due for renewal, and not revoked twice', async () => {
    const client = await createClient();
    const [leaf = ''] = acme.crypto.splitPemChain(await obtain(client, { names: ['gone.test'] }));
    await expect((await createClient()).revokeCertificate(leaf)).rejects.toThrow('another account');
    await client.revokeCertificate(leaf);
    const issued = authority.records.issued.at(-1);
    expect(issued?.revokedAt).toBe(now);
    expect(Date.parse((await renewalOf(issued?.certId ?? '')).body.suggestedWindow.end)).toBe(now);
    await expect(client.revokeCertificate(leaf)).rejects.toThrow('revoked already');
  });

  test('serial numbers are unique', async () => {
    const client = await createClient();
    for (let index = 0; index < 20; index++) await obtain(client, { names: [`n${index}.many.test`] });
    const { issued } = authority.records;
    expect(new Set(issued.map(({ serial }) => serial)).size).toBe(issued.length);
  });
});

describe('renewal information', () => {
  test('the identifier is that of RFC 9773, with serial numbers of either first bit', async () => {
    const client = await createClient();
    for (let index = 0; index < 2; index++) {
      await obtain(client, { names: ['ari.test'] });
      const issued = authority.records.issued.at(-1);
      const [keyId = '', serial = ''] = issued?.certId.split('.') ?? [];
      expect(Buffer.from(keyId, 'base64url')).toHaveLength(20);
      expect(Buffer.from(serial, 'base64url').toString('hex').toUpperCase().replace(/^00/, '')).toBe(
        issued?.serial,
      );
    }
    const lengths = authority.records.issued.map(
      ({ certId }) => Buffer.from(certId.split('.')[1] ?? '', 'base64url').length,
    );
    expect([...new Set(lengths)].sort()).toEqual([16, 17]);
  });

  test('the window is late in the lifetime until the script moves it into the past', async () => {
    const issued = authority.records.issued.at(-1);
    if (issued === undefined) throw new Error('nothing was issued');
    const usual = await renewalOf(issued.certId);
    expect(usual.after).toBe('21600');
    expect(Date.parse(usual.body.suggestedWindow.start)).toBe(issued.notAfter - 30 * DAY);
    authority.faults.renewalWindow = () => ({ start: now - 2 * DAY, end: now - DAY });
    authority.faults.renewalRetryAfter = 60;
    const moved = await renewalOf(issued.certId);
    authority.clearFaults();
    expect(moved.after).toBe('60');
    expect(Date.parse(moved.body.suggestedWindow.end)).toBe(now - DAY);
  });

  test('an order replaces a certificate of its account once', async () => {
    const client = await createClient();
    await obtain(client, { names: ['turn.test'] });
    const replaces = authority.records.issued.at(-1)?.certId ?? '';
    await expect(orderOf(client, { names: ['other.test'], replaces })).rejects.toThrow('shares no name');
    await expect(orderOf(await createClient(), { names: ['turn.test'], replaces })).rejects.toThrow(
      'no certificate',
    );
    await obtain(client, { names: ['turn.test'], replaces });
    expect(authority.records.issued.at(-1)?.replaces).toBe(replaces);
    expect(authority.records.orders.at(-1)?.replaces).toBe(replaces);
    await expect(orderOf(client, { names: ['turn.test'], replaces })).rejects.toThrow('replaced already');
  });
});

describe('requests by hand', () => {
  test('a nonce is used once, an address must be the signed one, a signature must match', async () => {
    const key = await acme.crypto.createPrivateEcdsaKey();
    const kid = (await createClient(key)).getAccountUrl();
    const send = sender({ key, kid });
    const nonce = await freshNonce();
    expect(await send({ nonce })).toBe(200);
    expect(await send({ nonce })).toBe('400 badNonce');
    expect(await send({ nonce: randomBytes(16).toString('base64url') })).toBe('400 badNonce');
    expect(await send({ nonce: await freshNonce(), signedUrl: `${kid}0` })).toBe('400 unauthorized');
    const other = sender({ key: await acme.crypto.createPrivateEcdsaKey(), kid });
    expect(await other({ nonce: await freshNonce() })).toBe('400 malformed');
    expect(await sender({ key, kid: `${kid}0` })({ nonce: await freshNonce() })).toBe(
      '400 accountDoesNotExist',
    );
  });
});

describe('faults', () => {
  test('an authority that is down destroys connections, and serves again afterwards', async () => {
    const client = await createClient();
    authority.faults.down = true;
    await expect(fetch(authority.directoryUrl)).rejects.toThrow('fetch failed');
    await expect(orderOf(client, { names: ['a.test'] })).rejects.toThrow();
    authority.clearFaults();
    await obtain(client, { names: ['a.test'] });
  });

  test('slow answers arrive late', async () => {
    authority.faults.slowMs = 150;
    const from = performance.now();
    expect((await fetch(authority.directoryUrl)).status).toBe(200);
    authority.clearFaults();
    expect(performance.now() - from).toBeGreaterThan(140);
  });

  test('rejected nonces cost requests, and all of them the order', async () => {
    const client = await createClient();
    authority.faults.rejectNonces = 0.5;
    await obtain(client, { names: ['a.test'] });
    authority.faults.rejectNonces = 1;
    await expect(orderOf(client, { names: ['a.test'] })).rejects.toThrow('the nonce is rejected');
    authority.clearFaults();
    expect(authority.records.requests.filter(({ status }) => status === 400).length).toBeGreaterThan(5);
  });

  test('a rate limit answers 429 with Retry-After as often as it says', async () => {
    const client = await createClient();
    authority.faults.rateLimit = { left: 2, retryAfter: 3_600 };
    expect(await refusedOrder(client, ['a.test'])).toMatchObject({
      status: 429,
      type: 'urn:ietf:params:acme:error:rateLimited',
      retryAfter: '3600',
    });
    await expect(orderOf(client, { names: ['a.test'] })).rejects.toThrow('too many new orders');
    await orderOf(client, { names: ['a.test'] });
    authority.clearFaults();
  });

  test('a name is refused by the order, or by the validation, which is recorded', async () => {
    const client = await createClient();
    authority.faults.refuse = (name) => {
      if (name === 'bad.test') return { at: 'order', detail: 'policy forbids it' };
      return name === 'lost.test' ? { at: 'validation', type: 'dns', detail: 'no address' } : null;
    };
    const problem = await refusedOrder(client, ['good.test', 'bad.test']);
    expect(problem.subproblems?.map(({ identifier }) => identifier.value)).toEqual(['bad.test']);
    await expect(obtain(client, { names: ['lost.test'] })).rejects.toThrow('no address');
    authority.clearFaults();
    check = async () => 'answered 404';
    await expect(obtain(client, { names: ['lost.test'] })).rejects.toThrow('answered 404');
    check = accept;
    expect(authority.records.failedValidations).toEqual([
      { name: 'lost.test', type: 'dns-01', at: now, reason: 'no address' },
      { name: 'lost.test', type: 'dns-01', at: now, reason: 'answered 404' },
    ]);
  });

  test('a share of requests is answered 500', async () => {
    authority.faults.serverError = 0.5;
    const codes: number[] = [];
    for (let index = 0; index < 4; index++) codes.push((await fetch(authority.directoryUrl)).status);
    authority.clearFaults();
    expect(codes).toEqual([200, 500, 200, 500]);
  });

  test('a certificate whose answer was lost is issued, and its order has it', async () => {
    const client = await createClient();
    const order = await orderOf(client, { names: ['a.test'] });
    await prove(client, order);
    const before = authority.records.issued.length;
    authority.faults.loseAnswers = (endpoint) => endpoint === 'finalize';
    await expect(client.finalizeOrder(order, await csrOf(['a.test']))).rejects.toThrow();
    authority.clearFaults();
    expect(authority.records.issued).toHaveLength(before + 1);
    expect(authority.records.requests.at(-1)).toEqual({ endpoint: 'finalize', at: now, status: null });
    expect(await client.getCertificate(await client.getOrder(order))).toBe(
      authority.records.issued.at(-1)?.pem,
    );
  });

  test('an order is processing for as many polls as the script says', async () => {
    const client = await createClient();
    authority.faults.processingPolls = 2;
    const order = await orderOf(client, { names: ['a.test'] });
    await prove(client, order);
    const states = [(await client.finalizeOrder(order, await csrOf(['a.test']))).status];
    for (let index = 0; index < 3; index++) states.push((await client.getOrder(order)).status);
    authority.clearFaults();
    expect(states).toEqual(['processing', 'processing', 'processing', 'valid']);
  });

  test('an order that was left for longer than a week is invalid', async () => {
    const client = await createClient();
    const order = await orderOf(client, { names: ['a.test'] });
    now += 8 * DAY;
    expect((await client.getOrder(order)).status).toBe('invalid');
  });
});

interface RefusedOrder {
  readonly status: number;
  readonly type?: string;
  readonly retryAfter: string | null;
  readonly subproblems?: readonly { readonly identifier: { readonly value: string } }[];
}

/** The problem that newOrder answers, read from the response, which acme-client reduces to a sentence. */
async function refusedOrder(client: acme.Client, names: readonly string[]): Promise<RefusedOrder> {
  let found: RefusedOrder | undefined;
  const { interceptors } = acme.axios;
  const id = interceptors.response.use((response) => {
    if (response.status >= 400)
      found = {
        ...response.data,
        status: response.status,
        retryAfter: response.headers['retry-after'] ?? null,
      };
    return response;
  });
  await expect(orderOf(client, { names })).rejects.toThrow();
  interceptors.response.eject(id);
  if (found === undefined) throw new Error('newOrder answered no problem');
  return found;
}

async function freshNonce(): Promise<string> {
  const { newNonce } = (await (await fetch(authority.directoryUrl)).json()) as { newNonce: string };
  return (await fetch(newNonce, { method: 'HEAD' })).headers.get('replay-nonce') ?? '';
}

/** Sends a POST-as-GET to an account; resolves to 200, or the status and the type of the problem. */
function sender({ key, kid }: { readonly key: Buffer; readonly kid: string }) {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return async ({ nonce, signedUrl = kid }: { readonly nonce: string; readonly signedUrl?: string }) => {
    const head = encode({ alg: 'ES256', kid, nonce, url: signedUrl });
    const signature = sign('sha256', Buffer.from(`${head}.`), {
      key: createPrivateKey(key.toString()),
      dsaEncoding: 'ieee-p1363',
    });
    const response = await fetch(kid, {
      method: 'POST',
      headers: { 'content-type': 'application/jose+json' },
      body: JSON.stringify({ protected: head, payload: '', signature: signature.toString('base64url') }),
    });
    const { type = '' } = (await response.json()) as { type?: string };
    return response.status === 200 ? 200 : `${response.status} ${type.split(':').at(-1)}`;
  };
}

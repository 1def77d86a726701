/** Customers' certificates over real sockets and a real store: uploads, the feed of nodes, keys at rest, what is lost. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { boxKeyOctets, openBox } from '../../src/base/platform/cryptography.ts';
import { newKeyText, openKeyRing, sealedUnder } from '../../src/control/certificates/key-ring.ts';
import { MAX_CERTIFICATES } from '../../src/control/certificates/limits.ts';
import { BOX_KEY_HEADER, DIGEST_HEADER, sealSet } from '../../src/control/certificates/make-set.ts';
import { checkKeys, LOST_KEY, resealKeys } from '../../src/control/certificates/stored-keys.ts';
import { noticeCertificateEnds } from '../../src/control/notices/watch.ts';
import { createNode } from '../../src/control/publishing/nodes.ts';
import { readPage } from '../../src/control/publishing/pages.ts';
import { openSigner } from '../../src/control/publishing/signer.ts';
import { type CertificateSet, certificateSetContext } from '../../src/engine/plan/manifest.ts';
import { type Person, send, startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { testDatabases } from '../support/databases.ts';
import { keyTraces } from '../support/key-traces.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { type MadeLeaf, makeAuthority, type TestAuthority } from '../support/make-chain.ts';
import { requires } from '../support/requires.ts';
import { newCertificate, publication } from '../support/sample-rows.ts';

const DAY = 86_400_000;

describe.each(testDatabases())('certificates on $kind', requires(OPENSSL_MISSING), (database) => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-ssl-'));
  const text = newKeyText();
  let keys = [text];
  const ring = openKeyRing({ where: 'the test', read: () => keys.join(' ') });
  let api: TestApi;
  let ca: TestAuthority;
  let subject: Subject;
  let viewer: Person;
  let leaf: MadeLeaf;
  let token: string;
  const box = generateKeyPairSync('x25519');
  const boxKey = boxKeyOctets(box.publicKey).toString('base64');
  /** Everything that the API answered. */
  const answers: (string | Buffer)[] = [];

  beforeAll(async () => {
    ca = makeAuthority(folder);
    api = await startApi(database, { secretsKey: ring });
    subject = await addSubject(api);
    viewer = await subject.member('viewer', 'viewer');
    leaf = ca.leaf({ names: [subject.domain.name, `*.${subject.domain.name}`] });
    token = (await api.store.write((tx) => createNode(tx, 'eu-1', api.now()))).token;
    await publish(1);
  }, 120_000);
  afterAll(async () => {
    await api?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const publish = (revision: number) =>
    api.store.write(async (tx) => {
      await tx.plans.putBlob('d', new Uint8Array(8), api.now());
      const made = { domain_id: subject.domain.id, revision, digest: 'd', at: api.now() };
      await tx.plans.publish(publication(subject.domain.name, made));
    });
  const ask = async (method: string, path: string, body?: unknown, person: Person = subject.owner) => {
    const answer = await person.call(method, subject.at(path), body);
    answers.push(answer.text, JSON.stringify(answer.headers));
    return answer;
  };
  const upload = (made = leaf, query = '') =>
    ask('POST', `/ssl/${query}`, { certificate: made.chain, key: made.key });
  const asNode = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${api.url}${path}`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
    const octets = Buffer.from(await response.arrayBuffer());
    answers.push(octets);
    return { status: response.status, octets, headers: response.headers };
  };
  /** The entry of the domain in the page that nodes get. */
  const entry = async () => {
    const signer = await openSigner(api.store, api.now);
    const page = await readPage(0, 'default', { store: api.store, signer, clock: api.now });
    answers.push(JSON.stringify(page));
    return page.manifest.entries.find(({ domain }) => domain === subject.domain.name)!;
  };
  const fetchSet = () => asNode(`/nodes/certificates/${subject.domain.name}`, { [BOX_KEY_HEADER]: boxKey });

  test('a domain without certificates has status none, names without one, and no digest for nodes', async () => {
    const record = { type: 'A', name: 'www', destination: '198.51.100.7', proxied: true };
    expect((await ask('POST', '/records/', record)).status).toBe(200);
    expect((await ask('GET', '/ssl/')).body).toEqual({
      status: 'none',
      certificates: [],
      uncovered_hostnames: [`www.${subject.domain.name}`],
    });
    expect(await entry()).not.toHaveProperty('certificates');
    expect((await fetchSet()).status).toBe(404);
  });

  test('parse says what a certificate is and what is wrong, and stores nothing', async () => {
    const good = await ask('POST', '/ssl/parse', { certificate: leaf.chain, key: leaf.key }, viewer);
    expect(good.body).toMatchObject({
      valid: true,
      certificate: { issuer: 'Test Intermediate', chain: 2, key_type: 'P-256' },
      key: { key_type: 'P-256', fits: true },
      findings: [],
    });
    const other = ca.leaf({ names: ['other.example'] });
    const bad = await ask('POST', '/ssl/parse', { certificate: other.chain });
    expect(bad.body).toMatchObject({ valid: false, key: null, findings: [{ code: 'certificate_names' }] });
    expect((await ask('POST', '/ssl/parse', { certificate: 'x' })).body.certificate).toBeNull();
    expect((await ask('GET', '/ssl/')).body.certificates).toEqual([]);
  });

  test('an upload is refused with the reason, without permission, and without the feature', async () => {
    const wrong = await ask('POST', '/ssl/', { certificate: leaf.chain, key: ca.leaf({ names: ['x'] }).key });
    expect(wrong.status).toBe(400);
    expect(wrong.body.error).toMatch(
      /^key: the private key \(P-256\) does not belong to the first certificate/,
    );
    const both = { certificate: leaf.chain, key: leaf.key };
    expect((await ask('POST', '/ssl/', both, viewer)).status).toBe(403);
    await subject.allow({ custom_ssl_enabled: false });
    const closed = await upload();
    expect([closed.status, closed.body.error]).toEqual([
      403,
      'plan `business` does not include custom certificates (`custom_ssl_enabled`)',
    ]);
    await subject.allow({ custom_ssl_enabled: true });
    const stranger = await api.person('stranger');
    for (const [method, path] of [
      ['GET', '/ssl/'],
      ['POST', '/ssl/'],
      ['POST', '/ssl/parse'],
      ['DELETE', '/ssl/1'],
    ] as const)
      expect((await ask(method, path, method === 'POST' ? both : undefined, stranger)).status).toBe(404);
    expect((await upload(leaf, '?validate_only=true')).status).toBe(200);
    expect((await ask('GET', '/ssl/')).body.certificates).toEqual([]);
    expect(await entry()).not.toHaveProperty('certificates');
  });

  test('a body of another form is refused without repeating anything of it', async () => {
    for (const body of [
      { certificate: leaf.chain, key: [leaf.key] },
      { certificate: leaf.chain, key: { pem: leaf.key } },
      { certificate: leaf.chain, private_key: leaf.key },
      { certificate: leaf.key, key: leaf.chain },
      { certificate: leaf.chain, key: `${leaf.key}${leaf.key}` },
      { certificate: leaf.chain, key: leaf.key.repeat(200) },
      { certificate: leaf.chain, [leaf.key]: 1 },
      leaf.key,
    ]) {
      const answer = await ask('POST', '/ssl/', body);
      expect(answer.status).toBe(400);
    }
    const raw = Buffer.from(`{"certificate":"x","key":"${leaf.key}"`);
    const { status, text: said } = await send(api.port, {
      method: 'POST',
      path: subject.at('/ssl/'),
      body: raw,
      headers: { authorization: `Bearer ${subject.owner.key}` },
    });
    answers.push(said);
    expect(status).toBe(400);
  });

  test('an uploaded certificate is listed, audited, and in the manifest at a new position', async () => {
    const before = (await entry()).position;
    const { status, body } = await upload();
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({
      source: 'custom',
      names: [subject.domain.name, `*.${subject.domain.name}`],
      status: 'active',
    });
    const listed = (await ask('GET', '/ssl/', undefined, viewer)).body;
    expect(listed).toEqual({ status: 'active', certificates: [body] });
    expect((await ask('GET', '')).body.ssl).toMatchObject({ status: 'active', days_remaining: 89 });
    expect((await subject.audited())[0]).toBe(`certificate.upload certificate/${body.id}`);
    const after = await entry();
    expect(after.certificates).toMatch(/^[0-9a-f]{64}$/);
    expect(after.position).toBeGreaterThan(before);
    answers.push((await ask('GET', '/audit/')).text);
  });

  test('a node gets the set that the manifest names, sealed to its key', async () => {
    const { status, octets, headers } = await fetchSet();
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/octet-stream');
    const { certificates: digest } = await entry();
    expect(headers.get(DIGEST_HEADER)).toBe(digest);
    const plain = openBox(box.privateKey, octets, certificateSetContext(subject.domain.name, digest!))!;
    expect(createHash('sha256').update(plain).digest('hex')).toBe(digest);
    const set = JSON.parse(plain.toString()) as CertificateSet;
    expect(set).toMatchObject({ format: 'edgeplan.certificates/v1', domain: subject.domain.name });
    expect(set.certificates).toEqual([
      { id: expect.any(Number), source: 'custom', chain: leaf.chain, key: leaf.key },
    ]);
    const other = generateKeyPairSync('x25519').privateKey;
    expect(openBox(other, octets, certificateSetContext(subject.domain.name, digest!))).toBeNull();
    const again = await fetchSet();
    expect(again.octets.equals(octets)).toBe(false);
  });

  test('the key of a node is stored, and its change is logged', async () => {
    const self = await asNode('/nodes/self', { [BOX_KEY_HEADER]: boxKey });
    expect(self.status).toBe(200);
    const [node] = await api.store.latest.nodes.list();
    expect(node!.box_key).toBe(boxKey);
    const next = boxKeyOctets(generateKeyPairSync('x25519').publicKey).toString('base64');
    await asNode('/nodes/self', { [BOX_KEY_HEADER]: next });
    expect((await api.store.latest.nodes.list())[0]!.box_key).toBe(next);
    expect(api.log.join('')).toContain('a node has sent another key for certificates');
    expect((await asNode('/nodes/self')).status).toBe(200);
  });

  test('a node gets nothing with a wrong key, in other groups, of other domains, or once revoked', async () => {
    const path = `/nodes/certificates/${subject.domain.name}`;
    for (const wrong of ['', 'x', boxKey.slice(1), Buffer.alloc(31).toString('base64')])
      expect((await asNode(path, { [BOX_KEY_HEADER]: wrong })).status).toBe(400);
    expect((await asNode(path)).status).toBe(400);
    // A point of low order: every shared secret would be zeros.
    const zero = Buffer.alloc(32).toString('base64');
    expect((await asNode(path, { [BOX_KEY_HEADER]: zero })).status).toBe(400);
    expect((await asNode('/nodes/certificates/none.example', { [BOX_KEY_HEADER]: boxKey })).status).toBe(404);
    const [node] = await api.store.latest.nodes.list();
    await api.store.write((tx) => tx.nodes.setGroups(node!.id, 'us'));
    expect((await fetchSet()).status).toBe(404);
    await api.store.write((tx) => tx.nodes.setGroups(node!.id, 'default'));
    expect((await fetchSet()).status).toBe(200);
    const gone = await api.store.write((tx) => createNode(tx, 'gone', api.now()));
    await api.store.write((tx) => tx.nodes.revoke(gone.node.id, api.now()));
    const refused = await fetch(`${api.url}${path}`, {
      headers: { authorization: `Bearer ${gone.token}`, [BOX_KEY_HEADER]: boxKey },
    });
    expect(refused.status).toBe(401);
  });

  test('the same leaf again replaces the chain under the same id, and is audited', async () => {
    const before = await entry();
    const [one] = (await ask('GET', '/ssl/')).body.certificates;
    const alone = { ...leaf, chain: leaf.certificate };
    expect((await upload(alone)).body).toEqual(one);
    expect((await entry()).certificates).not.toBe(before.certificates);
    expect((await upload()).body).toEqual(one);
    expect((await entry()).certificates).toBe(before.certificates);
    expect((await subject.audited())[0]).toBe(`certificate.replace certificate/${one.id}`);
    // Nothing has changed: nodes have nothing to read again.
    const { position } = await entry();
    await upload();
    expect((await entry()).position).toBe(position);
  });

  test('a certificate expires by the clock, in every answer', async () => {
    api.ahead = 77 * DAY;
    expect((await ask('GET', '/ssl/')).body.status).toBe('expiring');
    expect((await ask('GET', '')).body.ssl.status).toBe('expiring');
    api.ahead = 91 * DAY;
    const { body } = await ask('GET', '/ssl/');
    expect(body).toMatchObject({ status: 'expired', certificates: [{ status: 'expired' }] });
    expect(body.uncovered_hostnames).toEqual([`www.${subject.domain.name}`]);
    const late = await upload();
    expect(late.body.error).toMatch(/^certificate: certificate 1 .* expired at /);
    api.ahead = 0;
  });

  test('members are notified once that it expires, and once that it has', async () => {
    const kinds = async () =>
      (await subject.owner.call('GET', '/notifications/')).body.notifications
        .map(({ kind }: { kind: string }) => kind)
        .filter((kind: string) => kind.startsWith('certificate.'));
    const now = api.now();
    expect(await noticeCertificateEnds(api.store, now)).toBe(0);
    expect(await noticeCertificateEnds(api.store, now + 77 * DAY)).toBe(1);
    expect(await noticeCertificateEnds(api.store, now + 77 * DAY)).toBe(0);
    expect(await kinds()).toEqual(['certificate.expiring']);
    expect(await noticeCertificateEnds(api.store, now + 91 * DAY)).toBe(1);
    expect(await noticeCertificateEnds(api.store, now + 91 * DAY)).toBe(0);
    expect(await kinds()).toEqual(['certificate.expired', 'certificate.expiring']);
  });

  test('of a certificate whose names others cover nobody is notified', async () => {
    const other = await addSubject(api);
    await api.store.write(async (tx) => {
      const names_json = JSON.stringify([`a.${other.domain.name}`]);
      const row = { names_json, chain: 'PEM', not_after: api.now() + DAY };
      await tx.certificates.insert(newCertificate(other.domain.id, { ...row, sha256: 'a' }));
      const wide = JSON.stringify([`*.${other.domain.name}`]);
      await tx.certificates.insert(
        newCertificate(other.domain.id, {
          names_json: wide,
          chain: 'PEM',
          sha256: 'b',
          not_after: api.now() + 80 * DAY,
        }),
      );
    });
    expect(await noticeCertificateEnds(api.store, api.now())).toBe(0);
  });

  test('a domain has a bounded number of certificates', async () => {
    await api.store.write(async (tx) => {
      for (let index = 1; index < MAX_CERTIFICATES; index += 1)
        await tx.certificates.insert(newCertificate(subject.domain.id, { sha256: `f${index}` }));
    });
    const second = ca.leaf({ names: [subject.domain.name] });
    const full = await upload(second);
    expect([full.status, full.body.error]).toEqual([
      409,
      'a domain has at most 50 certificates; delete one first',
    ]);
    expect((await upload()).status).toBe(200);
    for (const { id, sha256 } of await api.store.latest.certificates.list(subject.domain.id))
      if (sha256.startsWith('f') && sha256.length < 4)
        expect((await ask('DELETE', `/ssl/${id}`)).status).toBe(200);
  }, 60_000);

  test('a rotation encrypts every key anew, and either key decrypts before it has ended', async () => {
    const rows = () => api.store.latest.certificates.onFile(subject.domain.id);
    const old = ring.current().id;
    keys = [newKeyText(), text];
    expect((await fetchSet()).status).toBe(200);
    const { certificates: digest } = await entry();
    expect(await resealKeys(api.store, ring)).toEqual({ resealed: 1, lost: 0 });
    expect(await resealKeys(api.store, ring)).toEqual({ resealed: 0, lost: 0 });
    expect(sealedUnder((await rows())[0]!.sealed_key!)).not.toBe(old);
    keys = keys.slice(0, 1);
    expect((await fetchSet()).status).toBe(200);
    expect((await entry()).certificates).toBe(digest);
  });

  test('without its secrets key a certificate fails and nodes get none, until it is uploaded or the key is back', async () => {
    const { certificates: digest } = await entry();
    const right = keys;
    const lose = async () => {
      keys = [newKeyText()];
      const other = openKeyRing({ where: 'elsewhere', read: () => keys.join(' ') });
      expect(await checkKeys(api.store, other, api.now())).toEqual({ lost: 1, domains: 1, recovered: 0 });
      const log = { info: () => undefined, warn: () => undefined };
      const asked = { domain: subject.domain.name, key: boxKeyOctets(box.publicKey) };
      const source = { store: api.store, ring: other, log };
      expect(await sealSet(source, { node_groups: 'default' }, asked)).toEqual({ kind: 'lost' });
      const { body } = await ask('GET', '/ssl/');
      expect(body).toMatchObject({
        status: 'failed',
        certificates: [{ status: 'failed', error: LOST_KEY.custom }],
      });
      // Nodes that have the set serve it on.
      expect((await entry()).certificates).toBe(digest);
    };
    await lose();
    keys = right;
    expect(await checkKeys(api.store, ring, api.now())).toEqual({ lost: 0, domains: 0, recovered: 1 });
    expect((await ask('GET', '/ssl/')).body.status).toBe('active');
    await lose();
    expect((await upload()).body).toMatchObject({ status: 'active' });
    expect((await entry()).certificates).toBe(digest);
    expect((await fetchSet()).status).toBe(200);
  });

  test('no answer, log line, table or file has the key in any form', async () => {
    const traces = keyTraces(leaf.key);
    expect(traces.in(leaf.key)).not.toEqual([]);
    expect(traces.in(JSON.stringify({ key: leaf.key }))).not.toEqual([]);
    expect(answers.length).toBeGreaterThan(100);
    for (const answer of answers) expect(traces.in(answer)).toEqual([]);
    expect(traces.in(api.log.join('\n'))).toEqual([]);
    if (database.kind === 'sqlite') {
      const copy = join(folder, 'copy.db');
      await api.store.backup(copy);
      const files = readdirSync(api.database, { recursive: true, encoding: 'utf8' }).map((name) =>
        join(api.database, name),
      );
      const whole = [copy, ...files].filter((file) => statSync(file).isFile());
      expect(whole.length).toBeGreaterThan(1);
      for (const file of whole) expect(traces.in(readFileSync(file)), file).toEqual([]);
      // The chain is there, so the search would have found the key.
      expect(readFileSync(copy).includes(Buffer.from(leaf.certificate.split('\n')[2]!))).toBe(true);
      return;
    }
    const client = new pg.Client({ connectionString: api.database });
    await client.connect();
    const { rows } = await client.query(`select tablename from pg_tables where schemaname = 'public'`);
    let octets = '';
    for (const { tablename } of rows) {
      const { rows: found } = await client.query(`select t::text as row from "${tablename}" as t`);
      octets += found.map(({ row }) => row).join('\n');
    }
    await client.end();
    expect(octets).toContain(leaf.certificate.split('\n')[2]!);
    expect(traces.in(octets)).toEqual([]);
  });

  test('a deleted certificate is gone from the list and from the manifest', async () => {
    const [one] = (await ask('GET', '/ssl/')).body.certificates;
    expect((await ask('DELETE', `/ssl/${one.id}`, undefined, viewer)).status).toBe(403);
    expect((await ask('DELETE', `/ssl/${one.id}`)).body).toEqual({
      message: `certificate ${one.id} deleted`,
    });
    expect((await ask('DELETE', `/ssl/${one.id}`)).status).toBe(404);
    expect((await ask('GET', '/ssl/')).body.certificates).toEqual([]);
    expect(await entry()).not.toHaveProperty('certificates');
    expect((await fetchSet()).status).toBe(404);
    expect((await subject.audited())[0]).toBe(`certificate.delete certificate/${one.id}`);
  });
});

describe.each(testDatabases())(
  'a server without a secrets key on $kind',
  requires(OPENSSL_MISSING),
  (database) => {
    test('refuses uploads with the remedy, and still lists and parses', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'edgeplan-ssl-'));
      const api = await startApi(database, { secretsKey: null });
      try {
        const subject = await addSubject(api);
        const leaf = makeAuthority(folder).leaf({ names: [subject.domain.name] });
        const body = { certificate: leaf.chain, key: leaf.key };
        const answer = await subject.ask('POST', '/ssl/', body);
        expect([answer.status, answer.body.error]).toEqual([
          503,
          'this server has no secrets key to encrypt private keys with; the operator names one with `--secrets-key`',
        ]);
        expect((await subject.ask('POST', '/ssl/parse', body)).body.valid).toBe(true);
        expect((await subject.ask('GET', '/ssl/')).body.status).toBe('none');
      } finally {
        await api.close();
        rmSync(folder, { recursive: true, force: true });
      }
    }, 60_000);
  },
);

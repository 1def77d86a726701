/** Requests for certificates over the API: which names, what is answered meanwhile, and what is refused. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Person, startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { testDatabases } from '../support/databases.ts';
import { newRecord } from '../support/sample-rows.ts';

describe.each(testDatabases())('requests for certificates on $kind', (database) => {
  let api: TestApi;
  let subject: Subject;
  let domain: string;
  beforeAll(async () => {
    api = await startApi(database, { issues: true });
  });
  afterAll(() => api?.close());
  beforeEach(async () => {
    subject = await addSubject(api);
    domain = subject.domain.name;
    const names = ['@', 'www', '*.any', 'under_score'];
    await api.store.write((tx) =>
      tx.records.insert(names.map((name) => newRecord(subject.domain.id, { name }))),
    );
  });

  const ask = (method: string, path: string, body?: unknown, person: Person = subject.owner) =>
    person.call(method, `/domains/${domain}${path}`, body);
  const issue = (names?: readonly string[]) =>
    ask('POST', '/ssl/issue', names === undefined ? {} : { names });

  test('without names: all that can be had, as a pending certificate in every answer', async () => {
    const asked = await issue();
    expect(asked.status, asked.text).toBe(202);
    expect(asked.body).toEqual({
      id: expect.any(Number),
      source: 'acme',
      names: [domain, `www.${domain}`],
      status: 'pending',
    });
    const listed = (await ask('GET', '/ssl/')).body;
    expect(listed).toEqual({
      status: 'pending',
      certificates: [asked.body],
      uncovered_hostnames: [`*.any.${domain}`, domain, `under_score.${domain}`, `www.${domain}`],
    });
    const { ssl } = (await ask('GET', '')).body;
    expect(ssl).toEqual({ status: 'pending', uncovered_hostnames: listed.uncovered_hostnames });
    expect((await subject.audited())[0]).toBe(`certificate.request certificate/${asked.body.id}`);
    // Again: the same one.
    expect((await issue()).body).toEqual(asked.body);
    expect((await ask('GET', '/ssl/')).body.certificates).toHaveLength(1);
  });

  test('with names: each is judged, and the first wrong one is named', async () => {
    expect((await issue([`WWW.${domain}`, domain])).body.names).toEqual([domain, `www.${domain}`]);
    for (const [name, reason] of [
      ['other.example', 'not a name of'],
      [`*.${domain}`, 'a wildcard is proved in the zone'],
      [`absent.${domain}`, 'has no proxied record'],
      [`under_score.${domain}`, 'no host name that a certificate may have'],
      [`x${domain}`, 'not a name of'],
      ['', 'names'],
    ] as const) {
      const refused = await issue([name]);
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(reason)]);
    }
    expect((await issue([])).status).toBe(400);
    expect((await ask('POST', '/ssl/issue', { name: domain })).status).toBe(400);
    expect((await ask('GET', '/ssl/')).body.certificates).toHaveLength(1);
  });

  test('wildcards where name servers answer from our zone', async () => {
    const { id: domain_id } = subject.domain;
    const facts = { primary_name: 'ns1.test', settings: '', problems_json: '{"count":0,"first":[]}' };
    const version = { serial: 1, content: new Uint8Array(0), records: 0, updated_at: api.now() };
    await api.store.write((tx) =>
      tx.zones.put({ name: domain, domain_id, ...facts, ...version }, null, { steps: 1, octets: 1 }),
    );
    // This server has no zones of its own: it cannot prove a name there.
    expect((await issue([`*.${domain}`])).status).toBe(400);
  });

  test('a deleted request is over, and its names are uncovered', async () => {
    const { id } = (await issue()).body;
    expect((await ask('DELETE', `/ssl/${id}`)).status).toBe(200);
    expect(await api.store.latest.issuance.list(subject.domain.id)).toEqual([]);
    expect((await ask('GET', '/ssl/')).body.status).toBe('none');
  });

  test('a viewer cannot request, and a stranger does not see the domain', async () => {
    const viewer = await subject.member('viewer', 'viewer');
    expect((await ask('POST', '/ssl/issue', {}, viewer)).status).toBe(403);
    const stranger = await addSubject(api);
    expect((await ask('POST', '/ssl/issue', {}, stranger.owner)).status).toBe(404);
  });

  test('at most 30 obtained certificates', async () => {
    const { id } = subject.domain;
    const names = Array.from({ length: 31 }, (_, at) => `n${at}`);
    await api.store.write((tx) => tx.records.insert(names.map((name) => newRecord(id, { name }))));
    const answers = [];
    for (const name of names) answers.push(await issue([`${name}.${domain}`]));
    expect(answers.slice(0, 30).every(({ status }) => status === 202)).toBe(true);
    expect(answers[30]!.status).toBe(409);
    expect(answers[30]!.text).toContain('at most 30 obtained certificates');
  });

  test('a server without a CA refuses with the option that names one', async () => {
    const other = await startApi(database);
    try {
      const { owner, domain: own } = await addSubject(other);
      const refused = await owner.call('POST', `/domains/${own.name}/ssl/issue`, {});
      expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('--acme')]);
    } finally {
      await other.close();
    }
  });
});

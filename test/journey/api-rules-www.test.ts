/** The www record that comes with a canonical redirect, over real sockets, on both stores. */
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/base/storage/sqlite.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { testDatabases } from '../support/databases.ts';

/** Makes the database itself refuse every new record of a domain. */
async function refuseRecords({ api, domain }: Subject): Promise<void> {
  const { database: kind, where } = api.store.about;
  const only = `WHEN (NEW.domain_id = ${domain.id})`;
  if (kind === 'sqlite') {
    const database = openDatabase(join(where, 'edgeplan.db'));
    database.exec(`CREATE TRIGGER refuse BEFORE INSERT ON dns_records ${only}
      BEGIN SELECT RAISE(ABORT, 'UNIQUE constraint failed: dns_records.name'); END`);
    database.close();
    return;
  }
  const client = new pg.Client({ connectionString: where });
  await client.connect();
  await client.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = 'unique_violation'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON dns_records FOR EACH ROW ${only} EXECUTE FUNCTION refuse()`);
  await client.end();
}

const toApex = (domain: string): object => ({
  host_includes: [`www.${domain}`],
  host_match_type: 'exact',
  target: `https://${domain}`,
  status_code: 301,
  preserve_path: true,
});
const toWww = (domain: string): object => ({
  host_pattern: domain.toUpperCase(),
  target: `http://www.${domain}/`,
});

describe.each(testDatabases())('www_record on $kind', (database) => {
  let subject: Subject;
  let api: TestApi;
  let name: string;
  beforeAll(async () => {
    api = await startApi(database);
  });
  const start = async (mode: 'managed' | 'external' = 'managed'): Promise<void> => {
    subject = await addSubject(api, { mode });
    name = subject.domain.name;
  };
  afterAll(() => api.close());

  // biome-ignore lint/suspicious/noExplicitAny: answers of several shapes
  const post = async (path: string, body: object): Promise<any> => {
    const answer = await subject.ask('POST', path, body);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const redirect = (body: object): Promise<{ id: number; www_record?: string }> =>
    post('/rules/redirect/', body);
  const record = (name: string, more: object = {}): Promise<{ id: number }> =>
    post('/records/', { name, type: 'A', destination: '192.0.2.1', proxied: true, ...more });
  // biome-ignore lint/suspicious/noExplicitAny: rows as answers show them
  const records = async (): Promise<any[]> => (await subject.ask('GET', '/records/')).body;

  test.each([toApex, toWww])('created: mirrors the apex, only in the answer to the create', async (make) => {
    await start();
    const body = make(name);
    await record('@', { proxied: false, destination: '192.0.2.5' });
    await record(name, { destination: '192.0.2.6', port: 8080, scheme: 'Http', timeout: 9 });
    const made = await redirect(body);
    expect(made.www_record).toBe('created');
    expect((await records()).find(({ name }) => name === 'www')).toMatchObject({
      type: 'A',
      destination: '192.0.2.6',
      port: 8080,
      scheme: 'Http',
      timeout: 9,
      proxied: true,
    });
    expect((await subject.ask('GET', `/rules/redirect/${made.id}`)).body).not.toHaveProperty('www_record');
    const back = await subject.ask('PUT', `/rules/redirect/${made.id}`, made);
    expect(back.status, back.text).toBe(200);
    expect(back.body).not.toHaveProperty('www_record');
    expect((await subject.audited()).slice(0, 2).map((entry) => entry.split(' ')[0])).toEqual([
      'record.create',
      'rule.create',
    ]);
    expect((await redirect(body)).www_record).toBe('covered');
  });

  test('created_external where the zone is hosted elsewhere', async () => {
    await start('external');
    await record('@');
    expect((await redirect(toApex(name))).www_record).toBe('created_external');
  });

  test('covered by a wildcard, unproxied, no_apex', async () => {
    await start();
    expect((await redirect(toApex(name))).www_record).toBe('no_apex');
    expect(await records()).toEqual([]);
    const wildcard = await record('*');
    expect((await redirect(toApex(name))).www_record).toBe('covered');
    // A name below www makes www exist, so the wildcard no longer speaks for it.
    const below = await record('x.www', { proxied: false });
    expect((await redirect(toApex(name))).www_record).toBe('no_apex');
    await subject.ask('POST', '/records/batch-delete', { ids: [wildcard.id, below.id] });
    await record('www', { type: 'CNAME', destination: 'elsewhere.example.net', proxied: false });
    expect((await redirect(toApex(name))).www_record).toBe('unproxied');
    expect(await records()).toHaveLength(1);
  });

  test('limit: the plan is out of record slots, and the rule is there', async () => {
    await start();
    await record('@');
    await subject.allow({ max_records: 1 });
    const made = await redirect(toApex(name));
    expect(made.www_record).toBe('limit');
    expect((await subject.ask('GET', `/rules/redirect/${made.id}`)).status).toBe(200);
  });

  test('the host header of the apex comes along only where the plan includes editing it', async () => {
    for (const included of [true, false]) {
      await start();
      await record('@', { host_header: 'in.example.net' });
      await subject.allow({ host_header_edit_enabled: included });
      expect((await redirect(toApex(name))).www_record).toBe('created');
      const www = (await records()).find((row) => row.name === 'www');
      expect(www.host_header).toBe(included ? 'in.example.net' : '');
    }
  });

  test('failed: the DNS write fails, and the rule is there and published', async () => {
    await start();
    await record('@');
    await refuseRecords(subject);
    const made = await redirect(toApex(name));
    expect(made.www_record).toBe('failed');
    expect((await subject.ask('GET', `/rules/redirect/${made.id}`)).status).toBe(200);
    expect(await records()).toHaveLength(1);
    expect((await subject.audited())[0]).toBe(`rule.create redirect/${made.id}`);
    expect((await subject.outbox()).at(-1)).toBe(`rule redirect/${made.id} created`);
  });

  test('other redirects have no www_record', async () => {
    await start();
    const apex = await record('@');
    for (const change of [
      { host_includes: [`*.${name}`], host_match_type: 'wildcard' },
      { host_includes: [`www.${name}`, `m.${name}`] },
      { host_match_type: 'regex' },
      { target: 'https://other.example' },
      { target: `https://${name}/landing` },
      { target: '/' },
      { path_includes: ['/old'] },
      { path_excludes: ['/api/*'] },
      { record_ids: [apex.id] },
    ]) {
      expect(await redirect({ ...toApex(name), ...change })).not.toHaveProperty('www_record');
    }
    expect(await records()).toHaveLength(1);
  });

  test('validate_only says what would become of it and makes nothing', async () => {
    await start();
    await record('@');
    const tried = await post('/rules/redirect/?validate_only=true', toApex(name));
    expect(tried.www_record).toBe('created');
    expect(await records()).toHaveLength(1);
  });
});

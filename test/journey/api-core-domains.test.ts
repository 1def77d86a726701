/** Domains over real sockets: created, read, changed, proven, published, deleted. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DnsFault } from '../../src/control/dns/message.ts';
import { applyEvent } from '../../src/control/domains/apply-event.ts';
import { createPublisher, type Publisher } from '../../src/control/publishing/publisher.ts';
import { SERVICE } from '../../src/control/store/tables/accounts.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import { type Person, SETS, startApi, type TestApi } from '../support/api.ts';
import { testDatabases } from '../support/databases.ts';
import { newCertificate } from '../support/sample-rows.ts';

const HOUR = 3_600_000;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe.each(testDatabases().map((database) => [database.kind, database] as const))(
  'on %s',
  (_, database) => {
    let api: TestApi;
    let ann: Person;
    let bob: Person;
    let publisher: Publisher;

    beforeAll(async () => {
      api = await startApi(database, {
        publication: { waitForOutbox: (domain, id, signal) => publisher.waitForOutbox(domain, id, signal) },
      });
      publisher = createPublisher({ store: api.store, log: quiet, pollMs: 50 });
      publisher.start();
      ann = await api.person('ann');
      bob = await api.person('bob');
    });
    // No test finds another's clock, nor its changes still waiting: those would be published, and told of, with its own.
    afterEach(async () => {
      api.ahead = 0;
      await expect.poll(async () => (await api.store.latest.outbox.backlog()).rows).toBe(0);
    });
    afterAll(async () => {
      await publisher.stop();
      await api.close();
    });

    async function rowOf(name: string): Promise<DomainRow> {
      const row = await api.store.latest.domains.byName(name);
      if (row === null) throw new Error(`no domain ${name}`);
      return row;
    }

    /** Domains whose records are still to be looked for. */
    async function waitingScans(): Promise<readonly number[]> {
      return (await api.store.latest.scans.due(api.now(), 100)).map(({ domain_id }) => domain_id);
    }

    test('a managed domain starts pending, is scanned, and is in the list', async () => {
      const { status, body } = await ann.call('POST', '/domains/', { name: 'Shop.Example.' });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        name: 'shop.example',
        status: 'pending',
        dns_mode: 'managed',
        user_id: ann.account.id,
        my_role: 'owner',
        cache_cap_mb: 128,
        sec_no_sniff: false,
        suspended: false,
        ssl: { status: 'none' },
        permissions: ['domain.view', 'records.edit', 'rules.edit', 'domain.settings', 'domain.delete'],
      });
      expect(body.verification).toBeUndefined();
      expect(body.developer_mode_until).toBeUndefined();
      expect(api.dns.scans).toBe(1);
      expect(await waitingScans()).toEqual([body.id]);
      const list = (await ann.call('GET', '/domains/')).body;
      expect(list.map((domain: { name: string }) => domain.name)).toEqual(['shop.example']);
      expect(list[0].permissions).toBeUndefined();
      expect((await bob.call('GET', '/domains/')).body).toEqual([]);
      expect((await bob.call('GET', '/domains/shop.example')).status).toBe(404);
      expect((await ann.call('GET', '/domains/SHOP.example')).body.id).toBe(body.id);
      expect((await ann.call('GET', '/domains/ns-sets')).body).toEqual({ sets: SETS });
    });

    test('a name can be added once by an account, and by no other once it is proved', async () => {
      const taken = async (person: Person, name: string): Promise<void> => {
        const { status, body } = await person.call('POST', '/domains/', { name });
        const message = expect.stringMatching(/^domain already registered on this or another account; /);
        expect([status, body.error]).toEqual([409, message]);
      };
      await taken(ann, 'shop.example');
      const { body } = await ann.call('POST', '/domains/', { name: 'proved.example', dns_mode: 'external' });
      await api.store.write((tx) => tx.domains.update(body.id, { status: 'active', unproved_since: null }));
      for (const person of [ann, bob]) await taken(person, 'proved.example');
      expect((await ann.call('DELETE', '/domains/proved.example')).status).toBe(200);
    });

    test.each([
      [{}, 'name: is missing; it must be text'],
      [{ name: 7 }, 'name: must be text, found 7'],
      [{ name: 'localhost' }, 'name: must have at least two labels, found `localhost`'],
      [{ name: 'https://a.example' }, /^name: must be a domain name/],
      [{ name: '*.a.example' }, /^name: must be a domain name/],
      [{ name: '192.0.2.1' }, /^name: must be a domain name/],
      [
        { name: '-a.example' },
        /^name: must have labels of letters, digits and inner hyphens, found `-a.example`/,
      ],
      [{ name: 'a-.example' }, /^name: must have labels of/],
      [{ name: 'a_b.example' }, /^name: must have labels of/],
      [{ name: `${'a'.repeat(64)}.example` }, /^name: must be a domain name/],
      [{ name: 'a.example\u0000' }, /^name: must/],
      [{ name: 'a.example', dns_mode: 'x' }, /^dns_mode: must be one of `managed`, `external`, found `x`/],
      [{ name: 'a.example', mode: 'x' }, /^mode: is not a known field/],
      [[], /^must be an object/],
      ['a.example', /^must be an object/],
    ])('400 for %j', async (sent, sentence) => {
      const { status, body } = await ann.call('POST', '/domains/', sent);
      expect(status).toBe(400);
      if (typeof sentence === 'string') expect(body.error).toBe(sentence);
      else expect(body.error).toMatch(sentence);
    });

    test('validate_only runs every check and changes nothing', async () => {
      const made = await ann.call('POST', '/domains/?validate_only=true', { name: 'dry.example' });
      expect([made.status, made.body.name]).toEqual([200, 'dry.example']);
      expect((await ann.call('POST', '/domains/?validate_only=true', { name: 'shop.example' })).status).toBe(
        409,
      );
      expect((await ann.call('GET', '/domains/dry.example')).status).toBe(404);
      expect(api.dns.scans).toBe(1);
      expect(await waitingScans()).toHaveLength(1);
      const path = '/domains/shop.example?validate_only=true';
      expect((await ann.call('PUT', path, { sec_no_sniff: true })).body.sec_no_sniff).toBe(true);
      expect((await rowOf('shop.example')).sec_no_sniff).toBe(false);
      expect((await ann.call('DELETE', path)).status).toBe(200);
      expect((await ann.call('PUT', '/domains/shop.example?validate_only=yes', {})).status).toBe(400);
      expect(
        (await ann.call('PUT', '/domains/shop.example?validate_only=true&validate_only=true', {})).status,
      ).toBe(400);
    });

    test.each([
      ['cache_l2_ttl_days', 1, 7],
      ['uptime_threshold_pct', 50, 100],
      ['uptime_window_min', 2, 60],
    ])('a new domain takes %s from %i to %i', async (field, least, most) => {
      await ann.call('POST', '/domains/', { name: 'bounds.example' });
      for (const value of [least - 1, least, most, most + 1]) {
        const { status, body } = await ann.call('PUT', '/domains/bounds.example', { [field]: value });
        expect([value, status]).toEqual([value, value < least || value > most ? 400 : 200]);
        if (status === 200) expect(body[field]).toBe(value);
      }
      expect((await ann.call('DELETE', '/domains/bounds.example')).status).toBe(200);
    });

    test('settings change one by one, and a detail that was read can be sent back', async () => {
      const path = '/domains/shop.example';
      const changes = {
        cache_l2_max_gb: 3,
        cache_l2_ttl_days: 2,
        cache_cap_mb: 512,
        sec_no_sniff: true,
        sec_referrer_policy: true,
        sec_strip_headers: true,
        markdown_for_agents: true,
        outage_alerts: false,
        uptime_threshold_pct: 60,
        uptime_window_min: 10,
        uptime_min_requests: 0,
        uptime_min_active_min: 10,
        uptime_recover_min: 4,
      };
      for (const [field, value] of Object.entries(changes)) {
        const { status, body } = await ann.call('PUT', path, { [field]: value });
        expect([field, status, body[field]]).toEqual([field, 200, value]);
      }
      const read = (await ann.call('GET', path)).body;
      expect(read).toMatchObject(changes);
      const before = (await ann.call('GET', `${path}/audit/`)).body.length;
      const again = await ann.call('PUT', path, read);
      expect(again.body).toEqual(read);
      expect((await ann.call('GET', `${path}/audit/`)).body).toHaveLength(before);
    });

    test.each([
      [{ dns_mode: 'x' }, /^dns_mode: must be one of/],
      [{ cache_l2_ttl_days: 0 }, /^cache_l2_ttl_days: must be a whole number from 1 to 7, found `?0/],
      [{ cache_l2_ttl_days: 8 }, /from 1 to 7/],
      [{ cache_cap_mb: 127 }, /^cache_cap_mb: must be one of `128`, `256`, `512`, `2048`, `4096`/],
      [{ cache_cap_mb: null }, /^cache_cap_mb: must be/],
      [{ uptime_threshold_pct: 49 }, /from 50 to 100/],
      [{ uptime_window_min: 61 }, /from 2 to 60/],
      [
        { uptime_window_min: 5 },
        /^uptime_min_active_min: must be at most `uptime_window_min`, found 10 with a window of 5/,
      ],
      [{ sec_no_sniff: 'yes' }, /^sec_no_sniff: must be `true` or `false`/],
      [{ cache_l2_tll_days: 3 }, /is not a known field; did you mean `cache_l2_ttl_days`\?/],
      [{ a: 1, b: 2 }, /^a: is not a known field.*; b: is not a known field/],
    ])('PUT %j is 400', async (sent, sentence) => {
      const { status, body } = await ann.call('PUT', '/domains/shop.example', sent);
      expect(status).toBe(400);
      expect(body.error).toMatch(sentence);
    });

    test('a matching ETag gives 304, and If-Match of a changed domain 412', async () => {
      const path = '/domains/shop.example';
      const { headers } = await ann.call('GET', path);
      const tag = headers['etag']!;
      expect((await ann.call('GET', path, undefined, { 'if-none-match': `"x", ${tag}` })).status).toBe(304);
      expect((await ann.call('HEAD', path)).headers['etag']).toBe(tag);
      expect((await ann.call('GET', path, undefined, { 'if-none-match': '"x"' })).status).toBe(200);
      const put = await ann.call('PUT', path, { uptime_recover_min: 7 }, { 'if-match': tag });
      expect(put.status).toBe(200);
      expect((await ann.call('GET', path)).headers['etag']).toBe(put.headers['etag']);
      const late = await ann.call('PUT', path, { uptime_recover_min: 8 }, { 'if-match': tag });
      expect([late.status, late.body.error]).toEqual([412, 'the object is not what `If-Match` says']);
      expect((await rowOf('shop.example')).uptime_recover_min).toBe(7);
      expect((await ann.call('DELETE', path, undefined, { 'if-match': tag })).status).toBe(412);
      expect((await ann.call('PUT', path, {}, { 'if-match': '*' })).status).toBe(200);
      const list = await ann.call('GET', '/domains/');
      expect(
        (await ann.call('GET', '/domains/', undefined, { 'if-none-match': list.headers['etag']! })).status,
      ).toBe(304);
      // A write that has no one object to compare refuses, rather than to look away.
      expect((await ann.call('POST', '/domains/', { name: 'x.example' }, { 'if-match': '*' })).status).toBe(
        412,
      );
    });

    test('a nameserver check runs once an hour and activates a delegated domain', async () => {
      const path = '/domains/shop.example/check-ns';
      const skipped = await ann.call('POST', `${path}?validate_only=true`);
      expect(skipped.body.state).toBe('unchecked');
      api.dns.delegation = { state: 'other', set: null, found: ['ns1.edge.test', 'ns3.edge.test'] };
      const first = await ann.call('POST', path);
      expect(first.body).toMatchObject({
        state: 'other',
        found: ['ns1.edge.test', 'ns3.edge.test'],
        status: 'pending',
      });
      const soon = await ann.call('POST', path);
      expect(soon.status).toBe(429);
      expect(Number(soon.headers['retry-after'])).toBeGreaterThan(3_500);
      api.ahead = HOUR;
      api.dns.delegation = { state: 'delegated', set: SETS[0], found: SETS[0] };
      const second = await ann.call('POST', `${path}?wait=published`);
      expect(second.body.status).toBe('active');
      const revision = Number(second.headers['x-revision']);
      const { body } = await ann.call('GET', '/domains/shop.example/plans/');
      expect(body[0]).toMatchObject({
        revision,
        account: 'ann',
        reason: 'the domain went from pending to active',
      });
    });

    test('developer mode lasts three hours and can be ended', async () => {
      const path = '/domains/shop.example';
      const { body, headers } = await ann.call('POST', `${path}/developer-mode?wait=published`);
      const left = Date.parse(body.developer_mode_until) - Date.now();
      expect(left).toBeGreaterThan(3 * HOUR - 60_000);
      expect(left).toBeLessThanOrEqual(3 * HOUR);
      const [newest] = (await ann.call('GET', `${path}/plans/`)).body;
      expect([newest.reason, headers['x-revision']]).toEqual(['developer mode', String(newest.revision)]);
      const read = (await ann.call('GET', path)).body;
      expect(read.developer_mode_until).toBe(body.developer_mode_until);
      expect((await ann.call('PUT', path, read)).body.developer_mode_until).toBe(body.developer_mode_until);
      api.ahead = 3 * HOUR;
      expect((await ann.call('GET', path)).body.developer_mode_until).toBeUndefined();
      api.ahead = 0;
      expect(
        (await ann.call('PUT', path, { developer_mode_until: null })).body.developer_mode_until,
      ).toBeUndefined();
      expect((await rowOf('shop.example')).developer_mode_until).toBeNull();
    });

    test('purging raises the epoch that nodes see', async () => {
      const before = await api.store.latest.plans.current('shop.example');
      expect((await ann.call('DELETE', '/domains/shop.example/cache/?validate_only=true')).status).toBe(200);
      const { body } = await ann.call('DELETE', '/domains/shop.example/cache/');
      expect(body).toEqual({ message: 'cache of `shop.example` purged' });
      const after = await api.store.latest.plans.current('shop.example');
      expect(after?.purge_epoch).toBe((before?.purge_epoch ?? 0) + 1);
    });

    test('ssl lists the proxied names that no certificate covers', async () => {
      const { id } = await rowOf('shop.example');
      const now = Date.now();
      const record = {
        domain_id: id,
        type: 'A' as const,
        destination: '192.0.2.1',
        mx_priority: null,
        proxied: true,
        captcha: false,
        scheme: 'Default' as const,
        port: null,
        host_header: '',
        monitor: false,
        timeout: null,
        comment: '',
        created_at: now,
        updated_at: now,
      };
      await api.store.write(async (tx) => {
        await tx.records.insert([
          { ...record, name: '@' },
          { ...record, name: 'www' },
          { ...record, name: 'a.b' },
          { ...record, name: 'mail', proxied: false },
        ]);
        await tx.certificates.insert(
          newCertificate(id, {
            names_json: JSON.stringify(['shop.example', '*.shop.example']),
            not_after: now + 20 * 24 * HOUR + 1_000,
          }),
        );
      });
      const { ssl } = (await ann.call('GET', '/domains/shop.example')).body;
      expect(ssl).toMatchObject({
        status: 'active',
        days_remaining: 20,
        uncovered_hostnames: ['a.b.shop.example'],
      });
      api.ahead = 10 * 24 * HOUR;
      expect((await ann.call('GET', '/domains/shop.example')).body.ssl.status).toBe('expiring');
      api.ahead = 21 * 24 * HOUR;
      const later = (await ann.call('GET', '/domains/')).body[0].ssl;
      expect(later.status).toBe('expired');
      expect(later.uncovered_hostnames).toEqual(['a.b.shop.example', 'shop.example', 'www.shop.example']);
    });

    describe('an external domain', () => {
      test('is proved by the TXT record of its detail', async () => {
        const { body } = await ann.call('POST', '/domains/', { name: 'ext.example', dns_mode: 'external' });
        expect(body).toMatchObject({ status: 'unverified', verification: { type: 'TXT', verified: false } });
        expect(body.verification.host).toBe('_edgeplan-challenge.ext.example');
        expect(body.verification.seconds_remaining).toBeGreaterThan(6 * 24 * 3_600);
        expect(await waitingScans()).not.toContain(body.id);
        api.dns.challenge = { state: 'absent', found: [] };
        const early = await ann.call('POST', '/domains/ext.example/verify');
        expect([early.status, early.body.error]).toEqual([409, 'the TXT record was not found']);
        api.dns.challenge = { state: 'unreachable', fault: new DnsFault('timeout', 'no answer') };
        expect((await ann.call('POST', '/domains/ext.example/verify')).status).toBe(409);
        api.dns.challenge = { state: 'verified' };
        expect((await ann.call('POST', '/domains/ext.example/verify?validate_only=true')).body.status).toBe(
          'active',
        );
        expect((await ann.call('GET', '/domains/ext.example')).body.status).toBe('unverified');
        const done = await ann.call('POST', '/domains/ext.example/verify');
        expect(done.body).toMatchObject({ status: 'active', verification: { verified: true } });
        expect((await ann.call('POST', '/domains/ext.example/check-ns')).status).toBe(409);
        expect((await ann.call('POST', '/domains/shop.example/verify')).status).toBe(409);
      });

      test('whose name is too long for the TXT record is refused', async () => {
        const labels = `${'a'.repeat(63)}.`.repeat(3);
        const long = (octets: number): string => `${labels}${'b'.repeat(octets - 200)}.example`;
        const call = (name: string, dns_mode: string) => ann.call('POST', '/domains/', { name, dns_mode });
        const refused = await call(long(234), 'external');
        expect(refused.status, refused.text).toBe(400);
        expect(refused.body.error).toContain('name: must be at most 233 octets');
        expect((await call(long(233), 'external')).body.verification.host).toHaveLength(253);
        expect((await call(long(234), 'managed')).status).toBe(200);
        const changed = await ann.call('PUT', `/domains/${long(234)}`, { dns_mode: 'external' });
        expect(changed.status, changed.text).toBe(400);
        expect(changed.body.error).toContain('dns_mode: ');
      });

      test('gets a new challenge value when the old one has expired', async () => {
        await ann.call('POST', '/domains/', { name: 'late.example', dns_mode: 'external' });
        const before = (await ann.call('GET', '/domains/late.example')).body.verification.value;
        api.ahead = 8 * 24 * HOUR;
        const refused = await ann.call('POST', '/domains/late.example/verify');
        expect([refused.status, refused.body.error]).toEqual([
          409,
          'the verification value has expired; publish the new one',
        ]);
        const after = (await ann.call('GET', '/domains/late.example')).body.verification;
        expect(after.value).not.toBe(before);
        expect((await ann.call('POST', '/domains/late.example/verify')).body.status).toBe('active');
        const log = (await ann.call('GET', '/domains/late.example/audit/')).text;
        expect(log).not.toContain(after.value);
      });

      test('that becomes managed is served until its check', async () => {
        const { body } = await ann.call('PUT', '/domains/ext.example', { dns_mode: 'managed' });
        expect(body).toMatchObject({ dns_mode: 'managed', status: 'active' });
        const back = await ann.call('PUT', '/domains/ext.example', { dns_mode: 'external' });
        expect(back.body).toMatchObject({ dns_mode: 'external', status: 'moved' });
        expect(back.body.verification.verified).toBe(false);
      });
    });

    test('a disabled domain becomes active when the proof holds, else pending or unverified', async () => {
      await ann.call('POST', '/domains/', { name: 'off.example' });
      expect((await ann.call('POST', '/domains/off.example/enable')).status).toBe(409);
      const { id } = await rowOf('off.example');
      const disable = () => api.store.write((tx) => tx.domains.update(id, { status: 'disabled' }));
      await disable();
      for (const [method, path] of [
        ['POST', '/developer-mode'],
        ['POST', '/verify'],
        ['POST', '/check-ns'],
        ['DELETE', '/cache/'],
      ] as const)
        expect((await ann.call(method, `/domains/off.example${path}`)).status).toBe(409);
      api.dns.delegation = { state: 'none', set: null, found: [] };
      expect((await ann.call('POST', '/domains/off.example/enable')).body.status).toBe('pending');
      await disable();
      api.dns.delegation = { state: 'delegated', set: SETS[1], found: SETS[1] };
      expect((await ann.call('POST', '/domains/off.example/enable')).body.status).toBe('active');
      await disable();
      expect((await ann.call('DELETE', '/domains/off.example')).status).toBe(200);
    });

    test('a banned domain cannot be deleted by its owner', async () => {
      await ann.call('POST', '/domains/', { name: 'banned.example' });
      const { id } = await rowOf('banned.example');
      await api.store.write((tx) => tx.domains.update(id, { status: 'banned' }));
      const kept = await ann.call('DELETE', '/domains/banned.example');
      expect([kept.status, kept.body.error]).toEqual([
        403,
        'the domain is banned; only the service can lift that',
      ]);
      expect((await ann.call('POST', '/domains/', { name: 'banned.example' })).status).toBe(409);
      expect((await rowOf('banned.example')).status).toBe('banned');
    });

    test('the audit entries of the service have times as texts', async () => {
      await ann.call('POST', '/domains/', { name: 'paused.example' });
      const now = api.now();
      await api.store.write(async (tx) => {
        const domain = (await tx.domains.byName('paused.example'))!;
        await applyEvent(tx, domain, { kind: 'suspend' }, { author: SERVICE, now });
      });
      const [entry] = (await ann.call('GET', '/domains/paused.example/audit/?limit=1')).body;
      expect(entry).toMatchObject({
        action: 'domain.suspend',
        user_id: null,
        before: { suspended: false, suspended_at: null },
        after: { suspended: true, suspended_at: new Date(now).toISOString() },
      });
    });

    test('the audit log lists author, time and change, page by page', async () => {
      const path = '/domains/shop.example/audit/';
      const all = (await ann.call('GET', path)).body;
      expect(all.at(-1)).toMatchObject({
        user: 'ann',
        user_id: ann.account.id,
        key_id: ann.keyId,
        action: 'domain.create',
        before: null,
        after: { name: 'shop.example', dns_mode: 'managed' },
      });
      const change = all.find((entry: { action: string }) => entry.action === 'domain.update');
      expect(Object.keys(change.before)).toEqual(Object.keys(change.after));
      const pages = [];
      for (let before: number | null = null; ; ) {
        const page: { id: number }[] = (
          await ann.call('GET', `${path}?limit=4${before === null ? '' : `&before=${before}`}`)
        ).body;
        pages.push(...page);
        if (page.length < 4) break;
        before = page.at(-1)!.id;
      }
      expect(pages).toEqual(all);
      expect((await ann.call('GET', `${path}?limit=0`)).status).toBe(400);
      expect((await ann.call('GET', `${path}?limit=x`)).status).toBe(400);
    });

    test('a deletion removes everything and publishes a tombstone; the name can be added again', async () => {
      const gone = await ann.call('DELETE', '/domains/shop.example?wait=published');
      expect(gone.body).toEqual({ message: 'domain `shop.example` deleted' });
      const tombstone = await api.store.latest.plans.current('shop.example');
      expect(tombstone?.digest).toBeNull();
      expect(gone.headers['x-revision']).toBe(String(tombstone?.revision));
      expect((await ann.call('GET', '/domains/shop.example')).status).toBe(404);
      const again = await bob.call('POST', '/domains/', { name: 'shop.example' });
      expect(again.body).toMatchObject({ status: 'pending', my_role: 'owner', user_id: bob.account.id });
      expect((await ann.call('GET', '/domains/shop.example')).status).toBe(404);
      expect((await bob.call('GET', '/domains/shop.example/audit/')).body).toHaveLength(1);
    });

    test('concurrent writes lose no change', async () => {
      const names = Array.from({ length: 20 }, (_, at) => `many-${at}.example`);
      const made = await Promise.all(names.map((name) => ann.call('POST', '/domains/', { name })));
      expect(made.map(({ status }) => status)).toEqual(names.map(() => 200));
      const same = await Promise.all(names.map(() => bob.call('POST', '/domains/', { name: 'one.example' })));
      expect(same.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(same.filter(({ status }) => status === 409)).toHaveLength(19);
    });
  },
);

/** What goes in comes out, on both databases. */
import { beforeEach, describe, expect, test } from 'vitest';
import { isStoreFault } from '../../../src/base/storage/fault.ts';
import type { Store } from '../../../src/control/store/store.ts';
import { SERVICE } from '../../../src/control/store/tables/accounts.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import {
  auditEntry,
  newCertificate,
  newDomain,
  newRecord,
  newRule,
  seed,
  T,
} from '../../support/sample-rows.ts';
import { kinds, openForAll } from './databases.ts';

describe.each(kinds)('$name keeps', (kind) => {
  let store: Store;
  let count = 0;
  let domain: DomainRow;
  let ownerId: number;

  openForAll(kind, (opened) => {
    ({ store } = opened);
  });
  beforeEach(async () => {
    count += 1;
    const made = await store.write((tx) => seed(tx, `d${count}.example`));
    domain = made.domain;
    ownerId = made.account.id;
  });

  test('accounts are stored, found and deactivated', async () => {
    const account = { name: `Ann ${count} ü 🙂`, active: true, created_at: T, updated_at: T };
    const inserted = await store.write((tx) => tx.accounts.insert(account));
    expect(await store.latest.accounts.get(inserted.id)).toEqual({ ...account, id: inserted.id });
    expect(await store.latest.accounts.byName(account.name)).toEqual(inserted);
    expect(await store.latest.accounts.byName('nobody')).toBeNull();
    const changed = await store.write((tx) =>
      tx.accounts.setActive(inserted.id, { active: false, at: T + 1 }),
    );
    expect(changed).toBe(true);
    expect(await store.latest.accounts.get(inserted.id)).toMatchObject({ active: false, updated_at: T + 1 });
    expect((await store.latest.accounts.list()).at(-1)?.id).toBe(inserted.id);
    expect(await store.write((tx) => tx.accounts.setActive(999_999, { active: true, at: T }))).toBe(false);
  });

  test('keys are stored, their use is counted, and a revoked key stays revoked', async () => {
    const key = (name: string, expires_at: number | null) => ({
      account_id: ownerId,
      hash: `${count}-${name}`,
      name,
      read_only: name === 'reader',
      created_at: T,
      expires_at,
    });
    const [full, reader, old] = await store.write(async (tx) => [
      await tx.keys.insert(key('full', null)),
      await tx.keys.insert(key('reader', T + 100)),
      await tx.keys.insert(key('old', T - 1)),
    ]);
    expect(await store.latest.keys.byHash(reader!.hash)).toEqual({ ...reader, account_active: true });
    expect(reader).toMatchObject({ read_only: true, revoked_at: null });
    expect(await store.latest.keys.byHash('none')).toBeNull();
    expect(await store.latest.keys.countActive(ownerId, T)).toBe(2);
    expect(await store.write((tx) => tx.keys.revoke(full!.id, T + 5))).toBe(true);
    expect(await store.write((tx) => tx.keys.revoke(full!.id, T + 6))).toBe(false);
    expect(await store.write((tx) => tx.keys.countActive(ownerId, T + 100))).toBe(0);

    const use = { key_id: reader!.id, day: 20_000, requests: 3, last_used_at: T + 9 };
    await store.write((tx) =>
      tx.keys.recordUse([
        use,
        { ...use, requests: 4, last_used_at: T + 8 },
        { ...use, day: 20_001 },
        { ...use, key_id: 9e6 },
      ]),
    );
    expect(await store.latest.keys.uses(reader!.id, 20_000)).toEqual([
      { ...use, requests: 7 },
      { ...use, day: 20_001 },
    ]);
    await store.write((tx) => tx.keys.pruneUses(20_001));
    expect(await store.latest.keys.uses(reader!.id, 0)).toHaveLength(1);
    expect(await store.latest.keys.get(reader!.id)).toEqual({ ...reader, last_used_at: T + 9 });
    expect(await store.latest.keys.list(ownerId)).toEqual([
      { ...full, revoked_at: T + 5, last_used_at: null },
      { ...reader, last_used_at: T + 9 },
      { ...old, last_used_at: null },
    ]);
  });

  test('an account sees the domains that it owns or is a member of', async () => {
    expect(domain).toEqual({ ...newDomain(domain.name, ownerId), publish_mode: 'automatic', id: domain.id });
    expect(await store.latest.domains.get(domain.id)).toEqual(domain);
    expect(await store.latest.domains.byName(domain.name)).toEqual(domain);
    expect(await store.latest.domains.byName(domain.name.toUpperCase())).toBeNull();

    const other = await store.write((tx) =>
      tx.accounts.insert({ name: `other ${count}`, active: true, created_at: T, updated_at: T }),
    );
    const member = { domain_id: domain.id, account_id: other.id, created_at: T, updated_at: T } as const;
    expect(await store.latest.domains.seenBy(other.id, domain.name)).toEqual({ domain, role: null });
    expect(await store.latest.domains.listSeenBy(other.id)).toEqual([]);
    await store.write((tx) => tx.members.put({ ...member, role: 'viewer' }));
    await store.write((tx) =>
      tx.members.put({ ...member, role: 'editor', created_at: T + 7, updated_at: T + 7 }),
    );
    expect(await store.latest.members.list(domain.id)).toEqual([
      { ...member, role: 'editor', updated_at: T + 7 },
    ]);
    expect(await store.latest.domains.seenBy(other.id, domain.name)).toEqual({ domain, role: 'editor' });
    expect(await store.write((tx) => tx.domains.seenBy(other.id, domain.name))).toEqual({
      domain,
      role: 'editor',
    });
    expect(await store.latest.domains.seenBy(ownerId, domain.name)).toEqual({ domain, role: 'owner' });
    expect(await store.latest.domains.listSeenBy(other.id)).toEqual([{ domain, role: 'editor' }]);
    expect(await store.latest.domains.seenBy(ownerId, 'none.example')).toBeNull();
    expect(await store.write((tx) => tx.domains.seenBy(ownerId, 'none.example'))).toBeNull();
    expect(await store.write((tx) => tx.members.remove(domain.id, other.id))).toBe(true);
    expect(await store.latest.members.get(domain.id, other.id)).toBeNull();
    expect(await store.write((tx) => tx.members.remove(domain.id, other.id))).toBe(false);
  });

  test('an update changes the given fields of a domain alone', async () => {
    const changes = {
      status: 'active',
      ever_active: true,
      developer_mode_until: T + 1,
      updated_at: T + 2,
    } as const;
    const changed = await store.write((tx) => tx.domains.update(domain.id, changes));
    expect(changed).toEqual({ ...domain, ...changes });
    expect(await store.latest.domains.get(domain.id)).toEqual(changed);
    expect(await store.write((tx) => tx.domains.update(domain.id, {}))).toEqual(changed);
    expect(await store.write((tx) => tx.domains.update(999_999, changes))).toBeNull();
  });

  test('pages return every domain once, and due returns those whose time has come', async () => {
    await store.write((tx) => tx.domains.update(domain.id, { next_check_at: T - 1_000 * count }));
    expect((await store.latest.domains.due(T - 1_000 * count, 10)).map((row) => row.id)).toEqual([domain.id]);
    expect(await store.latest.domains.due(T - 1_000 * count - 1, 10)).toEqual([]);
    expect(await store.latest.domains.page(domain.id - 1, 5)).toMatchObject([{ id: domain.id }]);
  });

  test('removing a domain removes all that belongs to it', async () => {
    await store.write(async (tx) => {
      await tx.members.put({
        domain_id: domain.id,
        account_id: ownerId,
        role: 'admin',
        created_at: T,
        updated_at: T,
      });
      const [record] = await tx.records.insert([newRecord(domain.id)]);
      await tx.rules.insert(
        newRule(domain.id, { record_ids: [record!.id], content: '{}', type: 'error_page' }),
      );
      await tx.audit.append(auditEntry(domain));
      await tx.subscriptions.put(subscription(domain.id));
      await tx.certificates.insert(newCertificate(domain.id));
    });
    expect(await store.write((tx) => tx.domains.remove(domain.id))).toBe(true);
    expect(await store.write((tx) => tx.domains.remove(domain.id))).toBe(false);
    expect(await store.latest.rules.listAll(domain.id)).toEqual([]);
    expect(await store.latest.rules.contents(domain.id)).toEqual([]);
    expect(await store.latest.records.list(domain.id)).toEqual([]);
    expect(await store.latest.members.list(domain.id)).toEqual([]);
    expect(await store.latest.subscriptions.get(domain.id)).toBeNull();
    expect(await store.latest.certificates.list(domain.id)).toEqual([]);
    expect(await store.latest.audit.list(domain.id, { limit: 10 })).toHaveLength(1);
    const again = await store.write((tx) => tx.domains.insert(newDomain(domain.name, ownerId)));
    expect(again.id).toBeGreaterThan(domain.id);
  });

  const subscription = (domainId: number) => ({
    domain_id: domainId,
    plan_slug: 'pro',
    plan_term_id: 4,
    active: true,
    started_at: T,
    ends_at: null,
    overrides_json: '{"max_records":5}',
  });
  test('a domain has one subscription and any number of certificates', async () => {
    const first = await store.write((tx) => tx.subscriptions.put(subscription(domain.id)));
    expect(await store.latest.subscriptions.get(domain.id)).toEqual(first);
    const second = await store.write((tx) =>
      tx.subscriptions.put({ ...subscription(domain.id), active: false }),
    );
    expect(second).toEqual({ ...first, active: false });
    expect(await store.write((tx) => tx.subscriptions.remove(domain.id))).toBe(true);
    expect(await store.latest.subscriptions.get(domain.id)).toBeNull();

    const kept = await store.write((tx) => tx.certificates.insert(newCertificate(domain.id)));
    expect(await store.latest.certificates.list(domain.id)).toEqual([kept]);
    expect(await store.write((tx) => tx.certificates.remove(domain.id + 1, kept.id))).toBe(false);
    expect(await store.write((tx) => tx.certificates.remove(domain.id, kept.id))).toBe(true);
  });

  test('more records than one statement inserts are stored in order', async () => {
    const wanted = Array.from({ length: 620 }, (_, index) =>
      newRecord(domain.id, { name: `h${index}`, port: index === 0 ? null : index, captcha: index % 2 === 0 }),
    );
    const inserted = await store.write((tx) => tx.records.insert(wanted));
    expect(inserted.map(({ id: _, ...rest }) => rest)).toEqual(wanted);
    expect(inserted.every((row, index) => index === 0 || row.id > inserted[index - 1]!.id)).toBe(true);
    expect(await store.latest.records.list(domain.id)).toEqual(inserted);
    expect(await store.latest.records.count(domain.id)).toBe(620);

    const changed = { ...inserted[3]!, comment: 'changed', timeout: 30, updated_at: T + 1 };
    expect(await store.write((tx) => tx.records.update(domain.id, [changed]))).toEqual([changed.id]);
    expect(await store.latest.records.get(domain.id, changed.id)).toEqual(changed);
    expect(await store.latest.records.get(domain.id + 1, changed.id)).toBeNull();
    expect(await store.write((tx) => tx.records.update(domain.id + 1, [changed]))).toEqual([]);
    expect(await store.write((tx) => tx.records.update(domain.id, []))).toEqual([]);

    const ids = inserted.slice(0, 600).map((row) => row.id);
    expect(await store.write((tx) => tx.records.remove(domain.id, [...ids, 9_999_999]))).toEqual(ids);
    expect(await store.latest.records.count(domain.id)).toBe(20);
    expect(await store.write((tx) => tx.records.insert([]))).toEqual([]);
  });

  test('one statement changes many records, whatever their texts and numbers', async () => {
    const other = await store.write(async (tx) =>
      tx.records.insert([newRecord(domain.id, { name: 'left-alone' })]),
    );
    const names = ['a', 'quote"\\', 'line\n\u0001', '€😀', '', '{"a":1}', '12', 'null'];
    const rows = await store.write((tx) =>
      tx.records.insert(names.map((_, index) => newRecord(domain.id, { name: `m${index}` }))),
    );
    const changed = rows.map((row, index) => ({
      ...row,
      comment: names[index]!,
      port: index % 2 === 0 ? null : 4_000_000_000 + index,
      captcha: index % 3 === 0,
      updated_at: T + index,
    }));
    const ids = rows.map(({ id }) => id);
    const answered = await store.write((tx) =>
      tx.records.update(domain.id, [...changed].reverse().concat({ ...changed[0]!, id: 9_999_999 })),
    );
    expect(answered).toEqual(ids);
    const now = await store.latest.records.list(domain.id);
    expect(now.filter(({ id }) => ids.includes(id))).toEqual(changed);
    expect(now).toContainEqual(other[0]);
    for (const comment of ['\0', '\ud800']) {
      const write = store.write((tx) => tx.records.update(domain.id, [{ ...changed[1]!, comment }]));
      await expect(write).rejects.toMatchObject({ code: 'text' });
    }
  });

  test('records are found by every spelling of a name', async () => {
    const names = ['www', 'WWW', 'www.d.example', 'Www.D.Example.', 'other', 'ｗｗｗ', '*', 'w_w', '%'];
    await store.write((tx) => tx.records.insert(names.map((name) => newRecord(domain.id, { name }))));
    const asked = await store.latest.records.spelled(domain.id, ['www', 'www.d.example', 'www.d.example.']);
    expect(asked.map(({ name }) => name)).toEqual([
      'www',
      'WWW',
      'www.d.example',
      'Www.D.Example.',
      'ｗｗｗ',
    ]);
    const starred = await store.latest.records.spelled(domain.id, ['*', '%']);
    expect(starred.map(({ name }) => name)).toEqual(['ｗｗｗ', '*', '%']);
    expect(await store.latest.records.spelled(domain.id + 1, ['www'])).toEqual([]);
  });

  test('rules are listed in order, without their content', async () => {
    const [late, early, tie, page] = await store.write(async (tx) => [
      await tx.rules.insert(newRule(domain.id, { priority: 30, body: '{"a":"ü"}' })),
      await tx.rules.insert(newRule(domain.id, { priority: 10 })),
      await tx.rules.insert(newRule(domain.id, { priority: 30 })),
      await tx.rules.insert(newRule(domain.id, { type: 'error_page', content: '{"0":"<p>"}' })),
    ]);
    expect(await store.latest.rules.list(domain.id, 'drop')).toEqual([early, late, tie]);
    expect(await store.latest.rules.listAll(domain.id)).toEqual([early, late, tie, page]);
    expect(await store.latest.rules.count(domain.id, 'drop')).toBe(3);
    const octets = (...texts: readonly string[]) => Buffer.byteLength(texts.join(''));
    expect(await store.latest.rules.totals(domain.id)).toEqual([
      { type: 'drop', rules: 3, octets: octets('{"a":"ü"}', '{}', '{}'), addresses: 0 },
      { type: 'error_page', rules: 1, octets: octets('{}', '{"0":"<p>"}'), addresses: 0 },
    ]);
    expect(await store.latest.rules.totals(domain.id + 1)).toEqual([]);
    expect(await store.latest.rules.order(domain.id, 'drop')).toEqual(
      [early, late, tie].map((row) => ({ id: row!.id, priority: row!.priority })),
    );
    const key = { domain_id: domain.id, type: 'drop', id: late!.id } as const;
    expect(await store.latest.rules.get(key)).toEqual(late);
    expect(late).not.toHaveProperty('record_ids');
    expect(await store.latest.rules.get({ ...key, type: 'waf' })).toBeNull();
    expect(await store.latest.rules.get({ ...key, domain_id: domain.id + 1 })).toBeNull();

    expect(await store.latest.rules.content(page!.id)).toBe('{"0":"<p>"}');
    expect(await store.latest.rules.contents(domain.id)).toEqual([
      { rule_id: page!.id, content: '{"0":"<p>"}' },
    ]);
    const pageKey = { ...key, type: 'error_page', id: page!.id } as const;
    const change = { priority: 5, body: '{"b":1}', record_ids: [], updated_at: T + 1 };
    expect(await store.write((tx) => tx.rules.update(pageKey, change))).toEqual({
      ...page,
      priority: 5,
      body: '{"b":1}',
      updated_at: T + 1,
    });
    expect(await store.latest.rules.content(page!.id)).toBe('{"0":"<p>"}');
    await store.write((tx) => tx.rules.update(pageKey, { ...change, content: '{}' }));
    expect(await store.latest.rules.content(page!.id)).toBe('{}');
    await store.write((tx) => tx.rules.update(pageKey, { ...change, content: null }));
    expect(await store.latest.rules.content(page!.id)).toBeNull();
    expect(await store.write((tx) => tx.rules.update({ ...pageKey, id: 9e6 }, change))).toBeNull();

    const order = [tie!, late!, early!].map((row, index) => ({ id: row.id, priority: 10 * (index + 1) }));
    await store.write((tx) => tx.rules.prioritise(domain.id, order, T + 2));
    expect(
      (await store.latest.rules.list(domain.id, 'drop')).map(({ id, priority }) => ({ id, priority })),
    ).toEqual(order);
    expect(await store.write((tx) => tx.rules.remove(key))).toBe(true);
    expect(await store.write((tx) => tx.rules.remove(key))).toBe(false);
    const next = await store.write((tx) => tx.rules.insert(newRule(domain.id)));
    expect(next.id).toBeGreaterThan(page!.id);
  });

  test('rules are found by the records that they name', async () => {
    const [a, b] = await store.write(async (tx) => [
      await tx.rules.insert(newRule(domain.id, { record_ids: [7, 8, 8] })),
      await tx.rules.insert(newRule(domain.id, { record_ids: [9], type: 'waf' })),
      await tx.rules.insert(newRule(domain.id)),
    ]);
    expect(await store.latest.rules.naming(domain.id, [8])).toEqual([a]);
    expect(await store.latest.rules.naming(domain.id, [7, 9, 10])).toEqual([a, b]);
    expect(await store.latest.rules.naming(domain.id + 1, [7])).toEqual([]);
    expect(await store.latest.rules.naming(domain.id, [])).toEqual([]);
    const change = { priority: 1, body: '{}', record_ids: [10], updated_at: T };
    await store.write((tx) => tx.rules.update({ domain_id: domain.id, type: 'drop', id: a!.id }, change));
    expect(await store.latest.rules.naming(domain.id, [7, 8])).toEqual([]);
    expect(await store.latest.rules.naming(domain.id, [10])).toMatchObject([{ id: a!.id }]);
  });

  test('rescope writes the bodies of many rules and the records that they name', async () => {
    const place = () => newRule(domain.id, { record_ids: [7, 8] });
    const [a, b, c] = await store.write(async (tx) => [
      await tx.rules.insert(place()),
      await tx.rules.insert(place()),
      await tx.rules.insert(place()),
    ]);
    const changes = [
      { id: b!.id, body: '{"b":"€"}', record_ids: [8, 9] },
      { id: a!.id, body: '{"a":1}', record_ids: [] },
    ];
    await store.write((tx) => tx.rules.rescope(domain.id, changes, T + 5));
    await store.write((tx) => tx.rules.rescope(domain.id, [], T + 6));
    await store.write((tx) =>
      tx.rules.rescope(domain.id + 1, [{ id: c!.id, body: '{}', record_ids: [1] }], T + 7),
    );
    const after = await store.latest.rules.listAll(domain.id);
    expect(after).toContainEqual({ ...a!, body: '{"a":1}', updated_at: T + 5 });
    expect(after).toContainEqual({ ...b!, body: '{"b":"€"}', updated_at: T + 5 });
    expect(after).toContainEqual(c);
    const naming = async (id: number) =>
      (await store.latest.rules.naming(domain.id, [id])).map((rule) => rule.id);
    expect(await naming(7)).toEqual([c!.id]);
    expect(await naming(8)).toEqual([b!.id, c!.id]);
    expect(await naming(9)).toEqual([b!.id]);
    expect(await naming(1)).toEqual([]);
  });

  test('audit entries have the order in which they are appended, one or many at once', async () => {
    const entries = Array.from({ length: 600 }, (_, index) => ({
      ...auditEntry(domain, `many.${index}`),
      account_id: index % 2 === 0 ? null : ownerId,
      before_json: index % 3 === 0 ? null : '{"was":"\\"€\\""}',
      subject: index === 1 ? '' : `record/${index}`,
    }));
    await store.write((tx) => tx.audit.append(...entries));
    await store.write((tx) => tx.audit.append());
    const listed = await store.latest.audit.list(domain.id, { limit: 1_000 });
    expect(listed.map(({ id: _, ...rest }) => rest)).toEqual([...entries].reverse());
  });

  test('the audit log is read page by page', async () => {
    const author = { account_id: ownerId, key_id: 12 };
    await store.write(async (tx) => {
      for (const action of ['a', 'b', 'c'])
        await tx.audit.append({ ...auditEntry(domain, action), ...author });
    });
    const [newest, middle] = await store.latest.audit.list(domain.id, { limit: 2 });
    expect(newest).toEqual({ id: newest!.id, ...auditEntry(domain, 'c'), ...author });
    const older = await store.latest.audit.list(domain.id, { limit: 2, before: middle!.id });
    expect(older.map((entry) => entry.action)).toEqual(['a']);
    expect(SERVICE).toEqual({ account_id: null, key_id: null });
  });

  test('of several putOnce the first value is stored', async () => {
    const first = await store.write((tx) => tx.secrets.putOnce('clearance', `s${count}`, T));
    expect(await store.write((tx) => tx.secrets.putOnce('clearance', 'later', T))).toBe(first);
    expect(await store.latest.secrets.get('clearance')).toBe(first);
    expect(await store.latest.secrets.get('signing_key')).toBeNull();
  });

  test('texts are ordered by their octets in any locale', async () => {
    const names = ['b', 'A', 'a', 'B', 'ä', '_', 'Z', '\u{1F642}', '\uFFFD'].map(
      (letter) => `${letter}.order${count}`,
    );
    await store.write(async (tx) => {
      for (const name of names) await tx.domains.insert(newDomain(name, ownerId));
    });
    const seen = await store.latest.domains.listSeenBy(ownerId);
    const found = seen.map((one) => one.domain.name).filter((name) => name.endsWith(`.order${count}`));
    expect(found).toEqual([...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
  });

  test.each([
    ['NUL', 'a\0b'],
    ['a lone surrogate', 'a\uD800b'],
  ])('no text with %s', async (_, text) => {
    const attempt = store.write((tx) => tx.rules.insert(newRule(domain.id, { body: text })));
    await expect(attempt).rejects.toSatisfy((error) => isStoreFault(error, 'text'));
    await expect(store.latest.domains.byName(text)).rejects.toSatisfy((error) => isStoreFault(error, 'text'));
    expect(await store.latest.rules.listAll(domain.id)).toEqual([]);
  });
});

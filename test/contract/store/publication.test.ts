/** Outbox, revisions, manifest, nodes: what publication leans on, on both databases. */
import { beforeEach, describe, expect, test } from 'vitest';
import { isStoreFault } from '../../../src/base/storage/fault.ts';
import type { Publication } from '../../../src/control/store/repositories/plans.ts';
import type { Store } from '../../../src/control/store/store.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import type { ReportRow } from '../../../src/control/store/tables/nodes.ts';
import { newDomain, outboxRow, publication, seed, T } from '../../support/sample-rows.ts';
import { kinds, openForEach, type Place } from './databases.ts';

describe.each(kinds)('$name', (kind) => {
  let place: Place;
  let store: Store;
  let domain: DomainRow;

  openForEach(kind, (opened) => {
    ({ place, store } = opened);
  });
  beforeEach(async () => {
    domain = (await store.write((tx) => seed(tx))).domain;
  });

  const publish = (changes: Partial<Publication> = {}) =>
    store.write(async (tx) => {
      const wanted = publication(domain.name, { domain_id: domain.id, ...changes });
      if (wanted.digest !== null)
        await tx.plans.putBlob(wanted.digest, Uint8Array.of(1, 2, wanted.revision), T);
      return tx.plans.publish(wanted);
    });
  const notNext = (error: unknown) => isStoreFault(error, 'conflict', 'manifest.revision');

  test('the outbox is claimed once, and again when the claim is over', async () => {
    const other = await store.write((tx) => tx.domains.insert(newDomain('b.example', domain.user_id)));
    const ids = await store.write(async (tx) => [
      await tx.outbox.append({ ...outboxRow(domain), at: T + 5 }),
      await tx.outbox.append({ ...outboxRow(other), at: T + 4 }),
      await tx.outbox.append({ ...outboxRow(domain), at: T + 6 }),
    ]);
    expect(await store.latest.outbox.backlog()).toEqual({ rows: 3, since: T + 4 });
    const claim = (now: number, limit = 9) =>
      store.write((tx) => tx.outbox.claim({ now, until: now + 100, limit }));
    const first = { domain_id: other.id, domain: other.name, rows: 1, through: ids[1], since: T + 4 };
    const second = { domain_id: domain.id, domain: domain.name, rows: 2, through: ids[2], since: T + 5 };
    expect(await claim(T, 1)).toEqual([first]);
    expect(await claim(T)).toEqual([second]);
    expect(await claim(T)).toEqual([]);
    await store.write((tx) => tx.outbox.append(outboxRow(domain)));
    expect(await claim(T)).toEqual([]);
    await store.write((tx) => tx.outbox.release(domain.id));
    expect(await claim(T + 1)).toMatchObject([{ domain_id: domain.id, through: ids[2]! + 1 }]);
    expect(await claim(T + 101)).toHaveLength(2);
  });

  test('a claim made by a clock that was ahead lapses once it is set right', async () => {
    await store.write((tx) => tx.outbox.append(outboxRow(domain)));
    const claim = (now: number) => store.write((tx) => tx.outbox.claim({ now, until: now + 100, limit: 9 }));
    const hour = 3_600_000;
    expect(await claim(T + hour)).toHaveLength(1);
    expect(await claim(T)).toHaveLength(1);
    expect(await claim(T)).toEqual([]);
    // Clocks of two processes that are apart by less than a lease leave each other's claims alone.
    expect(await claim(T - 99)).toEqual([]);
  });

  test('the heads of current plans are paged by name, without tombstones', async () => {
    const other = await store.write((tx) => tx.domains.insert(newDomain('b.example', domain.user_id)));
    const bytes = Uint8Array.from({ length: 20 }, (_, index) => index + 1);
    await store.write(async (tx) => {
      for (const { id, name } of [domain, other]) {
        const wanted = publication(name, { domain_id: id, digest: `${name}-1`, through: 7 });
        await tx.plans.putBlob(wanted.digest!, bytes, T);
        await tx.plans.publish(wanted);
      }
    });
    const names = [domain.name, other.name].sort();
    const first = await store.latest.plans.heads('', 1);
    expect(first.map(({ domain: name }) => name)).toEqual([names[0]]);
    expect(first[0]).toMatchObject({ revision: 1, through: 7 });
    expect([...first[0]!.head!]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect((await store.latest.plans.heads(names[0]!, 9)).map(({ domain: name }) => name)).toEqual([
      names[1],
    ]);
    await publish({ revision: 2, digest: null });
    expect((await store.latest.plans.heads('', 9)).map(({ domain: name }) => name)).toEqual([other.name]);
  });

  test('renewal extends claims that exist, and releaseAll ends every claim', async () => {
    const other = await store.write((tx) => tx.domains.insert(newDomain('b.example', domain.user_id)));
    await store.write((tx) => tx.outbox.append({ ...outboxRow(domain), at: T }));
    await store.write((tx) => tx.outbox.append({ ...outboxRow(other), at: T + 1 }));
    const claim = (now: number, limit: number) =>
      store.write((tx) => tx.outbox.claim({ now, until: now + 100, limit }));
    expect(await claim(T, 1)).toMatchObject([{ domain_id: domain.id }]);
    await store.write((tx) => tx.outbox.renew([domain.id, other.id], T + 200));
    expect(await claim(T + 150, 9)).toMatchObject([{ domain_id: other.id }]);
    expect(await claim(T + 150, 9)).toEqual([]);
    await store.write((tx) => tx.outbox.releaseAll());
    expect(await claim(T + 150, 9)).toHaveLength(2);
  });

  test('publishers side by side claim different domains', async () => {
    await store.write(async (tx) => {
      for (let index = 0; index < 30; index++) {
        const made = await tx.domains.insert(newDomain(`p${index}.example`, domain.user_id));
        await tx.outbox.append(outboxRow(made));
      }
    });
    const second = kind.name === 'postgres' ? await place.open() : store;
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        (index % 2 === 0 ? store : second).write((tx) =>
          tx.outbox.claim({ now: T, until: T + 1, limit: 10 }),
        ),
      ),
    );
    const claimed = claims.flat().map((pending) => pending.domain);
    expect(new Set(claimed).size).toBe(claimed.length);
    if (second !== store) await second.close();
  });

  test('a publication raises the revision, files it, and settles the outbox', async () => {
    const ids = await store.write(async (tx) => [
      await tx.outbox.append(outboxRow(domain)),
      await tx.outbox.append(outboxRow(domain)),
    ]);
    expect(await store.latest.plans.covering(domain.id, ids[0]!)).toBeNull();
    const entry = await publish({ digest: 'd1', through: ids[0]!, account_id: 4, key_id: 5 });
    expect(entry).toEqual({
      domain: domain.name,
      domain_id: domain.id,
      revision: 1,
      digest: 'd1',
      purge_epoch: 0,
      purge_through: 0,
      purge_floor: 0,
      position: 1,
      at: T,
      node_groups: 'default',
      left_groups: '',
      certificates: null,
      challenges: null,
    });
    expect((await store.latest.outbox.list(domain.id)).map((row) => row.id)).toEqual([ids[1]]);
    await publish({ revision: 2, through: ids[1]! });
    expect(await store.latest.outbox.list(domain.id)).toEqual([]);
    expect(await store.latest.plans.covering(domain.id, ids[0]!)).toMatchObject({ revision: 1 });
    expect(await store.latest.plans.covering(domain.id, ids[1]!)).toMatchObject({ revision: 2 });
    expect(await store.latest.plans.current(domain.name)).toMatchObject({
      revision: 2,
      digest: null,
      position: 2,
    });
    expect(await store.latest.plans.get(domain.id, 1)).toMatchObject({
      digest: 'd1',
      account_id: 4,
      key_id: 5,
    });
    expect((await store.latest.plans.list(domain.id, { limit: 9 })).map((row) => row.revision)).toEqual([
      2, 1,
    ]);
    expect(await store.latest.plans.list(domain.id, { limit: 9, before: 2 })).toHaveLength(1);
    const bytes = await store.latest.plans.blob('d1');
    expect(bytes).toEqual(Uint8Array.of(1, 2, 1));
    expect([bytes!.constructor, bytes!.byteOffset, bytes!.buffer.byteLength]).toEqual([Uint8Array, 0, 3]);
    expect(await store.latest.plans.blob('d2')).toBeNull();
  });

  test('revisions are neither skipped nor given twice', async () => {
    await expect(publish({ revision: 2 })).rejects.toSatisfy(notNext);
    await publish();
    for (const revision of [0, 1, 3]) await expect(publish({ revision })).rejects.toSatisfy(notNext);
    expect(await store.latest.plans.position()).toBe(1);
    const racers = await Promise.allSettled(Array.from({ length: 12 }, () => publish({ revision: 2 })));
    expect(racers.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
    for (const one of racers) if (one.status === 'rejected') expect(one.reason).toSatisfy(notNext);
    expect((await store.latest.plans.list(domain.id, { limit: 9 })).map((row) => row.revision)).toEqual([
      2, 1,
    ]);
  });

  test('a name that is deleted and created again continues its revisions', async () => {
    await publish();
    await store.write((tx) => tx.domains.remove(domain.id));
    await publish({ revision: 2 });
    const again = await store.write((tx) => tx.domains.insert(newDomain(domain.name, domain.user_id)));
    await expect(publish({ domain_id: again.id })).rejects.toSatisfy(notNext);
    const entry = await publish({ domain_id: again.id, revision: 3 });
    expect(entry).toMatchObject({ domain_id: again.id, revision: 3 });
    // What nodes cached of the domain before is not this one's: the epoch rises once, and stays.
    expect(entry.purge_epoch).toBe(1);
    expect(await store.latest.plans.list(again.id, { limit: 9 })).toMatchObject([{ revision: 3 }]);
    expect(await publish({ domain_id: again.id, revision: 4 })).toMatchObject({ purge_epoch: 1 });
    expect(await store.latest.plans.get(again.id, 1)).toBeNull();
  });

  test('a plan that was not stored is not published', async () => {
    const bare = store.write((tx) =>
      tx.plans.publish(publication(domain.name, { domain_id: domain.id, digest: 'none' })),
    );
    await expect(bare).rejects.toSatisfy((error) => isStoreFault(error, 'missing'));
    expect(await store.latest.plans.current(domain.name)).toBeNull();
  });

  test('a purge raises the epoch, published or not', async () => {
    const purge = () => store.write((tx) => tx.plans.purge(domain.name, { domain_id: domain.id, at: T }));
    expect(await purge()).toMatchObject({ revision: 0, digest: null, purge_epoch: 1, position: 1 });
    expect(await publish({ digest: 'd1' })).toMatchObject({ revision: 1, purge_epoch: 1, position: 2 });
    expect(await purge()).toMatchObject({ revision: 1, digest: 'd1', purge_epoch: 2, position: 3 });
  });

  test('a reader that follows positions gets every change', async () => {
    const domains = await store.write((tx) =>
      Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          tx.domains.insert(newDomain(`f${index}.example`, domain.user_id)),
        ),
      ),
    );
    const seen = new Map<string, number>();
    let position = 0;
    let over = false;
    const follow = (async () => {
      for (let last = false; !last; ) {
        last = over;
        const changed = await store.latest.plans.changedSince(position, 3);
        if (changed.length > 0) last = false;
        for (const entry of changed) {
          expect(entry.position).toBeGreaterThan(position);
          position = entry.position;
          seen.set(entry.domain, entry.revision);
        }
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    await Promise.all(
      domains.map(async (one) => {
        for (let revision = 1; revision <= 8; revision++) {
          await store.write((tx) => tx.plans.publish(publication(one.name, { domain_id: one.id, revision })));
        }
      }),
    );
    over = true;
    await follow;
    expect([...seen.values()]).toEqual(domains.map(() => 8));
    expect(position).toBe(80);
    expect(await store.latest.plans.position()).toBe(80);
  });

  test('a pruned plan is removed unless another revision or the manifest refers to it', async () => {
    for (const revision of [1, 2, 3]) await publish({ revision, digest: `d${revision}` });
    await publish({ revision: 4, digest: 'd1' });
    await publish({ revision: 5 });
    const there = async () =>
      (await store.latest.plans.stored(domain.name, 9)).map(({ revision }) => revision);
    expect(await there()).toEqual([4, 3, 2, 1]);
    expect(await store.latest.plans.stored(domain.name, 1)).toEqual([{ revision: 4, at: T, octets: 3 }]);
    expect(await store.latest.plans.storedNames('', 9)).toEqual([{ domain: domain.name, plans: 4 }]);
    expect(await store.latest.plans.storedNames(domain.name, 9)).toEqual([]);
    expect(await store.write((tx) => tx.plans.prune(domain.name, [1, 2]))).toBe(1);
    expect(await store.write((tx) => tx.plans.prune(domain.name, [1, 2]))).toBe(0);
    expect(await there()).toEqual([4, 3]);
    expect(await store.latest.plans.blob('d1')).not.toBeNull();
    expect(await store.latest.plans.blob('d2')).toBeNull();
    const history = await store.latest.plans.list(domain.id, { limit: 9 });
    expect(history.map(({ pruned }) => pruned)).toEqual([false, false, false, true, true]);
    expect(await store.latest.plans.get(domain.id, 2)).toMatchObject({ digest: 'd2', pruned: true });
    expect(await store.write((tx) => tx.plans.prune(domain.name, [4]))).toBe(1);
    await publish({ revision: 6, digest: 'd6' });
    expect(await store.write((tx) => tx.plans.prune(domain.name, [6]))).toBe(0);
    expect(await store.latest.plans.blob('d6')).not.toBeNull();
  });

  test('the newest revision each node acknowledged, revoked nodes left out', async () => {
    const [a, b, gone] = await store.write(async (tx) => [
      await tx.nodes.insert({ name: 'a', token_hash: 'ta', created_at: T }),
      await tx.nodes.insert({ name: 'b', token_hash: 'tb', created_at: T }),
      await tx.nodes.insert({ name: 'gone', token_hash: 'tg', created_at: T }),
    ]);
    const said = (node: { id: number }, revision: number, outcome: 'ack' | 'nack') => ({
      node_id: node.id,
      domain: domain.name,
      revision,
      outcome,
      reason: '',
      at: T,
    });
    await store.write(async (tx) => {
      await tx.nodes.report([said(a!, 1, 'ack'), said(b!, 2, 'ack'), said(gone!, 3, 'ack')]);
      await tx.nodes.report([said(a!, 4, 'nack'), said(b!, 4, 'ack')]);
      await tx.nodes.revoke(gone!.id, T);
    });
    expect([...(await store.latest.nodes.acknowledged(domain.name))].sort()).toEqual([1, 4]);
    expect(await store.latest.nodes.acknowledged('other.example')).toEqual([]);
  });

  test('a name is in the groups of its domain when it was published, and those before are noted', async () => {
    const groups = (): Promise<unknown> =>
      store.latest.plans.current(domain.name).then((row) => [row!.node_groups, row!.left_groups]);
    expect(await store.latest.groups.ofDomain(domain.id)).toBe('default');
    await publish({ digest: 'd1', revision: 1 });
    await store.write((tx) => tx.groups.setDomain(domain.id, 'eu,us'));
    expect(await groups()).toEqual(['default', '']);
    expect(await store.latest.groups.countDomains()).toContainEqual({ node_groups: 'eu,us', domains: 1 });
    await publish({ digest: 'd1', revision: 2 });
    expect(await groups()).toEqual(['eu,us', 'default']);
    expect(await store.latest.plans.groupsWith('d1')).toEqual(['eu,us']);
    await store.write((tx) => tx.groups.setDomain(domain.id, 'us'));
    await publish({ digest: 'd1', revision: 3 });
    expect(await groups()).toEqual(['us', 'default,eu']);
    // Deleted, it stays where it was, so that the nodes that serve it read of its end.
    await store.write((tx) => tx.domains.remove(domain.id));
    await publish({ digest: null, revision: 4 });
    expect(await groups()).toEqual(['us', 'default,eu']);
    expect(await store.latest.groups.ofDomain(domain.id)).toBeNull();
  });

  test('nodes and their reports are stored and returned', async () => {
    const [a, b] = await store.write(async (tx) => [
      await tx.nodes.insert({ name: 'a', token_hash: 'ta', created_at: T }),
      await tx.nodes.insert({ name: 'b', token_hash: 'tb', created_at: T }),
    ]);
    expect(a).toEqual({
      id: a!.id,
      name: 'a',
      token_hash: 'ta',
      created_at: T,
      last_seen_at: null,
      revoked_at: null,
      node_groups: 'default',
      box_key: null,
    });
    await store.write(async (tx) => {
      await tx.nodes.touch(a!.id, T + 9);
      await tx.nodes.touch(a!.id, T + 8);
    });
    expect(await store.latest.nodes.byTokenHash('ta')).toMatchObject({ id: a!.id, last_seen_at: T + 9 });
    expect(await store.latest.nodes.byTokenHash('none')).toBeNull();
    expect(await store.write((tx) => tx.nodes.revoke(b!.id, T))).toBe(true);
    expect(await store.write((tx) => tx.nodes.revoke(b!.id, T))).toBe(false);
    expect(await store.latest.nodes.get(b!.id)).toMatchObject({ revoked_at: T });
    expect((await store.latest.nodes.list()).map((node) => node.name)).toEqual(['a', 'b']);

    const answer = (node: number, revision: number, changes: Partial<ReportRow> = {}): ReportRow => ({
      node_id: node,
      domain: domain.name,
      revision,
      outcome: 'ack',
      reason: '',
      at: T + revision,
      ...changes,
    });
    const refused = answer(b!.id, 2, { outcome: 'nack', reason: 'checksum', at: T + 40 });
    await store.write((tx) =>
      tx.nodes.report([
        answer(a!.id, 1),
        refused,
        answer(a!.id, 2),
        answer(b!.id, 1),
        answer(a!.id, 7, { domain: 'z' }),
      ]),
    );
    expect(await store.latest.nodes.reportsOn(domain.name, 2)).toEqual([answer(a!.id, 2), refused]);
    expect(await store.latest.nodes.latestReports(domain.name)).toEqual([answer(a!.id, 2), refused]);
    expect(await store.latest.nodes.reportsOf(a!.id)).toEqual([
      answer(a!.id, 2),
      answer(a!.id, 7, { domain: 'z' }),
    ]);
    const later = answer(b!.id, 2, { at: T + 50 });
    await store.write((tx) => tx.nodes.report([later]));
    expect(await store.latest.nodes.reportsOf(b!.id)).toEqual([later]);
    const nobody = store.write((tx) => tx.nodes.report([answer(9_999, 1)]));
    await expect(nobody).rejects.toSatisfy((error) => isStoreFault(error, 'missing'));

    await publish();
    await publish({ revision: 2 });
    await store.write((tx) => tx.nodes.pruneReports(T + 100));
    expect(await store.latest.nodes.reportsOn(domain.name, 1)).toEqual([]);
    expect(await store.latest.nodes.reportsOn(domain.name, 2)).toHaveLength(2);
  });
});

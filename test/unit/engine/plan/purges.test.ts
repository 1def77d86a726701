/** The index of purges decides as a scan of the list does; the list after answers is the list of all of them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { purgeLocation } from '../../../../src/base/paths/purge-values.ts';
import {
  type CachePurge,
  createPurgeIndex,
  forgottenPurges,
  mergePurges,
  PURGE_KINDS,
  type PurgeList,
  type PurgeSubject,
  type PurgeVerdict,
  readPurgeList,
} from '../../../../src/engine/plan/purges.ts';

const path = fc.constantFrom('a.test/', 'a.test/a', 'a.test/a/b', 'a.test/%61', 'b.a.test/a', 'a.test/a?v=1');
const tag = fc.constantFrom('one', 'two', 'three');
const purge = fc.oneof(
  fc.record({ kind: fc.constantFrom('url' as const, 'refresh' as const), value: path }),
  fc.record({ kind: fc.constant('prefix' as const), value: path.map((one) => one.split('?', 1)[0]!) }),
  fc.record({ kind: fc.constant('tag' as const), value: tag }),
);
const history = fc.array(purge, { maxLength: 12 });
const subject = fc.record({
  url: path,
  tags: fc.option(fc.array(tag, { maxLength: 2 })),
  position: fc.nat({ max: 13 }),
});

function numbered(purges: readonly Omit<CachePurge, 'position'>[]): readonly CachePurge[] {
  return purges.map((one, at) => ({ ...one, position: at + 1 }));
}

/** The verdict by the meaning of purges alone. */
function scan(purges: readonly CachePurge[], { url, tags, position }: PurgeSubject): PurgeVerdict {
  const { path: location, whole } = purgeLocation(url);
  const later = purges.filter((one) => one.position > position);
  const covers = ({ kind, value }: CachePurge): boolean => {
    if (kind === 'tag') return tags === null || tags.includes(value);
    if (kind === 'prefix') return location.startsWith(purgeLocation(value).path);
    return purgeLocation(value).whole === whole;
  };
  const matching = later.filter(covers);
  if (matching.some(({ kind }) => kind !== 'refresh')) return 'purged';
  return matching.length > 0 ? 'stale' : 'valid';
}

test('the index decides as a scan of all purges does', () => {
  fc.assert(
    fc.property(history, subject, (purges, one) => {
      const all = numbered(purges);
      const index = createPurgeIndex({ through: all.length, floor: 0, purges: all });
      expect(index.judge(one)).toBe(scan(all, one));
    }),
  );
});

test('a list that grows by answers decides as a scan of all purges, or purges more below its floor', () => {
  fc.assert(
    fc.property(history, fc.nat(), fc.nat(), subject, (purges, first, dropped, one) => {
      const all = numbered(purges);
      const through = first % (all.length + 1);
      const floor = dropped % (all.length + 1);
      const start = { through, floor: 0, purges: all.slice(0, through) };
      const answer = { through: all.length, floor, purges: all.slice(Math.max(through, floor)) };
      const list = mergePurges(start, answer);
      const verdict = createPurgeIndex(list).judge(one);
      if (one.position < floor) expect(verdict).toBe('purged');
      else expect(verdict).toBe(scan(all, one));
    }),
  );
});

test('a list whose file is lost covers everything from before', () => {
  const index = createPurgeIndex(forgottenPurges(7));
  const one = { url: 'a.test/', tags: [] };
  expect([6, 7].map((position) => index.judge({ ...one, position }))).toEqual(['purged', 'valid']);
});

test('lists are read as they were written, and nothing else is', () => {
  const list: PurgeList = {
    through: 9,
    floor: 2,
    purges: PURGE_KINDS.map((kind, at) => ({ kind, value: `v${at}`, position: at + 3 })),
  };
  expect(readPurgeList(JSON.parse(JSON.stringify(list)))).toEqual(list);
  const wrong = [
    null,
    [],
    {},
    { ...list, through: -1 },
    { ...list, floor: 10 },
    { ...list, purges: [{ kind: 'other', value: 'v', position: 3 }] },
    { ...list, purges: [{ kind: 'url', value: 7, position: 3 }] },
    { ...list, purges: [{ kind: 'url', value: 'v', position: 10 }] },
    { ...list, purges: [{ kind: 'url', value: 'v'.repeat(2_049), position: 3 }] },
    { ...list, purges: Array.from({ length: 1_001 }, () => list.purges[0]) },
  ];
  expect(wrong.map(readPurgeList)).toEqual(wrong.map(() => null));
});

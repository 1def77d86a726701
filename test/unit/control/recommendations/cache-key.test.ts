/** Parameters that split the cache: known ones, unique ones, and those that responses depend on. */
import { describe, expect, test } from 'vitest';
import { cacheKey } from '../../../../src/control/recommendations/cache-key.ts';
import type { EntryParameter, EntryRequest } from '../../../../src/control/recommendations/stored-facts.ts';
import { DAY, entryOf, type FactParts, factsOf, HOUR, NOW } from '../../../support/stored-facts.ts';

const RULE = { id: 7, type: 'cache', path_includes: ['/*'] };

/** 240 requests in 24 hours, half of them misses; `change` changes each of them. */
function cached(change: (index: number) => Partial<EntryRequest> = () => ({}), count = 240): EntryRequest[] {
  return Array.from({ length: count }, (_, index) =>
    entryOf({
      at: NOW - HOUR - (index % 24) * HOUR,
      cache: index % 2 === 0 ? 'miss' : 'hit',
      effect: 'cache',
      ...change(index),
    }),
  );
}

const parameters = (values: Readonly<Record<string, string>>): { parameters: readonly EntryParameter[] } => ({
  parameters: Object.entries(values).map(([name, value]) => ({ name, value })),
});
const found = (requests: readonly EntryRequest[], parts: FactParts = {}) =>
  cacheKey(factsOf({ rules: [RULE], entries: [{ rule: 'cache/7', requests }], ...parts }));
const campaign = (index: number) => parameters({ utm_source: `mail${index % 5}`, page: '1' });

describe('query parameters that split the cache', () => {
  test('a tracking parameter in a fifth of the misses is named, and the others stay in the key', () => {
    const some = cached((index) => (index % 10 < 4 ? campaign(index) : parameters({ lang: 'no' })));
    const [one, ...others] = found(some);
    expect(others).toEqual([]);
    expect(one).toMatchObject({
      kind: 'split_cache_key',
      subject: 'cache/7',
      evidence: {
        entries: 240,
        misses: 120,
        split_misses: 48,
        parameters: [{ name: 'utm_source', reason: 'tracking', misses: 48 }],
        other_parameters: ['lang', 'page'],
      },
      change: { rules: [{ id: 7, query_mode: 'include', query_params: ['lang', 'page'] }] },
    });
  });

  test('without other parameters the key has none', () => {
    const [one] = found(cached((index) => parameters({ gclid: String(index) })));
    expect(one!.change!.rules).toMatchObject([{ query_mode: 'none', query_params: [] }]);
  });

  test('a rule that lists a tracking parameter loses that one alone', () => {
    const rules = [{ ...RULE, query_mode: 'include', query_params: ['page', 'utm_source', 'sort'] }];
    const [one] = found(cached(campaign), { rules });
    expect(one!.change!.rules).toMatchObject([{ query_mode: 'include', query_params: ['page', 'sort'] }]);
  });

  test('a parameter that the key does not have does not split it', () => {
    const include = [{ ...RULE, query_mode: 'include', query_params: ['page'] }];
    expect(found(cached(campaign), { rules: include })).toEqual([]);
    expect(found(cached(campaign), { rules: [{ ...RULE, query_mode: 'none' }] })).toEqual([]);
  });

  test('a parameter with another value in each request splits it if the responses are alike', () => {
    const unique = (index: number) => parameters({ rnd: String(index) });
    const [one] = found(cached(unique));
    expect(one!.evidence).toMatchObject({
      parameters: [{ name: 'rnd', reason: 'unique', misses: 120, values: 120 }],
    });
    expect(found(cached((index) => ({ ...unique(index), octets: 1_000 + index })))).toEqual([]);
    expect(found(cached((index) => ({ ...unique(index), status: index % 2 === 0 ? 200 : 404 })))).toEqual([]);
    expect(found(cached((index) => ({ ...unique(index), path: `/p${index}` })))).toEqual([]);
    expect(found(cached((index) => parameters({ rnd: String(index % 60) })))).toEqual([]);
    expect(found(cached((index) => parameters({ rnd: index === 0 ? 'REDACTED' : String(index) })))).toEqual(
      [],
    );
  });

  test.each<[string, (index: number) => Partial<EntryRequest>, FactParts]>([
    ['fewer misses have it', (index) => (index % 20 === 0 ? campaign(index) : {}), {}],
    ['nearly all are hits', (index) => ({ ...campaign(index), cache: index < 99 ? 'miss' : 'hit' }), {}],
    [
      'the requests are of a few hours',
      (index) => ({ ...campaign(index), at: NOW - HOUR - (index % 11) * HOUR }),
      {},
    ],
    ['they are no reads', (index) => ({ ...campaign(index), method: 'POST' }), {}],
    ['they are not cacheable', (index) => ({ ...campaign(index), cache: 'pass' }), {}],
    ['their targets were cut', () => ({ parameters: null }), {}],
    ['they are older than the rule', (index) => ({ ...campaign(index), at: NOW - 400 * DAY }), {}],
    ['the rule bypasses the cache', campaign, { rules: [{ ...RULE, mode: 'bypass' }] }],
    ['the rule is disabled', campaign, { rules: [{ ...RULE, enabled: false }] }],
    ['entries are not to be read', campaign, { entries: null }],
  ])('there is no advice if %s', (_, change, parts) => {
    expect(found(cached(change), parts)).toEqual([]);
  });

  test('there is none of too few entries, and no change where the list would be long', () => {
    expect(found(cached(campaign, 199))).toEqual([]);
    const many = cached((index) => parameters({ utm_id: '1', [`p${index % 60}`]: '1' }));
    expect(found(many)).toMatchObject([{ kind: 'split_cache_key', change: null }]);
  });
});

/** The list as a whole: its order, its ids, and changes as fragments of an edge file. */
import { describe, expect, test } from 'vitest';
import { printRecommendation, recommend } from '../../../../src/control/recommendations/recommend.ts';
import { RECOMMENDATION } from '../../../../src/control/recommendations/shapes.ts';
import { readEdgeFile } from '../../../../src/rules/files/edge-file.ts';
import { factsOf, NOW, periodOf } from '../../../support/stored-facts.ts';

const RECORDS = [
  { id: 1, name: 'shop', type: 'A', destination: '198.51.100.20', proxied: true },
  { id: 2, name: 'direct', type: 'A', destination: '198.51.100.20' },
];
const RULES = [
  { id: 7, type: 'drop', countries: ['NO'], record_ids: [1] },
  { id: 8, type: 'redirect', target: '/new/', preserve_path: true },
  {
    id: 9,
    type: 'error_page',
    codes: [502],
    mode: 'custom',
    content: { 502: 'x'.repeat(60_000), 0: 'y'.repeat(64_000), 404: 'z'.repeat(60_000) },
  },
];

function list() {
  const month = periodOf({
    days: 30,
    requests: 500,
    yesterday: (counts) => void counts.by.status.set('502', 500),
  });
  const facts = factsOf({ records: RECORDS, rules: RULES, month });
  const of = { domain: facts.domain.name, records: facts.records };
  return recommend(facts).map((draft) => printRecommendation(draft, of));
}

describe('recommendations', () => {
  test('are ordered by severity, then by family, with ids that name kind and object', () => {
    expect(list().map(({ id }) => id)).toEqual([
      'mistaken_rule:redirect/8:redirect_loop',
      'exposed_origin:record/2',
      'unused_rule:drop/7',
      'unused_rule:error_page/9',
    ]);
    expect(list()).toEqual(list());
  });

  test('have the shape of their kind', () => {
    for (const one of list()) expect(RECOMMENDATION.parse(one)).toEqual(one);
  });

  test('have a change as a fragment with the object, its id, and the records that it names', () => {
    const { fix } = list().find(({ id }) => id === 'unused_rule:drop/7')!;
    expect(fix!.command).toBe(
      'edgeplan recommend shop.example --fix unused_rule:drop/7 | edgeplan apply -f -',
    );
    expect(fix!.edge_yaml).toContain('domain: shop.example\nfragment: true\n');
    const read = readEdgeFile(fix!.edge_yaml, 'fix');
    if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
    expect(read.sources.fragment).toBe(true);
    expect(read.ruleSet.rules).toMatchObject([{ id: 7, enabled: false, countries: ['NO'], record_ids: [1] }]);
    expect(read.ruleSet.records.map(({ id }) => id)).toEqual([1]);
  });

  test('have no change where it would be too long, and say so', () => {
    const one = list().find(({ id }) => id === 'unused_rule:error_page/9')!;
    expect(one.fix).toBe(null);
    expect(one.message).toContain(
      '(disables rule error_page/9: by hand, the rule is too long to print here)',
    );
  });

  test('are none without facts', () => {
    expect(recommend(factsOf({ now: NOW }))).toEqual([]);
  });
});

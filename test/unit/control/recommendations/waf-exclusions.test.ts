/** Signatures that look like false positives, and those that do not. */
import { describe, expect, test } from 'vitest';
import type { EntryRequest } from '../../../../src/control/recommendations/stored-facts.ts';
import { wafExclusions } from '../../../../src/control/recommendations/waf-exclusions.ts';
import { observeVerdict } from '../../../../src/workbench/tuning/observe.ts';
import { DAY, entryOf, type FactParts, factsOf, HOUR, NOW } from '../../../support/stored-facts.ts';

const RULE = { id: 7, type: 'waf', paranoia: 1 };

/** A verdict of an earlier version: ids and targets without what belongs together. */
const older = (ids: readonly number[], targets: readonly string[]) =>
  observeVerdict({ score: 5, ids, targets }, { rule: 'waf/7', blocks: true });

/** A verdict in which each match has its target and score. */
const verdictOf = (...matches: readonly (readonly [number, string])[]) => {
  const list = matches.map(([id, target]) => ({ id, target, name: '', category: 'xss', score: 5, part: '' }));
  return observeVerdict({ score: 5 * list.length, matches: list }, { rule: 'waf/7', blocks: true });
};

/** Blocked requests of 24 visitors in 12 hours; `change` changes each of them. */
function blocked(change: (index: number) => Partial<EntryRequest> = () => ({}), count = 24): EntryRequest[] {
  return Array.from({ length: count }, (_, index) =>
    entryOf({
      id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      at: NOW - HOUR - (index % 12) * HOUR,
      visitor: String(index),
      method: 'POST',
      path: '/posts/new',
      effect: 'block',
      verdict: older([942100], ['ARGS:comment']),
      ...change(index),
    }),
  );
}

const found = (requests: readonly EntryRequest[], parts: FactParts = {}) =>
  wafExclusions(factsOf({ rules: [RULE], entries: [{ rule: 'waf/7', requests }], ...parts }));

describe('exclusions that false positives suggest', () => {
  test('a signature that alone scores ordinary requests of many visitors gets one, with the entries to look at', () => {
    const [one, ...others] = found(blocked());
    expect(others).toEqual([]);
    expect(one).toMatchObject({
      kind: 'waf_false_positive',
      subject: 'waf/7:942100',
      severity: 'warning',
      evidence: {
        rule: 'waf/7',
        signature: 942100,
        entries: 24,
        requests: 24,
        visitors: 24,
        hours: 12,
        own_pages: 24,
        places: [
          {
            ...{ path: '/posts/new', target: 'ARGS:comment' },
            ...{ requests: 24, let_through: 24, attacks: 0 },
          },
        ],
        reasons: [
          '24 visitors',
          'no visitor shows signs of an attack',
          'no visitor triggered signatures of another category elsewhere',
          'a page of the site led to 100 %',
          'in 12 hours of 1 day',
        ],
      },
      change: {
        rules: [{ id: 7, exclusions: [{ id: 942100, tag: '', target: 'ARGS:comment', path: '/posts/new' }] }],
      },
    });
    expect(one!.evidence).toHaveProperty('examples.length', 5);
    expect(one!.message).toMatch(
      /^rule `waf\/7` blocked 24 logged requests of 24 visitors .* look at the entries/,
    );
  });

  test('the exclusions of the rule stay, and the new ones cover two places apart', () => {
    const earlier = { id: 920100, tag: '', target: '', path: '/x' };
    const two = blocked((index) => (index % 2 === 0 ? {} : { path: '/posts/edit' }));
    const [one] = found(two, { rules: [{ ...RULE, exclusions: [earlier] }] });
    const [{ exclusions }] = one!.change!.rules as unknown as [{ exclusions: { path: string }[] }];
    expect(exclusions.map(({ path }) => path)).toEqual(['/x', '/posts/edit', '/posts/new']);
    expect(exclusions[0]).toEqual(earlier);
  });

  test.each<[string, (index: number) => Partial<EntryRequest>]>([
    ['other signatures score as well', () => ({ verdict: older([941100, 942100], ['ARGS:comment']) })],
    ['they are of few visitors', (index) => ({ visitor: String(index % 9) })],
    ['the visitors are unknown', () => ({ visitor: null })],
    ['they come in one burst', () => ({ at: NOW - HOUR })],
    ['no page of the domain led to them', () => ({ fromOwnPage: false })],
    ['a known bot sent one of them', (index) => ({ isBot: index === 3 })],
    ['they are spread over many paths', (index) => ({ path: `/p${index}` })],
    ['they are spread over many parameters', (index) => ({ verdict: older([942100], [`ARGS:a${index}`]) })],
    ['the signature matched several variables', () => ({ verdict: older([942100], ['ARGS:a', 'ARGS:b']) })],
    ['the variable is not logged', () => ({ verdict: older([942100], []) })],
    ['the path would be a pattern', () => ({ path: '/a*' })],
    ['the requests passed', () => ({ effect: 'passed' })],
    ['they are older than the rule', () => ({ at: NOW - 400 * DAY })],
  ])('there is none if %s', (_, change) => {
    expect(found(blocked(change))).toEqual([]);
  });

  test('there is none with too few requests, a tenth of attacks among them, a disabled rule, or without entries', () => {
    expect(found(blocked(undefined, 19))).toEqual([]);
    const attacks = blocked(() => ({ verdict: older([941100, 942100], ['ARGS:q']) }), 3);
    expect(found([...blocked(), ...attacks])).toEqual([]);
    expect(found([...blocked(), ...attacks.slice(1)])).toHaveLength(1);
    expect(found(blocked(), { rules: [{ ...RULE, enabled: false }] })).toEqual([]);
    expect(found(blocked(), { entries: null })).toEqual([]);
  });

  test('several signatures of one text are excluded each, if each match has its own score', () => {
    const both = blocked(() => ({ verdict: verdictOf([941100, 'ARGS:comment'], [942100, 'ARGS:comment']) }));
    const all = found(both);
    expect(all.map(({ subject }) => subject)).toEqual(['waf/7:941100', 'waf/7:942100']);
    for (const { evidence } of all)
      expect(evidence).toMatchObject({ places: [{ requests: 24, let_through: 24, attacks: 0 }] });
  });

  test('many paths below one are one wildcard, and all paths of a site are none', () => {
    const [one] = found(blocked((index) => ({ path: `/posts/${index}/edit` })));
    expect(one!.change!.rules).toMatchObject([{ exclusions: [{ path: '/posts/*/edit' }] }]);
    expect(found(blocked((index) => ({ path: `/p${index}/edit` })))).toEqual([]);
  });

  test('what the rule excludes already is not counted', () => {
    const exclusions = [{ id: 942100, target: 'ARGS:comment', path: '/posts/new' }];
    expect(found(blocked(), { rules: [{ ...RULE, exclusions }] })).toEqual([]);
    expect(found(blocked(), { rules: [{ ...RULE, rule_excludes: ['942100'] }] })).toEqual([]);
  });

  test('a variable that no exclusion can name gets no change', () => {
    const [one] = found(blocked(() => ({ verdict: older([942100], ['TX:score']) })));
    expect(one).toMatchObject({ kind: 'waf_false_positive', change: null });
  });
});

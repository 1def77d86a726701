/** Hits of rules: sums over steps equal those of the counted requests one by one. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ACTION_MODES, RULE_TYPES } from '../../../../src/base/vocabulary/vocabulary.ts';
import {
  MAX_ABOUT_CHARACTERS,
  MAX_REMOVED_RULES,
  MAX_RULE_CHANGES,
} from '../../../../src/control/traffic/limits.ts';
import {
  inEvaluationOrder,
  removedRules,
  ruleAbout,
  showRuleHits,
  sumHits,
  UNKNOWN_EFFECT,
} from '../../../../src/control/traffic/show-hits.ts';
import {
  addChange,
  addHits,
  createTrafficCounts,
  type TrafficCounts,
} from '../../../../src/engine/counts/counts.ts';
import { EFFECTS } from '../../../../src/engine/evaluator/decision.ts';

const HOUR = 3_600_000;

/** One match of a rule, as a node counts it. */
const match = fc.record({
  type: fc.constantFrom(...RULE_TYPES),
  id: fc.integer({ min: 1, max: 4 }),
  mode: fc.constantFrom(...ACTION_MODES),
  effect: fc.constantFrom(...EFFECTS, null),
  at: fc.integer({ min: 1, max: 10 * HOUR }),
});

/** A stored rule. */
function row(type: (typeof RULE_TYPES)[number], id: number, priority = 100) {
  const body = JSON.stringify({ enabled: true, action_mode: 'enforce', path_includes: ['/a'] });
  return { type, id, priority, body };
}

describe('hits', () => {
  test('of every rule are those of its matches, by mode, effect, step and time', () => {
    fc.assert(
      fc.property(fc.array(match, { maxLength: 60 }), (matches) => {
        const steps = new Map<number, TrafficCounts>();
        for (const { at, ...one } of matches) {
          const start = Math.floor(at / HOUR) * HOUR;
          const counts = steps.get(start) ?? createTrafficCounts();
          steps.set(start, counts);
          addHits(counts, { ...one, hits: 1, lastAt: at });
        }
        const sums = sumHits(steps);
        for (const type of RULE_TYPES) {
          const own = matches.filter((one) => one.type === type && one.id === 2);
          const shown = showRuleHits(row(type, 2), sums, { series: true });
          expect(shown.hits).toBe(own.length);
          const last = Math.max(...own.map(({ at }) => at));
          expect(shown.last_at).toBe(own.length === 0 ? null : new Date(last).toISOString());
          for (const mode of ACTION_MODES) {
            for (const effect of [...EFFECTS, null]) {
              const naive = own.filter((one) => one.mode === mode && one.effect === effect).length;
              expect(shown.by_effect[mode][effect ?? UNKNOWN_EFFECT] ?? 0).toBe(naive);
            }
          }
          for (const { at, hits } of shown.series ?? []) {
            const start = Date.parse(at);
            expect(hits).toBe(own.filter((one) => Math.floor(one.at / HOUR) * HOUR === start).length);
          }
          const starts = (shown.series ?? []).map(({ at }) => at);
          expect(starts).toEqual([...new Set(starts)].sort());
          expect((shown.series ?? []).reduce((sum, { hits }) => sum + hits, 0)).toBe(own.length);
        }
        const removed = removedRules(sums, [row('drop', 2)]);
        const names = new Set(matches.map(({ type, id }) => `${type}/${id}`));
        names.delete('drop/2');
        expect(new Set(removed.map(({ type, id }) => `${type}/${id}`))).toEqual(names);
      }),
    );
  });

  test('of a rule without any are zeros, without a time, and a series only where one is requested', () => {
    expect(showRuleHits(row('waf', 9), sumHits(new Map()), { series: false })).toEqual({
      type: 'waf',
      id: 9,
      about: '/a',
      enabled: true,
      action_mode: 'enforce',
      priority: 100,
      hits: 0,
      by_effect: { enforce: {}, dry_run: {} },
      last_at: null,
      would_change: 0,
      changes: [],
    });
  });

  test('of changes list the most requests first, within a bound, and their sum covers all', () => {
    const counts = createTrafficCounts();
    for (let index = 0; index < 30; index++) {
      const instead = index % 2 === 0 ? '' : `redirect/${index}`;
      const change = { from: 'forward', to: `block ${400 + index}`, instead, requests: index + 1 };
      addChange(counts, { type: 'drop', id: 1, ...change });
    }
    const sums = sumHits(new Map([0, HOUR].map((start) => [start, counts])));
    const { would_change, changes } = showRuleHits(row('drop', 1), sums, { series: false });
    expect(would_change).toBe(2 * ((30 * 31) / 2));
    expect(changes).toHaveLength(MAX_RULE_CHANGES);
    expect(changes[0]).toEqual({ from: 'forward', to: 'block 429', instead: 'redirect/29', requests: 60 });
    expect(changes[1]?.instead).toBe(null);
  });

  test('of removed rules are bounded, the most hits first', () => {
    const counts = createTrafficCounts();
    for (let id = 1; id <= MAX_REMOVED_RULES + 5; id++) {
      addHits(counts, { type: 'drop', id, mode: 'enforce', effect: 'block', hits: id, lastAt: 1 });
    }
    const removed = removedRules(sumHits(new Map([[0, counts]])), []);
    expect(removed).toHaveLength(MAX_REMOVED_RULES);
    expect(removed[0]?.hits).toBe(MAX_REMOVED_RULES + 5);
  });
});

test('rules are in the order of phases, then of priority, then of id', () => {
  const rows = [
    row('waf', 1, 5),
    row('drop', 9, 100),
    row('origin_pool', 2, 0),
    row('drop', 8, 100),
    row('drop', 10, 10),
  ];
  expect(inEvaluationOrder(rows).map(({ type, id }) => `${type}/${id}`)).toEqual([
    'drop/10',
    'drop/8',
    'drop/9',
    'waf/1',
    'origin_pool/2',
  ]);
});

// The short text by which people recognise a rule.

describe('the text of a rule', () => {
  test.each([
    [{ path_includes: ['/*'] }, ''],
    [{ path_includes: ['/admin/*', '/setup'] }, '/admin/* +1'],
    [{ path_includes: ['/admin/*'], ips: ['192.0.2.1'] }, '/admin/* · 1 address'],
    [{ ips: ['192.0.2.1', '192.0.2.2'], ip_match_type: 'exclude' }, 'all but 2 addresses'],
    [{ countries: ['DE', 'NO'], country_match_type: 'exclude' }, 'all but DE +1'],
    [{ countries: ['KP'], country_match_type: 'include' }, 'KP'],
    [{ bot_kinds: ['gptbot', 'ccbot'] }, 'gptbot +1'],
    [{ origins: [{}, {}] }, '2 origins'],
    [{ codes: [502, 503] }, '502 +1'],
    [{ path_includes: 7 }, ''],
  ])('%j is shown as "%s"', (body, text) => {
    expect(ruleAbout(body)).toBe(text);
  });

  test('is cut at its bound, by characters', () => {
    const text = ruleAbout({ path_includes: ['/💡'.repeat(100)] });
    expect([...text]).toHaveLength(MAX_ABOUT_CHARACTERS);
    expect(text.endsWith('💡…') || text.endsWith('/…')).toBe(true);
  });
});

/** A regex that many rules share runs once over each of a request's texts. */
import { expect, test } from 'vitest';
import { compile } from '../../../../src/engine/compiler/index.ts';
import { createLoaded, patternMatches } from '../../../../src/engine/evaluator/loaded.ts';
import { PATTERN, PATTERN_KIND } from '../../../../src/engine/plan/layout.ts';
import { rule, ruleSet } from '../../../support/sample-rules.ts';

test('regex results stay right while a host, a path and its form without parameters alternate', () => {
  const fields = { path_match_type: 'regex', path_includes: ['[a-m]+$'] } as const;
  const { plan } = compile(ruleSet({ rules: [rule('drop', 1, fields)] }));
  const loaded = createLoaded(plan, 0);
  const number = plan.patterns.findIndex(
    (word, at) => at % PATTERN.size === PATTERN.kind && word === PATTERN_KIND.dfa,
  );
  const texts = ['example.com', '/admin;x', '/admin', '/adz'];
  const roundsOf = (): readonly number[] => loaded.recent.map(({ round }) => round).sort();
  const judge = (text: string): boolean => patternMatches(loaded, number / PATTERN.size, text);
  const [host, path, twin, other] = texts as [string, string, string, string];
  expect([host, path, twin].map(judge)).toEqual([true, false, false]);
  const before = roundsOf();
  for (let times = 0; times < 5; times++) {
    expect([host, path, twin].map(judge)).toEqual([true, false, false]);
    expect([twin, host, path].map(judge)).toEqual([false, true, false]);
  }
  expect(roundsOf()).toEqual(before);
  expect(judge(other)).toBe(false);
  expect(roundsOf()).not.toEqual(before);
  expect([path, host, twin].map(judge)).toEqual([false, true, false]);
});

/** Lint finds with its index of filters exactly what a scan of every rule finds. */
import { expect, test } from 'vitest';
import type { Rule, RuleSet } from '../../../../src/rules/model/types.ts';
import { readZone } from '../../../../src/workbench/proofs/lint/filters.ts';
import {
  type FilterIndex,
  type Finding,
  indexHosts,
  indexPaths,
  type LintContext,
} from '../../../../src/workbench/proofs/lint/finding.ts';
import { lintHosts } from '../../../../src/workbench/proofs/lint/hosts.ts';
import { lintOriginDifferences, lintPaths } from '../../../../src/workbench/proofs/lint/paths.ts';
import { generateCase } from '../../../support/generate.ts';

const SETS = 150;
const PATHS = ['/a', '/a/*', '/a/b', '/a/b/*', '*/b', '*/b/*', '/a*', '*', '/*', '*.css', '/a/*/c', '*a*'];

/** A small generator of its own: numbers that repeat for a seed. */
function numbers(seed: number): (most: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

/** The generated rules, and copies of them whose paths and hosts collide. */
function collide({ rules, records, domain }: RuleSet, seed: number): readonly Rule[] {
  const pick = numbers(seed);
  const some = <T>(from: readonly T[]): readonly T[] =>
    Array.from({ length: 1 + pick(2) }, () => from[pick(from.length)]!);
  const hosts = [domain.name, `*.${domain.name}`, `*.a.${domain.name}`, `a.${domain.name}`];
  const copies = rules.flatMap((rule) =>
    [1, 2, 3].map((copy): Rule => {
      const paths = 'path_includes' in rule && rule.path_match_type === 'wildcard' && pick(4) > 0;
      const hosted = rule.host_match_type === 'wildcard' || rule.host_match_type === '';
      return {
        ...rule,
        id: rule.id + 1_000 * copy,
        ...(paths ? { path_includes: some(PATHS), path_excludes: pick(3) === 0 ? some(PATHS) : [] } : {}),
        ...(hosted && pick(3) === 0 ? { host_match_type: 'wildcard', host_includes: some(hosts) } : {}),
        ...(pick(4) === 0 ? { record_ids: some(records.map(({ id }) => id)) } : {}),
      } as Rule;
    }),
  );
  return [...rules, ...copies];
}

function scan(enabled: readonly Rule[]): FilterIndex {
  return { candidates: (type) => enabled.filter((rule) => rule.type === type) };
}

test('families return the same findings with the index as with a scan of all rules', () => {
  const seen = new Map<string, number>();
  for (let seed = 1; seed <= SETS; seed++) {
    const { ruleSet } = generateCase(seed, 1);
    const rules = collide(ruleSet, seed);
    const enabled = rules.filter(({ enabled }) => enabled);
    const context = {
      ruleSet: { ...ruleSet, rules },
      zone: readZone({ ...ruleSet, rules }),
      enabled,
      written: () => false,
      signatures: null,
      sources: {},
      registry: null,
      now: 0,
    };
    const find = (indexes: Pick<LintContext, 'paths' | 'hosts'>): readonly Finding[] =>
      [lintHosts, lintPaths, lintOriginDifferences].flatMap((family) => family({ ...context, ...indexes }));
    const found = find({ paths: indexPaths(enabled), hosts: indexHosts(enabled) });
    expect(found, `seed ${seed}`).toEqual(find({ paths: scan(enabled), hosts: scan(enabled) }));
    for (const { code } of found) seen.set(code, (seen.get(code) ?? 0) + 1);
  }
  // Those that depend on other rules came up, so the comparison means something.
  for (const code of ['bare_path_missed', 'bare_host_missed', 'exact_path_guard'])
    expect(seen.get(code), code).toBeGreaterThan(20);
});

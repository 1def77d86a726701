/** The index of lint's filters answers what a scan of every rule answers, and asks few of them. */
import { expect, test } from 'vitest';
import { parseRule } from '../../../../src/rules/model/parse.ts';
import type { Rule, RuleSet } from '../../../../src/rules/model/types.ts';
import { admitsHost, admitsPath, hasPaths } from '../../../../src/workbench/proofs/lint/filters.ts';
import { type FilterIndex, indexHosts, indexPaths } from '../../../../src/workbench/proofs/lint/finding.ts';
import { lintRuleSet } from '../../../../src/workbench/proofs/lint.ts';
import { generateCase } from '../../../support/generate.ts';

const PATHS = ['/', '/api', '/api/', '/api/x', '/login/\uffff', '/a/b.css', '/shop/cart', '/admin'];

/** Every value that some rule admits is admitted by the same filters among the candidates. */
function missed(rules: readonly Rule[], index: FilterIndex, value: string, host: boolean): readonly number[] {
  const admits = (rule: Rule): boolean =>
    host ? admitsHost(rule, value) : hasPaths(rule) && admitsPath(rule, value);
  const filter = ({ id: _, ...rest }: Rule): string => JSON.stringify(pick(rest as Rule));
  return rules
    .filter(admits)
    .filter((rule) => !index.candidates(rule.type, value).some((one) => filter(one) === filter(rule)))
    .map(({ id }) => id);
}

function pick(rule: Rule): unknown {
  const paths = hasPaths(rule) ? [rule.path_match_type, rule.path_includes, rule.path_excludes] : [];
  return [rule.host_match_type, rule.host_pattern, rule.host_includes, rule.host_excludes, paths];
}

test('the candidates of a host or path include every rule that admits it', () => {
  let admitted = 0;
  for (let seed = 0; seed < 60; seed++) {
    const { ruleSet, requests } = generateCase(seed, 10);
    const { rules } = ruleSet;
    const [paths, hosts] = [indexPaths(rules), indexHosts(rules)];
    const asked = [...PATHS, ...requests.map(({ target }) => String(target ?? '/').split('?')[0]!)];
    for (const path of asked) {
      expect({ seed, path, missed: missed(rules, paths, path, false) }).toEqual({ seed, path, missed: [] });
      admitted += paths.candidates('drop', path).length;
    }
    for (const { host } of requests) {
      const name = String(host).toLowerCase();
      expect({ seed, name, missed: missed(rules, hosts, name, true) }).toEqual({ seed, name, missed: [] });
    }
  }
  expect(admitted).toBeGreaterThan(100);
});

function drops(count: number): readonly Rule[] {
  return Array.from({ length: count }, (_, index) => {
    const fields = { path_includes: [`/p${index}`, `/q${index}/*`, `*/r${index}`], ips: ['192.0.2.0/24'] };
    const parsed = parseRule('drop', { ...fields, priority: 100 });
    if (!parsed.ok) throw new Error('the rule of this test is wrong');
    return { id: index + 1, type: 'drop', ...parsed.fields } as Rule;
  });
}

function comparisons(count: number): number {
  const index = indexPaths(drops(count));
  let compared = 0;
  for (let at = 0; at < count; at++) {
    for (const path of [`/q${at}`, `/p${at}/\uffff`, `/r${at}`])
      compared += index.candidates('drop', path).length;
  }
  return compared;
}

test('four times the rules need at most five times the comparisons', () => {
  const [few, many] = [comparisons(500), comparisons(2_000)];
  expect(few).toBeGreaterThan(0);
  expect(many).toBeLessThanOrEqual(few * 5);
});

test('a rule that covers the bare path of another suppresses the near-miss finding', () => {
  const { ruleSet } = generateCase(1, 1);
  const [one, two] = drops(2);
  const covered = { ...two!, path_includes: ['/q0', '/q0/*', '/p0/*'] } as Rule;
  const said = (rules: readonly Rule[]): readonly string[] =>
    lintRuleSet({ ...ruleSet, rules } as RuleSet)
      .filter(({ path, code }) => path[1] === 0 && /bare_path_missed|exact_path_guard/.test(code))
      .map(({ code, path }) => `${code} ${path.slice(2).join('.')}`);
  expect(said([one!])).toContain('bare_path_missed path_includes.1');
  expect(said([one!])).toContain('exact_path_guard path_includes.0');
  expect(said([one!, covered])).toEqual([]);
});

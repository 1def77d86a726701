import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRule } from '../../../../../src/rules/model/parse.ts';
import type { Rule, RuleSet } from '../../../../../src/rules/model/types.ts';
import {
  admitsHost,
  admitsPath,
  globCovers,
  globMatches,
  globsOverlap,
  hasPaths,
} from '../../../../../src/workbench/proofs/lint/filters.ts';
import {
  type FilterIndex,
  indexHosts,
  indexPaths,
} from '../../../../../src/workbench/proofs/lint/finding.ts';
import { lintRuleSet } from '../../../../../src/workbench/proofs/lint.ts';
import { generateCase } from '../../../../support/generate.ts';

/** Patterns over two letters, so that they collide. */
const patterns = fc.stringMatching(/^[ab*]{0,5}$/);

const split = (pattern: string): readonly string[] => pattern.split('*');

/** Every text of at most `length` letters. */
function texts(length: number): readonly string[] {
  if (length === 0) return [''];
  const shorter = texts(length - 1);
  return [...new Set([...shorter, ...shorter.flatMap((text) => [`${text}a`, `${text}b`])])];
}

const TEXTS = texts(8);

/** One letter at a time, the plainest reading of a wildcard. */
function naive(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  if (pattern[0] === '*')
    return naive(pattern.slice(1), text) || (text !== '' && naive(pattern, text.slice(1)));
  return text[0] === pattern[0] && naive(pattern.slice(1), text.slice(1));
}

test('globMatches agrees with a naive matcher', () => {
  fc.assert(
    fc.property(patterns, fc.constantFrom(...TEXTS), (pattern, text) => {
      expect(globMatches(split(pattern), text)).toBe(naive(pattern, text));
    }),
    { numRuns: 500 },
  );
});

test('globsOverlap is true when some text matches both patterns', () => {
  fc.assert(
    fc.property(patterns, patterns, (left, right) => {
      const meet = TEXTS.some((text) => naive(left, text) && naive(right, text));
      // Patterns of five letters share a text of at most eight letters when they share any (a star adds none).
      expect(globsOverlap(split(left), split(right))).toBe(meet);
    }),
    { numRuns: 300 },
  );
});

test('globCovers is true only when the wide pattern matches every text of the narrow one', () => {
  fc.assert(
    fc.property(patterns, patterns, (wide, narrow) => {
      if (!globCovers(split(wide), split(narrow))) return;
      for (const text of TEXTS) if (naive(narrow, text)) expect(naive(wide, text)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test.each([
  ['/api/*', '/api/v1/*', true],
  ['/*', '*', false],
  ['*', '/*', true],
  ['*.css', '/a*.css', true],
  ['/a*b*c', '/axbyc', true],
  ['/a*b', '/a*', false],
  ['*a*', '*aa*', true],
  ['/api/*', '/api', false],
])('`%s` covers `%s`: %s', (wide, narrow, expected) => {
  expect(globCovers(split(wide), split(narrow))).toBe(expected);
});

// The index of lint's filters answers what a scan of every rule answers, and asks few of them.

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

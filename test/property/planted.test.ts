/**
 * Planted redundancy: rules that a union of others shadows, divided at random over hosts, paths and addresses, and entries that
 * the other entries of their list cover together. Lint finds every one, and says nothing of the pieces.
 * `EDGEPLAN_PLANTED_SETS` sets how many rule sets are tried.
 */
import { expect, test } from 'vitest';
import { formatDiagnostic } from '../../src/base/diagnostics/diagnostic.ts';
import { parseRuleSet } from '../../src/rules/model/parse.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import { lintRuleSet } from '../../src/workbench/proofs/lint.ts';
import { type Random, seeded } from '../support/generate-random.ts';
import { sizeOf } from '../support/size.ts';

const SETS = sizeOf('EDGEPLAN_PLANTED_SETS', { usual: 60, full: 600 });
const HOSTS = ['example.com', 'a.example.com', 'b.example.com'];

/** A set of requests: hosts, path patterns under one regex, and a prefix of IPv4. */
interface Piece {
  readonly hosts: readonly string[];
  /** `[low, high]` of a digit below `/p`. */
  readonly digits: readonly [number, number];
  readonly address: number;
  readonly length: number;
}

const WHOLE: Piece = { hosts: HOSTS, digits: [0, 9], address: 0x0a000000, length: 8 };

/** The piece in two, on an axis that still can be divided. */
function halves(piece: Piece, random: Random): readonly Piece[] {
  const { hosts, digits, address, length } = piece;
  const [low, high] = digits;
  switch (random.int(3)) {
    case 0: {
      if (hosts.length < 2) return [piece];
      const at = 1 + random.int(hosts.length - 1);
      return [
        { ...piece, hosts: hosts.slice(0, at) },
        { ...piece, hosts: hosts.slice(at) },
      ];
    }
    case 1: {
      if (low === high) return [piece];
      const at = low + random.int(high - low);
      return [
        { ...piece, digits: [low, at] },
        { ...piece, digits: [at + 1, high] },
      ];
    }
    default: {
      const next = length + 1;
      const upper = (address | (1 << (32 - next))) >>> 0;
      return [
        { ...piece, length: next },
        { ...piece, address: upper, length: next },
      ];
    }
  }
}

function fieldsOf({ hosts, digits: [low, high], address, length }: Piece): object {
  const quad = [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');
  return {
    type: 'drop',
    host_match_type: 'exact',
    host_includes: hosts,
    path_match_type: 'regex',
    path_includes: [`^/p[${low}-${high}](/|$)`],
    ips: [`${quad}/${length}`],
  };
}

function ruleSetOf(rules: readonly object[]): RuleSet {
  const records = ['@', 'a', 'b'].map((name, index) => ({
    id: index + 1,
    name,
    type: 'A',
    destination: '198.51.100.1',
    proxied: true,
  }));
  const numbered = rules.map((rule, index) => ({ id: index + 1, priority: index, ...rule }));
  const parsed = parseRuleSet({ domain: { name: 'example.com' }, records, rules: numbered });
  if (!parsed.ok) throw new Error(parsed.diagnostics.map(formatDiagnostic).join('\n'));
  return parsed.ruleSet;
}

function shadowed(ruleSet: RuleSet): readonly number[] {
  return lintRuleSet(ruleSet)
    .filter(({ code }) => code === 'shadowed_rule')
    .map(({ path }) => Number(path[1]));
}

test(`every union that shadows a rule is found, and none that lacks a piece, on ${SETS} rule sets`, {
  timeout: 3_600_000,
}, () => {
  for (let seed = 1; seed <= SETS; seed++) {
    const random = seeded(seed);
    let pieces: readonly Piece[] = [WHOLE];
    for (let round = 0; round < 3; round++) pieces = pieces.flatMap((piece) => halves(piece, random));
    const rules = random.shuffled([...pieces]).map(fieldsOf);
    const whole = fieldsOf(WHOLE);
    expect({ seed, found: shadowed(ruleSetOf([...rules, whole])) }).toEqual({ seed, found: [rules.length] });
    const lacking = rules.toSpliced(random.int(rules.length), 1);
    expect({ seed, found: shadowed(ruleSetOf([...lacking, whole])) }).toEqual({ seed, found: [] });
  }
});

/** What lint says of entries: `<field> <place>`. */
function needless(fields: object): readonly string[] {
  return lintRuleSet(ruleSetOf([{ type: 'drop', ...fields }]))
    .filter(({ code }) => code === 'needless_entry')
    .map(({ path }) => path.slice(2).join(' '));
}

test('an entry that others cover together is found, and none of them is', () => {
  const regex = { path_match_type: 'regex' };
  expect(needless({ ...regex, path_includes: ['^/p[0-4]$', '^/p[5-9]$', '^/p[2-7]$'] })).toEqual([
    'path_includes 2',
  ]);
  expect(needless({ ...regex, path_includes: ['^/p[0-4]$', '^/p[6-9]$', '^/p[2-7]$'] })).toEqual([]);
  expect(needless({ ips: ['10.0.0.0/25', '10.0.0.128/25', '10.0.0.64-10.0.0.191'] })).toEqual(['ips 2']);
  expect(needless({ ips: ['10.0.0.0/25', '10.0.0.129-10.0.0.255', '10.0.0.64-10.0.0.191'] })).toEqual([]);
  const hosts = { host_match_type: 'regex', path_includes: ['/x'] };
  expect(
    needless({ ...hosts, host_includes: ['^[ab]\\.example\\.com$', '^b\\.', '^example\\.com$'] }),
  ).toEqual(['host_includes 1']);
});

test('an exclude that takes nothing from the rule is found', () => {
  expect(needless({ path_includes: ['/a/*'], path_excludes: ['/b/*', '/a/b'] })).toEqual(['path_excludes 0']);
  expect(
    needless({ host_includes: ['a.example.com'], host_excludes: ['b.example.com'], path_includes: ['/x'] }),
  ).toEqual(['host_excludes 0']);
});

test('rules of equal priority and another effect are reported with a request that both match', () => {
  const redirect = (from: string, target: string, priority: number): object => ({
    type: 'redirect',
    path_includes: [from],
    target,
    priority,
  });
  const found = (second: object): readonly string[] =>
    lintRuleSet(ruleSetOf([redirect('/a*', '/x', 10), second]))
      .filter(({ code }) => code === 'decided_by_id')
      .map(({ path, message }) => `${path.join(' ')}: ${message}`);
  expect(found(redirect('/*b', '/y', 10))).toEqual([
    expect.stringMatching(
      /^rules 1 priority: is equal to that of `redirect\/1`, .* on `https:\/\/[a-z.]+\/a.*b --ip 203\.0\.113\.7`$/,
    ),
  ]);
  expect(found(redirect('/*b', '/x', 10))).toEqual([]);
  expect(found(redirect('/*b', '/y', 20))).toEqual([]);
  expect(found(redirect('/b*', '/y', 10))).toEqual([]);
});

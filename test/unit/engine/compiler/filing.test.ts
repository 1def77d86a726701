/** Which key a rule is filed under shows in who its candidates are: adversarial sets must stay cheap. */
import { describe, expect, test } from 'vitest';
import { compile, seal } from '../../../../src/engine/compiler/index.ts';
import { loadPlan } from '../../../../src/engine/evaluator/index.ts';
import type { EdgeRequest } from '../../../../src/engine/evaluator/request.ts';
import { META, NONE } from '../../../../src/engine/plan/layout.ts';
import type { Rule } from '../../../../src/rules/model/types.ts';
import { candidateReader } from '../../../support/candidates.ts';
import { loadLinear } from '../../../support/linear.ts';
import { dnsRecord, request, rule, ruleSet } from '../../../support/sample-rules.ts';

const COUNT = 1_000;

function rulesOf(make: (index: number) => Rule): readonly Rule[] {
  return Array.from({ length: COUNT }, (_, index) => make(index));
}

function address(index: number): string {
  return `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
}

const COUNTRIES = Array.from({ length: 200 }, (_, at) =>
  String.fromCharCode(65 + (at % 26), 65 + Math.floor(at / 26)),
);

interface Adversary {
  readonly name: string;
  readonly rules: readonly Rule[];
  /** A request that matches the rule with the id 501. */
  readonly hit: EdgeRequest;
  /** Candidates a request may meet at most. */
  readonly most: number;
}

/** Sets made to defeat an index that files by a fixed kind of key (design, "Numbers to reach"). */
const ADVERSARIES: readonly Adversary[] = [
  {
    name: 'unique addresses behind one path',
    rules: rulesOf((at) => rule('drop', at + 1, { path_includes: ['/login'], ips: [address(at)] })),
    hit: request({ target: '/login', ip: address(500) }),
    most: 1,
  },
  {
    name: 'unique paths for one address',
    rules: rulesOf((at) => rule('drop', at + 1, { path_includes: [`/p${at}`], ips: ['192.0.2.0/24'] })),
    hit: request({ target: '/p500', ip: '192.0.2.9' }),
    most: 1,
  },
  {
    name: 'one prefix, unique suffixes',
    rules: rulesOf((at) => rule('drop', at + 1, { path_includes: [`/api/*/v${at}x`] })),
    hit: request({ target: '/api/users/v500x' }),
    most: 1,
  },
  {
    name: 'one suffix, unique prefixes',
    rules: rulesOf((at) => rule('drop', at + 1, { path_includes: [`/t${at}x/*.php`] })),
    hit: request({ target: '/t500x/index.php' }),
    most: 1,
  },
  {
    name: 'unique words anywhere',
    rules: rulesOf((at) => rule('drop', at + 1, { path_includes: [`*w${at}w*`] })),
    hit: request({ target: '/a/w500w/b' }),
    most: 1,
  },
  {
    name: 'one path, few rules a country',
    rules: rulesOf((at) =>
      rule('drop', at + 1, { path_includes: ['/shop/*'], countries: [COUNTRIES[at % 200]!] }),
    ),
    hit: request({ target: '/shop/x', country: COUNTRIES[100] }),
    most: 5,
  },
  {
    name: 'one word in regexes with unique others',
    rules: rulesOf((at) =>
      rule('drop', at + 1, { path_match_type: 'regex', path_includes: [`common.*x${at}y[0-9]+`] }),
    ),
    hit: request({ target: '/common/x500y7' }),
    most: 1,
  },
  {
    name: 'unique regexes behind an alternation',
    rules: rulesOf((at) =>
      rule('drop', at + 1, { path_match_type: 'regex', path_includes: [`^/(?:q${at}a|r${at}b)$`] }),
    ),
    hit: request({ target: '/r500b' }),
    most: 1,
  },
  {
    name: 'unique hosts, every path',
    rules: rulesOf((at) =>
      rule('drop', at + 1, { host_match_type: 'exact', host_includes: [`h${at}.example.com`] }),
    ),
    hit: request({ host: 'h500.example.com' }),
    most: 1,
  },
  {
    name: 'wildcard hosts below unique names',
    rules: rulesOf((at) =>
      rule('drop', at + 1, { host_match_type: 'wildcard', host_includes: [`*.h${at}.example.com`] }),
    ),
    hit: request({ host: 'x.h500.example.com' }),
    most: 1,
  },
  {
    name: 'unique fingerprints',
    rules: rulesOf((at) => rule('fingerprint', at + 1, { match_ja4: [`t13d${at}_x`], action: 'drop' })),
    hit: request({ ja4: 't13d500_x' }),
    most: 1,
  },
  {
    name: 'unique IPv6 prefixes',
    rules: rulesOf((at) => rule('drop', at + 1, { ips: [`2001:db8:${at.toString(16)}::/48`] })),
    hit: request({ ip: '2001:db8:1f4::7' }),
    most: 1,
  },
  {
    name: 'records of their own',
    rules: rulesOf((at) => rule('drop', at + 1, { record_ids: [at + 10] })),
    hit: request({ host: 'r500.example.com' }),
    most: 1,
  },
];

describe('a request meets the rules whose rarest key it carries', () => {
  test.each(ADVERSARIES)('$name', ({ name, rules, hit, most }) => {
    const records = [dnsRecord(1, '@'), dnsRecord(2, '*')];
    const own = name === 'records of their own' ? rules.map((_, at) => dnsRecord(at + 10, `r${at}`)) : [];
    const { plan } = compile(ruleSet({ rules, records: [...records, ...own] }));
    const gathered = candidateReader(plan)(hit)!;
    expect(gathered.matching).toContain(500);
    expect(gathered.slots.length).toBeLessThanOrEqual(most);
    expect(plan.meta[META.always]).toBe(NONE);
    const decision = loadPlan(seal(plan)).evaluate(hit);
    expect(decision.action).toBe('block');
    expect(decision).toEqual(loadLinear(plan).evaluate(hit));
  });

  test('a rule that no index narrows is a candidate of every request', () => {
    const rules = [
      rule('drop', 1, { countries: ['DE'], country_match_type: 'exclude' }),
      rule('drop', 2, { path_includes: ['*'], path_excludes: ['/a'] }),
      rule('drop', 3, { path_match_type: 'regex', path_includes: ['[0-9]'] }),
      rule('drop', 4, { host_match_type: 'wildcard', host_excludes: ['x.example.com'] }),
      rule('fingerprint', 5, { match_ja4: ['*'] }),
    ];
    const read = candidateReader(compile(ruleSet({ rules })).plan);
    expect(read(request({ target: '/a', country: 'DE' }))?.slots).toEqual([0, 1, 2, 3, 4]);
  });

  test('disabled rules and rules whose records are not proxied are filed nowhere', () => {
    const rules = [
      rule('drop', 1, { enabled: false }),
      rule('drop', 2, { record_ids: [9] }),
      rule('drop', 3, { path_includes: ['/a'] }),
    ];
    const records = [dnsRecord(1, '@'), dnsRecord(9, 'mail', { proxied: false })];
    const { plan } = compile(ruleSet({ rules, records }));
    expect([...plan.postingSlots]).toEqual([2]);
  });

  test('every list of slots is ascending, whatever key filed them', () => {
    for (const { rules } of ADVERSARIES) {
      const { postings, postingSlots } = compile(ruleSet({ rules: [...rules].reverse() })).plan;
      for (let row = 0; row < postings.length; row += 2) {
        const slots = [...postingSlots.subarray(postings[row]!, postings[row]! + postings[row + 1]!)];
        expect(slots).toEqual([...new Set(slots)].sort((a, b) => a - b));
      }
    }
  });
});

describe('size and time stay in proportion', () => {
  /** Processor time, so that a busy machine fails nothing; far below what a square of the number would take. */
  const SECONDS = 5;

  function timed(rules: readonly Rule[]): { readonly bytes: Uint8Array; readonly seconds: number } {
    const started = process.cpuUsage();
    const bytes = seal(compile(ruleSet({ rules })).plan);
    return { bytes, seconds: process.cpuUsage(started).user / 1e6 };
  }

  /** An address of 2001:db8::/80 by its last 48 bits. */
  function inside(bits: bigint): string {
    const groups = [bits >> 32n, (bits >> 16n) & 0xffffn, bits & 0xffffn];
    return `2001:db8::${groups.map((group) => group.toString(16)).join(':')}`;
  }

  test('10,000 intervals inside one another, the innermost first', () => {
    const rules = Array.from({ length: 10_000 }, (_, at) => {
      const edge = BigInt(at) << 20n;
      const ips = [`${inside(edge)}-${inside((1n << 40n) - 1n - edge)}`];
      return rule('drop', at + 1, { ips, priority: 10_000 - at });
    });
    const { bytes, seconds } = timed(rules);
    expect(seconds).toBeLessThan(SECONDS);
    expect(bytes.length / rules.length).toBeLessThan(600);
    const evaluator = loadPlan(bytes);
    for (const at of [0, 1, 2, 1_249, 1_250, 1_251, 5_000, 9_998, 9_999]) {
      const edge = BigInt(at) << 20n;
      for (const bits of [edge, edge + 5n, (1n << 40n) - 1n - edge]) {
        expect(evaluator.evaluate(request({ ip: inside(bits) })).rule).toEqual({ type: 'drop', id: at + 1 });
      }
    }
    expect(evaluator.evaluate(request({ ip: inside(1n << 39n) })).rule).toEqual({ type: 'drop', id: 10_000 });
    expect(evaluator.evaluate(request({ ip: inside(1n << 40n) })).action).toBe('forward');
  });

  test('10,000 IPv4 prefixes, each of the 33 lengths', () => {
    const rules = Array.from({ length: 10_000 }, (_, at) => {
      const length = at % 33;
      const mask = length === 0 ? 0 : (0xffffffff << (32 - length)) >>> 0;
      const base = (Math.imul(at, 0x9e3779b1) & mask) >>> 0;
      return rule('drop', at + 1, {
        ips: [`${base >>> 24}.${(base >> 16) & 255}.${(base >> 8) & 255}.${base & 255}/${length}`],
      });
    });
    const { bytes, seconds } = timed(rules);
    expect(seconds).toBeLessThan(SECONDS);
    expect(bytes.length / rules.length).toBeLessThan(600);
  });

  test('10,000 path prefixes inside one another', () => {
    const rules = Array.from({ length: 10_000 }, (_, at) =>
      rule('drop', at + 1, { path_includes: [`/${'a/'.repeat(1 + (at % 1_000))}*`] }),
    );
    const { bytes, seconds } = timed(rules);
    expect(seconds).toBeLessThan(SECONDS);
    expect(bytes.length / rules.length).toBeLessThan(600);
  });

  test('10,000 rules of one key', () => {
    const rules = Array.from({ length: 10_000 }, (_, at) =>
      rule('drop', at + 1, { path_includes: ['/same'], countries: ['DE'] }),
    );
    const { bytes, seconds } = timed(rules);
    expect(seconds).toBeLessThan(SECONDS);
    expect(bytes.length / rules.length).toBeLessThan(80);
  });

  test('an empty rule set is a small plan that forwards', () => {
    const bytes = seal(compile(ruleSet({})).plan);
    expect(bytes.length).toBeLessThan(2_000);
    expect(loadPlan(bytes).evaluate(request()).action).toBe('forward');
  });
});

/**
 * Rule sets of 10,000 rules made to defeat one kind of index each, with requests that match late or never. Every rule
 * set is one the model accepts.
 */
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import { type Random, seeded } from '../../test/support/generate-random.ts';
import { requestOf, type Wanted } from './requests.ts';
import { address, DOMAIN, OTHER_COUNTRIES, plainPath, RECORDS, slug, VISITOR_COUNTRIES } from './words.ts';
import { ruleSetOf, type WrittenRule } from './written.ts';

export interface Adversary {
  readonly name: string;
  /** `false`: worse than the sets a goal is set for; told because losses are. */
  readonly promised: boolean;
  readonly rule: (random: Random, at: number, count: number) => WrittenRule;
  readonly wanted: (random: Random, count: number) => Wanted;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** `*q*x*…*`: so many single letters in this order, nothing between them that an index could hold. */
function letterPattern(random: Random, letters: number): string {
  return `*${random.times(letters, () => LETTERS[random.int(26)]!).join('*')}*`;
}

function privateAddress(at: number): string {
  return `10.${(at >> 16) & 255}.${(at >> 8) & 255}.${at & 255}`;
}

/** One of the last hundredth of the rules, one time in five. */
function late(random: Random, count: number): number | null {
  return random.chance(0.2) ? count - 1 - random.int(Math.ceil(count / 100)) : null;
}

/** The last rules list the countries that visitors come from, the others do not. */
function countriesOf(random: Random, at: number, count: number): readonly string[] {
  return at < count * 0.95 ? random.some(OTHER_COUNTRIES, 6) : [random.pick(VISITOR_COUNTRIES)];
}

export const ADVERSARIES: readonly Adversary[] = [
  {
    name: 'unique IPs behind one path',
    promised: true,
    rule: (_random, at) => ({ type: 'drop', path_includes: ['/login/*'], ips: [privateAddress(at)] }),
    wanted: (random, count) => {
      const at = late(random, count);
      return { path: `/login/${slug(random)}`, ip: at === null ? address(random) : privateAddress(at) };
    },
  },
  {
    name: '/api/*/vI',
    promised: true,
    rule: (_random, at) => ({ type: 'drop', path_includes: [`/api/*/v${at}`] }),
    wanted: (random, count) => ({
      path: `/api/${slug(random)}/v${late(random, count) ?? `${random.int(9)}x`}`,
    }),
  },
  {
    name: '*wI*',
    promised: true,
    rule: (_random, at) => ({ type: 'drop', path_includes: [`*w${10_000 + at}*`] }),
    wanted: (random, count) => {
      const at = late(random, count);
      return { path: `${plainPath(random)}/w${at === null ? `0${random.int(10_000)}` : 10_000 + at}/w1` };
    },
  },
  {
    name: 'one path + countries',
    promised: true,
    rule: (random, at, count) => ({
      type: 'drop',
      path_includes: ['/shop/*'],
      countries: countriesOf(random, at, count),
    }),
    wanted: (random) => {
      const country = random.chance(0.3) ? null : random.pick([...VISITOR_COUNTRIES, 'AD', 'FI', 'GR']);
      return { path: `/shop/${slug(random)}`, country };
    },
  },
  {
    name: 'single letters, one entry',
    promised: true,
    rule: (random) => ({ type: 'drop', path_includes: [letterPattern(random, 7)] }),
    wanted: () => ({}),
  },
  {
    name: 'single letters, three entries',
    promised: true,
    rule: (random) => ({ type: 'drop', path_includes: random.times(3, () => letterPattern(random, 8)) }),
    wanted: () => ({}),
  },
  {
    name: 'countries excluded, one path',
    promised: false,
    rule: (random) => ({
      type: 'drop',
      path_includes: ['/shop/*'],
      country_match_type: 'exclude',
      countries: [...VISITOR_COUNTRIES, ...random.some(OTHER_COUNTRIES, 6)],
    }),
    wanted: (random) => ({ path: `/shop/${slug(random)}`, country: random.pick(VISITOR_COUNTRIES) }),
  },
  {
    name: 'single letters in every path',
    promised: false,
    rule: (random) => ({ type: 'drop', path_includes: [letterPattern(random, 12)] }),
    wanted: (random) => ({ path: `/${random.shuffled([...LETTERS]).join('')}` }),
  },
];

export function adversarial(
  adversary: Adversary,
  count: number,
  pool: number,
): { ruleSet: RuleSet; requests: readonly EdgeRequest[] } {
  const random = seeded(4_711);
  const rules = Array.from({ length: count }, (_, at) => adversary.rule(random, at, count));
  const requests = random.times(pool, () => requestOf(random, adversary.wanted(random, count)));
  return { ruleSet: ruleSetOf({ domain: DOMAIN, records: RECORDS, rules }), requests };
}

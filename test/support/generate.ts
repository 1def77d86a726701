/**
 * Cases for differential tests: a rule set, the requests it gets and the world it gets them in. All of a case follows
 * from its seed, so a failure is named by one number.
 */
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import type { DnsRecord, Domain, RuleSet } from '../../src/rules/model/types.ts';
import { withAnswer } from './generate-answers.ts';
import { type ConditionPlace, withConditions } from './generate-conditions.ts';
import { type Random, seeded } from './generate-random.ts';
import { generateRequests } from './generate-requests.ts';
import { generateRule } from './generate-rules.ts';
import { DOMAINS, START } from './generate-words.ts';
import { DOMAIN } from './sample-rules.ts';

export type { Random } from './generate-random.ts';
export { seeded } from './generate-random.ts';

function generateDomain(random: Random): Domain {
  const until = new Date(START + random.int(120_000)).toISOString();
  return {
    ...DOMAIN,
    name: random.pick(DOMAINS),
    status: random.chance(0.97)
      ? random.pick(['active', 'active', 'moved'])
      : random.pick(['pending', 'unverified', 'disabled', 'banned']),
    suspended: random.chance(0.01),
    developer_mode_until: random.chance(0.06) ? until : null,
  };
}

const RECORD_NAMES = ['@', 'www', 'api', '*', '*.b', 'b', 'a.b', 'x.a.b', 'münchen', 'WWW'];

function generateRecord(random: Random, id: number, domain: string): DnsRecord {
  const name = id <= 2 ? ['@', '*'][id - 1]! : random.pick(RECORD_NAMES);
  const absolute = name === '@' ? domain : `${name}.${domain}`;
  const type = id <= 2 ? 'A' : random.pick(['A', 'A', 'AAAA', 'CNAME', 'ALIAS', 'TXT', 'MX'] as const);
  return {
    id,
    name: random.pick([name, name, name, absolute, `${absolute}.`]),
    type,
    destination: `origin-${id}.test`,
    mx_priority: type === 'MX' ? 10 : null,
    proxied: !['TXT', 'MX'].includes(type) && !random.chance(id <= 2 ? 0.05 : 0.2),
    captcha: random.chance(0.06),
    scheme: random.pick(['Default', 'Default', 'Auto', 'Http', 'Https']),
    port: random.pick([null, null, null, 8080]),
    host_header: random.pick(['', '', 'own.test']),
    monitor: false,
    timeout: null,
    comment: '',
  };
}

/** What a case has beyond rules and requests that every caller can take. */
export interface CaseOptions {
  /** Conditions of rules; requests then have what they read. Absent: neither, and the same case as ever for a seed. */
  readonly conditions?: Omit<ConditionPlace, 'rules'>;
  /** Share of the drop rules and redirects that get statuses of their own and captures. Absent: the same case as ever. */
  readonly answers?: number;
}

/** A valid rule set of 1 to 60 rules, the small ones more often. */
export function generateRuleSet(random: Random, { conditions, answers }: CaseOptions = {}): RuleSet {
  const domain = generateDomain(random);
  const records = random.times(2 + random.int(7), (index) => generateRecord(random, index + 1, domain.name));
  const recordIds = records.map((record) => record.id);
  const count = 1 + random.int(random.pick([6, 15, 30, 60]));
  const ids = random.shuffled(random.times(count, (index) => index * 3 + 1));
  const plain = ids.map((id) => generateRule(random, { id, domain: domain.name, recordIds }));
  const rules = answers === undefined ? plain : plain.map((rule) => withAnswer(random, rule, answers));
  const narrowed =
    conditions === undefined
      ? rules
      : rules.map((rule) => withConditions(random, rule, { ...conditions, rules }));
  return { domain, records: random.shuffled(records), rules: narrowed };
}

/** What an evaluator is told about its node: pure functions of the rule and the origin. */
export interface GeneratedEnv {
  readonly revision: number;
  readonly now: () => number;
  readonly nodeId: number | null;
  readonly healthy: (poolRuleId: number, originIndex: number) => boolean;
  readonly inFlight: (poolRuleId: number, originIndex: number) => number;
}

/** A node with some unhealthy and some busy origins. */
export function generateEnv(random: Random): GeneratedEnv {
  const salt = random.int(1_000);
  return {
    revision: salt,
    now: () => START,
    nodeId: random.pick([null, 1, 2, 9]),
    healthy: (poolRuleId, originIndex) => (poolRuleId * 7 + originIndex * 5 + salt) % 4 !== 0,
    inFlight: (poolRuleId, originIndex) => (poolRuleId + originIndex * 3 + salt) % 3,
  };
}

export interface GeneratedCase {
  readonly seed: number;
  readonly ruleSet: RuleSet;
  readonly env: GeneratedEnv;
  readonly requests: readonly EdgeRequest[];
}

/** The whole case a seed names; the rule set and the env do not depend on `count`. */
export function generateCase(seed: number, count: number, options: CaseOptions = {}): GeneratedCase {
  const random = seeded(seed);
  const ruleSet = generateRuleSet(random, options);
  const env = generateEnv(random);
  const requests = generateRequests(random, ruleSet, { count, values: options.conditions !== undefined });
  return { seed, ruleSet, env, requests };
}

/** Whatever is on the server and whatever is in the file: once the planned changes are made, there are none left. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DesiredState } from '../../src/cli/apply/desired-state.ts';
import { type PlannedChange, type PlanOptions, planChanges } from '../../src/cli/apply/plan-changes.ts';
import type { RemoteDomain } from '../../src/cli/remote/remote-domain.ts';
import { parseRuleSet } from '../../src/rules/model/parse.ts';
import { EMPTY_REGISTRY } from '../../src/rules/model/registry/registry.ts';
import type { DnsRecord, Rule, RuleSet } from '../../src/rules/model/types.ts';
import { type Random, seeded } from '../support/generate.ts';
import { generateRule } from '../support/generate-rules.ts';

const DOMAIN = 'example.com';
const NAMES = ['@', 'a', 'a.example.com', 'b'];
const DATA = [
  ['A', '192.0.2.1'],
  ['A', '192.0.2.2'],
  ['AAAA', '2001:db8::1'],
  ['CNAME', 'c.test'],
] as const;

/** Few names, types and priorities, so that everything collides. */
function generate(random: Random, base: number): RuleSet | null {
  const seen = new Set<string>();
  const records = random
    .times(random.int(7), (index) => {
      const [type, destination] = random.pick(DATA);
      const name = random.pick(NAMES);
      const key = `${name.split('.')[0]} ${destination}`;
      if (seen.has(key)) return null;
      seen.add(key);
      return { id: base + index, name, type, destination, proxied: true, captcha: random.chance(0.3) };
    })
    .filter((record) => record !== null);
  const recordIds = records.map(({ id }) => id);
  const rules = random.times(random.int(8), (index) => {
    const rule = generateRule(random, { id: base + index, domain: DOMAIN, recordIds });
    return { ...rule, priority: random.pick([10, 20, 100]) };
  });
  const parsed = parseRuleSet({ domain: { name: DOMAIN }, records, rules });
  return parsed.ok ? parsed.ruleSet : null;
}

/** A later version of a rule set: some of it gone, some changed, some new, and with ids of its own. */
function edit(random: Random, { records, rules }: RuleSet, shift: number): RuleSet | null {
  const kept = records.filter(() => random.chance(0.8));
  const moved = kept.map((record) => ({
    ...record,
    id: record.id + shift,
    captcha: record.captcha !== random.chance(0.2),
    ...(random.chance(0.2) && record.type === 'A' ? { destination: `192.0.2.${100 + record.id}` } : {}),
  }));
  const ids = moved.map(({ id }) => id);
  const edited = rules
    .filter(() => random.chance(0.8))
    .map((rule) => ({
      ...rule,
      id: rule.id + shift,
      enabled: rule.enabled !== random.chance(0.2),
      priority: random.chance(0.2) ? 55 : rule.priority,
      record_ids: random.chance(0.3)
        ? ids.filter(() => random.chance(0.5))
        : rule.record_ids.map((id) => id + shift).filter((id) => ids.includes(id)),
    }));
  const fresh = random.times(random.int(3), (index) =>
    generateRule(random, { id: 900 + index, domain: DOMAIN, recordIds: ids }),
  );
  const domain = { name: DOMAIN };
  const parsed = parseRuleSet({ domain, records: moved, rules: [...edited, ...fresh] });
  return parsed.ok ? parsed.ruleSet : null;
}

function asRemote({ records, rules }: RuleSet, settings: RemoteDomain['settings']): RemoteDomain {
  const state = { status: 'active', suspended: false, developer_mode_until: null };
  return {
    name: DOMAIN,
    createdAt: null,
    settings,
    state,
    records,
    rules,
    lists: [],
    registry: { consumers: [], usage_plans: [], token_issuers: [] },
  };
}

function asWanted({ records, rules }: RuleSet, settings: DesiredState['settings']): DesiredState {
  const at = () => ({ file: 'edge.yaml', line: 1, column: 1 });
  const places = { rules: new Map(), records: new Map(), at, writes: () => true };
  const sources = { file: 'edge.yaml', fragment: false, ...places };
  return { domain: DOMAIN, settings, records, rules, lists: [], registry: EMPTY_REGISTRY, sources };
}

/** Makes the changes as the API would, deletions of records included: they take the record out of the rules. */
function make(
  remote: RemoteDomain,
  changes: readonly PlannedChange[],
  known: ReadonlyMap<number, number>,
): RemoteDomain {
  const ids = new Map(known);
  let records: readonly DnsRecord[] = remote.records;
  let rules: readonly Rule[] = remote.rules;
  let settings = remote.settings;
  let next = 1_000;
  const scoped = (rule: Rule, id: number): Rule =>
    ({ ...rule, id, record_ids: rule.record_ids.map((recordId) => ids.get(recordId)!) }) as Rule;
  for (const change of changes) {
    if (change.noun === 'domain') settings = { ...settings, ...change.after };
    else if (change.noun === 'record') {
      if (change.verb === 'create') {
        ids.set(change.after.id, ++next);
        records = [...records, { ...change.after, id: next }];
      } else if (change.verb === 'update') {
        const { id } = change.before;
        records = records.map((record) => (record.id === id ? { ...change.after, id } : record));
      } else {
        const { id } = change.before;
        records = records.filter((record) => record.id !== id);
        rules = rules.map((rule) => without(rule, id));
      }
    } else if (change.noun !== 'rule') throw new Error('no case has lists and registries');
    else if (change.verb === 'create') rules = [...rules, scoped(change.after, ++next)];
    else {
      const { id } = change.before;
      const others = rules.filter((rule) => rule.id !== id);
      rules = change.verb === 'delete' ? others : [...others, scoped(change.after, id)];
    }
  }
  return { ...remote, settings, records, rules };
}

function without(rule: Rule, gone: number): Rule {
  if (!rule.record_ids.includes(gone)) return rule;
  const left = rule.record_ids.filter((id) => id !== gone);
  return left.length === 0 ? { ...rule, enabled: false } : { ...rule, record_ids: left };
}

/** Records and rules as texts without ids, a scope by what its records are: what is to be the same in the end. */
function told({ records, rules }: Pick<RuleSet, 'records' | 'rules'>): readonly string[] {
  const bare = ({ id: _, ...fields }: DnsRecord): string =>
    JSON.stringify({ ...fields, name: fields.name.replace(/\.example\.com$/, '') });
  const byId = new Map(records.map((record) => [record.id, bare(record)]));
  const rule = ({ id: _, record_ids, ...fields }: Rule): string =>
    JSON.stringify([Object.entries(fields).sort(), record_ids.map((id) => byId.get(id) ?? 'gone').sort()]);
  return [...records.map(bare), ...rules.map(rule)].sort();
}

test.each([
  { ids: false, prune: true },
  { ids: false, prune: false },
  { ids: true, prune: true },
])('apply is idempotent with %j', (options: PlanOptions) => {
  let compared = 0;
  fc.assert(
    fc.property(fc.nat(), fc.nat(), (one, other) => {
      const there = generate(seeded(one), 101);
      const random = seeded(other);
      const later = random.chance(0.8);
      const file = there && (later ? edit(random, there, options.ids ? 0 : -100) : generate(random, 1));
      if (there === null || file === null) return;
      compared++;
      const remote = asRemote(there, { sec_no_sniff: false, cache_cap_mb: 128 });
      const wanted = asWanted(file, { sec_no_sniff: true });
      const plan = planChanges(wanted, remote, options);
      const after = make(remote, plan.changes, plan.recordIds);
      // What was created has an id of the server's, which the file does not know.
      const again = planChanges(wanted, after, { ...options, ids: false });
      expect(again.changes.map(({ verb, title }) => `${verb} ${title}`)).toEqual([]);
      const [wished, made] = [told(file), told(after)];
      if (options.prune) expect(made).toEqual(wished);
      else for (const entry of wished) expect(made).toContain(entry);
    }),
    { numRuns: 150 },
  );
  expect(compared).toBeGreaterThan(75);
});

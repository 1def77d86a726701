/**
 * What differs between two plans in terms of rules. In go two opened plans, out comes data: rules that were added,
 * removed, changed field by field, or only moved, and what differs of the domain and its hosts. Compared is the printed
 * form, which holds all that decides requests; long texts (pages, bodies) by size and checksum.
 */
import type { OpenedPlan } from '../plan/open.ts';
import { printPlan } from '../plan/print.ts';

export interface PlanSide {
  /** `null`: a tombstone, which has no hosts and no rules. */
  readonly opened: OpenedPlan | null;
  /** Stable names of rules, where their author gave any, by `<type>/<id>`: rules of one name are one rule. */
  readonly keys?: ReadonlyMap<string, string>;
}

export interface FieldDifference {
  /** `priority`, `path.includes`. */
  readonly field: string;
  /** JSON values; absent where the side has no such field. */
  readonly was?: unknown;
  readonly now?: unknown;
}

/** `moved`: nothing but its priority differs. */
export const RULE_CHANGES = ['added', 'removed', 'changed', 'moved'] as const;

export interface RuleChange {
  readonly change: (typeof RULE_CHANGES)[number];
  /** `<type>/<id>`, of the newer side where it is there. */
  readonly rule: string;
  /** What the same rule is called on the older side, where that is another id. */
  readonly before?: string;
  readonly key?: string;
  /** Of an added or removed rule all that it has. */
  readonly fields: readonly FieldDifference[];
}

export interface HostChange {
  readonly change: 'added' | 'removed' | 'changed';
  readonly host: string;
  readonly fields: readonly FieldDifference[];
}

export interface PlanDiff {
  readonly same: boolean;
  readonly domain: readonly FieldDifference[];
  readonly hosts: readonly HostChange[];
  /** In evaluation order; what was removed stands at the end. */
  readonly rules: readonly RuleChange[];
}

type Fields = Readonly<Record<string, unknown>>;

interface PrintedRule {
  /** `<type>/<id>`. */
  readonly name: string;
  readonly type: string;
  readonly key: string | undefined;
  readonly fields: Fields;
}

/** @throws PlanFault when a plan cannot be printed */
export function diffPlans(before: PlanSide, after: PlanSide): PlanDiff {
  const [was, now] = [printed(before), printed(after)];
  const domain = fieldChanges(flat(was.domain), flat(now.domain));
  const hosts = hostChanges(was.hosts, now.hosts);
  // A sealed plan has no names; beside one, those of the other side help nobody to find a rule again.
  const named = [before, after].every(({ keys }) => keys !== undefined && keys.size > 0);
  const rules = ruleChanges(rulesOf(was, before.keys), rulesOf(now, after.keys), named ? BY_KEY : BY_CONTENT);
  return { same: domain.length + hosts.length + rules.length === 0, domain, hosts, rules };
}

interface Printed {
  readonly domain: Fields;
  readonly hosts: readonly Fields[];
  readonly rules: readonly Fields[];
}

function printed({ opened }: PlanSide): Printed {
  if (opened === null) return { domain: {}, hosts: [], rules: [] };
  return printPlan(opened) as object as Printed;
}

function rulesOf({ rules }: Printed, keys: PlanSide['keys']): readonly PrintedRule[] {
  return rules.map(({ type, id, ...fields }) => {
    const name = `${type}/${id}`;
    return { name, type: String(type), key: keys?.get(name), fields: flat(fields) };
  });
}

/** Fields of objects as fields of their own: `path.includes`. */
function flat(fields: Fields, above = ''): Fields {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
      const path = above === '' ? name : `${above}.${name}`;
      const nested = typeof value === 'object' && value !== null && !Array.isArray(value);
      return nested ? Object.entries(flat(value as Fields, path)) : [[path, value]];
    }),
  );
}

function fieldChanges(was: Fields, now: Fields): readonly FieldDifference[] {
  const names = new Set([...Object.keys(now), ...Object.keys(was)]);
  return [...names].flatMap((field) => {
    if (JSON.stringify(was[field]) === JSON.stringify(now[field])) return [];
    return [
      {
        field,
        ...(Object.hasOwn(was, field) ? { was: was[field] } : {}),
        ...(Object.hasOwn(now, field) ? { now: now[field] } : {}),
      },
    ];
  });
}

function hostChanges(was: readonly Fields[], now: readonly Fields[]): readonly HostChange[] {
  const before = new Map(was.map(({ name, ...fields }) => [String(name), fields]));
  const after = new Map(now.map(({ name, ...fields }) => [String(name), fields]));
  const changes: HostChange[] = [];
  for (const [host, fields] of after) {
    const known = before.get(host);
    const found = fieldChanges(flat(known ?? {}), flat(fields));
    if (found.length > 0)
      changes.push({ change: known === undefined ? 'added' : 'changed', host, fields: found });
  }
  for (const [host, fields] of before) {
    if (!after.has(host)) changes.push({ change: 'removed', host, fields: fieldChanges(flat(fields), {}) });
  }
  return changes;
}

/** By what a rule of one side is found on the other; `null`: not by this. */
type Naming = (rule: PrintedRule) => string | null;

/**
 * The same under the same id, else the same under another id (an edge file without ids numbers its rules by their
 * place), else whatever has the id now.
 */
const BY_CONTENT: readonly Naming[] = [
  ({ name, fields }) => `${name} ${JSON.stringify(fields)}`,
  ({ type, fields }) => `${type} ${JSON.stringify(fields)}`,
  ({ name }) => name,
];
/** By their author's names, and those without one as above. */
const BY_KEY: readonly Naming[] = [
  ({ type, key }) => (key === undefined ? null : `${type} ${key}`),
  ...BY_CONTENT.map(
    (naming): Naming =>
      (rule) =>
        rule.key === undefined ? naming(rule) : null,
  ),
];

function ruleChanges(
  was: readonly PrintedRule[],
  now: readonly PrintedRule[],
  namings: readonly Naming[],
): readonly RuleChange[] {
  const pairs = pair(was, now, namings);
  const changes = now.flatMap((rule): readonly RuleChange[] => {
    const before = pairs.get(rule);
    const fields = fieldChanges(before?.fields ?? {}, rule.fields);
    const renamed = before !== undefined && before.name !== rule.name;
    const told = {
      rule: rule.name,
      ...(renamed ? { before: before.name } : {}),
      ...(rule.key === undefined ? {} : { key: rule.key }),
      fields,
    };
    if (before === undefined) return [{ change: 'added', ...told }];
    if (fields.length === 0) return [];
    return [{ change: fields.every(({ field }) => field === 'priority') ? 'moved' : 'changed', ...told }];
  });
  const kept = new Set(pairs.values());
  const removed = was.flatMap((rule): readonly RuleChange[] => {
    if (kept.has(rule)) return [];
    const key = rule.key === undefined ? {} : { key: rule.key };
    return [{ change: 'removed', rule: rule.name, ...key, fields: fieldChanges(rule.fields, {}) }];
  });
  return [...changes, ...removed];
}

/** The rule of `was` for each of `now` that has one. */
function pair(
  was: readonly PrintedRule[],
  now: readonly PrintedRule[],
  namings: readonly Naming[],
): ReadonlyMap<PrintedRule, PrintedRule> {
  const pairs = new Map<PrintedRule, PrintedRule>();
  let left = was;
  for (const nameOf of namings) {
    const open = new Map<string, PrintedRule[]>();
    for (const rule of left) {
      const name = nameOf(rule);
      if (name === null) continue;
      const same = open.get(name);
      if (same === undefined) open.set(name, [rule]);
      else same.push(rule);
    }
    const taken = new Set<PrintedRule>();
    for (const rule of now) {
      const name = pairs.has(rule) ? null : nameOf(rule);
      const found = name === null ? undefined : open.get(name)?.shift();
      if (found === undefined) continue;
      pairs.set(rule, found);
      taken.add(found);
    }
    left = left.filter((rule) => !taken.has(rule));
  }
  return pairs;
}

/**
 * Compares two plans rule by rule. Input: two opened plans. Output: data that lists rules that were added, removed,
 * changed or moved, field by field, and differences of the domain and its hosts. The comparison uses the printed
 * form of a plan (`engine/compiler/print.ts`), which contains everything that decides requests; it represents long texts
 * (pages, bodies) by size and checksum. A list whose contents differ is a field of each rule that names it: `lists.office`.
 */
import { printPlan } from '../../engine/compiler/print.ts';
import type { FindList } from '../../engine/evaluator/plan-parts.ts';
import type { OpenedPlan } from '../../engine/plan/seal.ts';
import { listContents } from './named-lists.ts';

/** One side of a comparison. */
export interface PlanSide {
  /** The plan; `null`: a tombstone, which has no hosts and no rules. */
  readonly opened: OpenedPlan | null;
  /** Keys that the author gave to rules, by `<type>/<id>`; rules of equal type and key are compared as one rule. */
  readonly keys?: ReadonlyMap<string, string>;
  /** Finds the lists that the plan refers to by digest; those that are not there are compared by digest. */
  readonly lists?: FindList;
}

/** A field whose value differs. */
export interface FieldDifference {
  /** The path of the field: `priority`, `path.includes`. */
  readonly field: string;
  /** The older JSON value; absent if the older side has no such field. */
  readonly was?: unknown;
  /** The newer JSON value; absent if the newer side has no such field. */
  readonly now?: unknown;
}

/** How a rule differs. `moved`: only its priority differs. */
export const RULE_CHANGES = ['added', 'removed', 'changed', 'moved'] as const;

/** A rule that differs. */
export interface RuleChange {
  readonly change: (typeof RULE_CHANGES)[number];
  /** `<type>/<id>`, on the newer side unless the rule was removed. */
  readonly rule: string;
  /** `<type>/<id>` on the older side; absent if it is the same. */
  readonly before?: string;
  /** The author's key, if there is one. */
  readonly key?: string;
  /** The differing fields; for an added or removed rule, all its fields. */
  readonly fields: readonly FieldDifference[];
}

/** A host that differs. */
export interface HostChange {
  readonly change: 'added' | 'removed' | 'changed';
  readonly host: string;
  readonly fields: readonly FieldDifference[];
}

/** The result of a comparison. */
export interface PlanDiff {
  /** Whether the plans decide all requests alike. */
  readonly same: boolean;
  /** Differences of the domain's own settings, and of its registry: `registry.digest`. */
  readonly domain: readonly FieldDifference[];
  readonly hosts: readonly HostChange[];
  /** In evaluation order; removed rules come last. */
  readonly rules: readonly RuleChange[];
}

type Fields = Readonly<Record<string, unknown>>;

/** A rule of a printed plan, with nested fields flattened. */
interface PrintedRule {
  /** `<type>/<id>`. */
  readonly name: string;
  readonly type: string;
  readonly key: string | undefined;
  readonly fields: Fields;
  /** Contents of the lists that it names: `lists.office`. */
  readonly lists: Fields;
}

/** Rules of the newer side by `<type>/<id>`, each with the rule of the older side that it is compared with. @throws PlanFault */
export function pairedRules(before: PlanSide, after: PlanSide): ReadonlyMap<string, string> {
  const pairs = pair(
    rulesOf(printed(before), before),
    rulesOf(printed(after), after),
    namingsOf(before, after),
  );
  return new Map([...pairs].map(([now, was]) => [now.name, was.name]));
}

/** Compares two plans. @throws PlanFault when a plan cannot be printed */
export function diffPlans(before: PlanSide, after: PlanSide): PlanDiff {
  const [was, now] = [printed(before), printed(after)];
  const domain = fieldChanges(settingsOf(was), settingsOf(now));
  const hosts = hostChanges(was.hosts, now.hosts);
  const rules = ruleChanges(rulesOf(was, before), rulesOf(now, after), namingsOf(before, after));
  return { same: domain.length + hosts.length + rules.length === 0, domain, hosts, rules };
}

/** The part of a printed plan that is compared. */
interface Printed {
  readonly domain: Fields;
  readonly hosts: readonly Fields[];
  readonly rules: readonly Fields[];
  /** The digest, or the size and checksum, of the registry; absent: the plan has none. */
  readonly registry?: Fields;
}

/** The settings of the domain, with the digest or the checksum of its registry. */
function settingsOf({ domain, registry }: Printed): Fields {
  return flat(registry === undefined ? domain : { ...domain, registry });
}

/** Prints a plan; a tombstone prints as empty. */
function printed({ opened }: PlanSide): Printed {
  if (opened === null) return { domain: {}, hosts: [], rules: [] };
  return printPlan(opened) as object as Printed;
}

/** The rules of a printed plan, with their keys and the contents of the lists that they name. */
function rulesOf({ rules }: Printed, { opened, keys, lists }: PlanSide): readonly PrintedRule[] {
  const contents = opened === null ? [] : listContents(opened.plan, lists);
  return rules.map(({ type, id, ...fields }, slot) => {
    const name = `${type}/${id}`;
    const named = flat({ lists: contents[slot] ?? {} });
    return { name, type: String(type), key: keys?.get(name), fields: flat(fields), lists: named };
  });
}

/** Lists that two rules name, and whose contents differ. */
function listChanges(was: Fields, now: Fields): readonly FieldDifference[] {
  return fieldChanges(was, now).filter(({ field }) => Object.hasOwn(was, field) && Object.hasOwn(now, field));
}

/** Flattens nested objects to dotted field names: `path.includes`. */
function flat(fields: Fields, above = ''): Fields {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
      const path = above === '' ? name : `${above}.${name}`;
      const nested = typeof value === 'object' && value !== null && !Array.isArray(value);
      return nested ? Object.entries(flat(value as Fields, path)) : [[path, value]];
    }),
  );
}

/** The fields whose JSON differs, newer fields first. */
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

/** The hosts that were added, changed or removed. */
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

/** A text by which rules of both sides are paired; `null`: this text does not apply to the rule. */
type Naming = (rule: PrintedRule) => string | null;

/**
 * Pairs rules of equal id and content, then of equal content (an edge file without ids numbers its rules by
 * position), then of equal id.
 */
const BY_CONTENT: readonly Naming[] = [
  ({ name, fields }) => `${name} ${JSON.stringify(fields)}`,
  ({ type, fields }) => `${type} ${JSON.stringify(fields)}`,
  ({ name }) => name,
];
/** Pairs rules by key; those without a key as above. */
const BY_KEY: readonly Naming[] = [
  ({ type, key }) => (key === undefined ? null : `${type} ${key}`),
  ...BY_CONTENT.map(
    (naming): Naming =>
      (rule) =>
        rule.key === undefined ? naming(rule) : null,
  ),
];

/** A sealed plan has no keys. Compared with one, the keys of the other side identify nothing. */
function namingsOf(before: PlanSide, after: PlanSide): readonly Naming[] {
  const bothKeyed = [before, after].every(({ keys }) => keys !== undefined && keys.size > 0);
  return bothKeyed ? BY_KEY : BY_CONTENT;
}

/** The differences of all rules: changed and added in the newer order, then removed. */
function ruleChanges(
  was: readonly PrintedRule[],
  now: readonly PrintedRule[],
  namings: readonly Naming[],
): readonly RuleChange[] {
  const pairs = pair(was, now, namings);
  const changes = now.flatMap((rule): readonly RuleChange[] => {
    const before = pairs.get(rule);
    const fields = [
      ...fieldChanges(before?.fields ?? {}, rule.fields),
      ...listChanges(before?.lists ?? {}, rule.lists),
    ];
    const idChanged = before !== undefined && before.name !== rule.name;
    const common = {
      rule: rule.name,
      ...(idChanged ? { before: before.name } : {}),
      ...(rule.key === undefined ? {} : { key: rule.key }),
      fields,
    };
    if (before === undefined) return [{ change: 'added', ...common }];
    if (fields.length === 0) return [];
    return [{ change: fields.every(({ field }) => field === 'priority') ? 'moved' : 'changed', ...common }];
  });
  const paired = new Set(pairs.values());
  const removed = was.flatMap((rule): readonly RuleChange[] => {
    if (paired.has(rule)) return [];
    const key = rule.key === undefined ? {} : { key: rule.key };
    return [{ change: 'removed', rule: rule.name, ...key, fields: fieldChanges(rule.fields, {}) }];
  });
  return [...changes, ...removed];
}

/** Pairs rules of `now` with rules of `was`, one naming after another; a rule is paired once. */
function pair(
  was: readonly PrintedRule[],
  now: readonly PrintedRule[],
  namings: readonly Naming[],
): ReadonlyMap<PrintedRule, PrintedRule> {
  const pairs = new Map<PrintedRule, PrintedRule>();
  let left = was;
  for (const nameOf of namings) {
    const unpaired = new Map<string, PrintedRule[]>();
    for (const rule of left) {
      const name = nameOf(rule);
      if (name === null) continue;
      const same = unpaired.get(name);
      if (same === undefined) unpaired.set(name, [rule]);
      else same.push(rule);
    }
    const used = new Set<PrintedRule>();
    for (const rule of now) {
      const name = pairs.has(rule) ? null : nameOf(rule);
      const found = name === null ? undefined : unpaired.get(name)?.shift();
      if (found === undefined) continue;
      pairs.set(rule, found);
      used.add(found);
    }
    left = left.filter((rule) => !used.has(rule));
  }
  return pairs;
}

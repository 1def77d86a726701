/**
 * Prints a domain as the text of an edge file, the inverse of `edge-file.ts`. Fields that equal their defaults are
 * left out, rules name their records, and equal content always yields equal text.
 */
import { Document, isMap, isSeq } from 'yaml';
import { assert } from '../../base/diagnostics/assert.ts';
import {
  APPLICATION_HOST,
  RULE_TYPES,
  type RuleType,
  VALUE_MEMBERS,
} from '../../base/vocabulary/vocabulary.ts';
import type { StoredRule } from '../model/common.ts';
import { CONDITION_NAMES, type Conditions } from '../model/conditions.ts';
import { DOMAIN_SETTINGS, domainForm } from '../model/domain.ts';
import type { Fields as FormFields } from '../model/form.ts';
import { showEntry } from '../model/lists.ts';
import { parseRule } from '../model/parse.ts';
import { recordForm } from '../model/record.ts';
import { absoluteName } from '../model/record-name.ts';
import { EMPTY_REGISTRY } from '../model/registry/registry.ts';
import { ruleForm } from '../model/rule.ts';
import type { DnsRecord, EntryList, OriginPoolRule, Registry, Rule } from '../model/types.ts';
import { REGISTRY_ORDERS, shortRegistry } from './edge-registry.ts';
import { LAYOUT_SCHEMA, layOut, layOutText } from './layout.ts';
import { printTags } from './print-tags.ts';
import { FILE_ORDER, type KeyOrders } from './test-schema.ts';

/** The keys of `domain`: its name, its state, its settings. */
const DOMAIN_ORDER = [...Object.keys(domainForm.fields), ...Object.keys(DOMAIN_SETTINGS)];

/** The keys of a record: what identifies it first. */
const RECORD_ORDER = ['id', 'name', 'type', 'destination', ...Object.keys(recordForm.fields)];

/** The keys of a rule that come first, whatever its type. */
const RULE_HEAD = ['id', 'key', 'type', 'records', 'record_ids', 'record_id', 'schema'];

/** The keys of a rule of a type; of an unknown type, those that every rule has. */
function ruleOrder(type: unknown): readonly string[] {
  const known = RULE_TYPES.find((one): one is RuleType => one === type);
  return known === undefined ? RULE_HEAD : [...RULE_HEAD, ...Object.keys(ruleForm(known).fields)];
}

/** The orders of files of either kind. */
export const FILE_ORDERS: KeyOrders = {
  file: FILE_ORDER,
  domain: DOMAIN_ORDER,
  record: RECORD_ORDER,
  rule: ruleOrder,
  inRules: CONDITION_NAMES,
  inLists: REGISTRY_ORDERS,
};

type Fields = Readonly<Record<string, unknown>>;

/** A list with its entries, or without. */
export type PrintedList = Pick<EntryList, 'name' | 'kind'> & Partial<Pick<EntryList, 'entries'>>;

/** What is printed. */
export interface PrintedDomain {
  /** The domain's own fields; `name` comes first, the others in the order they have here. */
  readonly domain: { readonly name: string } & Fields;
  readonly records: readonly DnsRecord[];
  readonly rules: readonly Rule[];
  /** Lists; of those without entries, these are in a file of their own. */
  readonly lists?: readonly PrintedList[];
  /** Consumers, usage plans and token issuers; absent: none. */
  readonly registry?: Registry;
  /**
   * Prints the ids of records and rules. Without ids the text does not depend on the server that stores the domain.
   */
  readonly ids: boolean;
  /** Lines of comments above rules, by the rule's id. */
  readonly comments?: ReadonlyMap<number, readonly string[]>;
  /** Prints a fragment: what is given is a part of the domain, and `apply` changes that alone. It needs `ids`. */
  readonly fragment?: boolean;
  /** The keys of rules by `<type>/<id>`. */
  readonly ruleKeys?: ReadonlyMap<string, string>;
}

/** The result of printing. */
export interface PrintedEdge {
  /** YAML, ending in a newline. */
  readonly text: string;
  /**
   * Rules whose records were all deleted. A file cannot express an empty scope, so they are printed without records
   * and disabled.
   */
  readonly orphans: readonly Rule[];
  /** Rules that applied to requests with tags of deleted rules alone; they are printed without these, and disabled. */
  readonly untagged: readonly Rule[];
}

/** A list; entries without comments are texts. */
function shortList({ name, kind, entries }: PrintedList): Fields {
  if (entries === undefined) return { name, kind };
  const shown = entries.map((entry) =>
    kind === 'redirect' || entry.comment !== undefined ? showEntry(kind, entry) : entry.value,
  );
  return { name, kind, entries: shown };
}

/** Prints a domain: records in order of id, rules in order of phase, then priority, then id. */
export function printEdge({
  domain,
  records,
  rules,
  lists = [],
  registry = EMPTY_REGISTRY,
  ids,
  comments,
  fragment,
  ruleKeys = new Map(),
}: PrintedDomain): PrintedEdge {
  assert(fragment !== true || ids, 'a fragment has the ids of its objects');
  const zone = [...records].sort((one, other) => one.id - other.id);
  const tags = printTags([...rules].sort(byEvaluation), { ids, fragment: fragment === true, ruleKeys });
  const ordered = tags.rules;
  const scopes = scopesOf(domain.name, zone);
  const shown = ordered.map((rule) => ({ rule, scope: scopes(rule.record_ids) }));
  const byId = new Set(shown.flatMap(({ scope }) => (scope.kind === 'ids' ? scope.ids : [])));
  const places = new Map(zone.map(({ id }, index) => [id, ids ? id : index + 1]));
  const placeOf = (id: number): number => places.get(id)!;
  const printed = ({ rule, scope }: (typeof shown)[number], type?: RuleType): Fields => ({
    ...(ids ? { id: rule.id } : numberOf(rule, tags.numbered)),
    ...keyOf(rule, ruleKeys),
    ...(type === undefined ? {} : { type }),
    ...(scope.kind === 'names' ? { records: scope.names } : {}),
    ...(scope.kind === 'ids' ? { record_ids: scope.ids.map(placeOf) } : {}),
    // Without its records the rule would act on all of them.
    ...(scope.kind === 'gone' ? shortRule({ ...rule, enabled: false }) : shortRule(rule)),
  });
  const document: Record<string, unknown> = {
    domain: Object.keys(domain).length === 1 ? domain.name : domain,
    ...(fragment === true ? { fragment } : {}),
    ...(lists.length === 0 ? {} : { lists: lists.map(shortList) }),
    ...shortRegistry(registry, withoutDefaults),
    records: zone.map((record) => {
      const numbered = ids || byId.has(record.id);
      return { ...(numbered ? { id: placeOf(record.id) } : {}), ...shortRecord(record) };
    }),
    gateways: shown.filter(({ rule }) => rule.type === 'gateway').map((one) => printed(one)),
    rules: shown.filter(({ rule }) => rule.type !== 'gateway').map((one) => printed(one, one.rule.type)),
  };
  for (const list of fragment === true ? ['records', 'gateways', 'rules'] : ['gateways'])
    if ((document[list] as readonly unknown[]).length === 0) delete document[list];
  return {
    // The second pass chooses the quotes of text that the first one has quoted.
    text: layOutText(
      layOut(commented(new Document(document, BUILT), ordered, comments), { text: '', orders: FILE_ORDERS }),
      FILE_ORDERS,
    ),
    orphans: shown.flatMap(({ rule, scope }) => (scope.kind === 'gone' ? [rule] : [])),
    untagged: tags.untagged,
  };
}

/** Options of a document that is built. */
const BUILT = { ...LAYOUT_SCHEMA, aliasDuplicateObjects: false } as const;

/** The id that tags name a rule by, as a field; none if no tag does. */
function numberOf({ id }: Rule, numbered: ReadonlyMap<number, number>): { readonly id?: number } {
  const number = numbered.get(id);
  return number === undefined ? {} : { id: number };
}

/** The key of a rule as a field; none without a key. */
function keyOf({ type, id }: Rule, keys: ReadonlyMap<string, string>): { readonly key?: string } {
  const key = keys.get(`${type}/${id}`);
  return key === undefined ? {} : { key };
}

/** Orders rules as the evaluator does: by phase, priority, id. */
function byEvaluation(one: Rule, other: Rule): number {
  const phase = RULE_TYPES.indexOf(one.type) - RULE_TYPES.indexOf(other.type);
  return phase || one.priority - other.priority || one.id - other.id;
}

/** How the records of a rule are written. */
type Scope =
  | { readonly kind: 'all' }
  | { readonly kind: 'names'; readonly names: readonly string[] }
  /** Record names would select more records than the rule has. */
  | { readonly kind: 'ids'; readonly ids: readonly number[] }
  | { readonly kind: 'gone' };

/**
 * Returns a function that decides how a list of record ids is written: by name if the names select exactly these
 * records, else by id.
 */
function scopesOf(domain: string, records: readonly DnsRecord[]): (ids: readonly number[]) => Scope {
  const byName = new Map<string, DnsRecord[]>();
  for (const record of records) {
    const name = absoluteName(record.name, domain) ?? record.name;
    byName.set(name, [...(byName.get(name) ?? []), record]);
  }
  return (ids) => {
    if (ids.length === 0) return { kind: 'all' };
    const wanted = new Set(ids);
    const names: string[] = [];
    const found: number[] = [];
    let exact = true;
    for (const same of byName.values()) {
      const named = same.filter(({ id }) => wanted.has(id));
      found.push(...named.map(({ id }) => id));
      if (named.length === 0) continue;
      if (named.length === same.length) {
        names.push(same[0]!.name);
        continue;
      }
      for (const type of new Set(named.map((record) => record.type))) {
        const ofType = same.filter((record) => record.type === type);
        exact &&= ofType.every(({ id }) => wanted.has(id));
        names.push(`${same[0]!.name} ${type}`);
      }
    }
    if (found.length === 0) return { kind: 'gone' };
    return exact ? { kind: 'names', names } : { kind: 'ids', ids: found.sort((one, other) => one - other) };
  };
}

/** The fields of a record that differ from their defaults. */
export function shortRecord({ id: _, ...record }: DnsRecord): Fields {
  if (record.destination === APPLICATION_HOST) {
    const { type: _type, destination: _destination, proxied: _proxied, ...written } = record;
    return withoutDefaults(written as unknown as Fields, recordForm.fields);
  }
  return withoutDefaults(record as unknown as Fields, recordForm.fields);
}

/** Defaults by form, computed once per form. */
const defaults = new WeakMap<FormFields, Fields>();

/** The value of each field when it is left out; required fields have no entry. */
function defaultsOf(fields: FormFields): Fields {
  const known = defaults.get(fields);
  if (known !== undefined) return known;
  const found: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(fields)) {
    const absent = schema.safeParse(undefined);
    if (absent.success) found[name] = absent.data;
  }
  defaults.set(fields, found);
  return found;
}

/** Drops the fields that equal their defaults. */
function withoutDefaults(values: Fields, fields: FormFields): Fields {
  const standard = defaultsOf(fields);
  return Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => !Object.hasOwn(standard, name) || !same(value, standard[name]),
    ),
  );
}

/**
 * The fields of a rule that differ from their defaults. `host_match_type` and `path_includes` have defaults that
 * depend on other fields, so each is dropped only if the rest parses to the same rule.
 */
export function shortRule({ id: _, type, record_ids: __, ...fields }: Rule): Fields {
  const short = { ...withoutDefaults(fields as unknown as Fields, ruleForm(type).fields) };
  const health = short['health_check'];
  if (health !== undefined) short['health_check'] = withoutUsual(type, 'health_check', health as Fields);
  const { conditions } = short as { readonly conditions?: Conditions };
  if (conditions !== undefined) short['conditions'] = shortConditions(conditions);
  const origins = short['origins'] as readonly Fields[] | undefined;
  if (origins !== undefined) short['origins'] = origins.map(shortOrigin);
  for (const name of ['host_match_type', 'path_includes']) {
    const { [name]: dropped, ...rest } = short;
    if (dropped !== undefined && readsAs(type, rest, fields)) delete short[name];
  }
  return readsAs(type, short, fields) ? short : (fields as unknown as Fields);
}

/** Whether the short form parses to the same fields. */
function readsAs(type: RuleType, short: Fields, fields: object): boolean {
  const parsed = parseRule(type, short, { stored: true });
  if (!parsed.ok) return false;
  const { record_ids: _, ...read } = parsed.fields;
  return same(read, fields);
}

/** Drops the fields of a nested object that equal the default object's. */
function withoutUsual(type: RuleType, name: string, value: Fields): Fields {
  const standard = defaultsOf(ruleForm(type).fields)[name] as Fields;
  return Object.fromEntries(Object.entries(value).filter(([key, own]) => !same(own, standard[key])));
}

/** Conditions without the defaults of their entries. */
function shortConditions(conditions: Conditions): Fields {
  const short: Record<string, unknown> = { ...conditions };
  for (const member of VALUE_MEMBERS) {
    const list = conditions[member];
    if (list === undefined) continue;
    short[member] = list.map(({ values, ignore_case, ...condition }) => ({
      ...condition,
      ...(values.length === 0 ? {} : { values }),
      ...(ignore_case ? { ignore_case } : {}),
    }));
  }
  return short;
}

/** The fields of a pool origin when only its address is given; computed at the first call. */
const usualOrigin = (() => {
  let standard: Fields | null = null;
  return (): Fields => {
    if (standard !== null) return standard;
    const parsed = parseRule('origin_pool', { origins: [{ address: 'origin.test' }] });
    assert(parsed.ok, 'an origin needs its address alone');
    const { address: _, ...rest } = (parsed.fields as StoredRule<OriginPoolRule>).origins[0]!;
    standard = rest;
    return standard;
  };
})();

/** The fields of a pool origin that differ from their defaults. */
function shortOrigin(origin: Fields): Fields {
  const standard = usualOrigin();
  return Object.fromEntries(Object.entries(origin).filter(([name, value]) => !same(value, standard[name])));
}

/** Whether two JSON values are equal; the order of an object's fields is ignored. */
export function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every(
    (name) => Object.hasOwn(other, name) && same((one as Fields)[name], (other as Fields)[name]),
  );
}

/** The document with comments above its rules. Changes it. */
function commented(
  document: Document,
  rules: readonly { readonly id: number }[],
  comments: PrintedDomain['comments'],
): Document {
  const list = document.get('rules');
  if (comments === undefined || !isSeq(list)) return document;
  for (const [index, item] of list.items.entries()) {
    const comment = comments.get(rules[index]!.id);
    // A control character or a line break in a comment would end it.
    if (comment !== undefined && isMap(item)) {
      const lines = comment.map((line) => ` ${line.replace(/[\p{Cc}\u2028\u2029]/gu, ' ')}`);
      item.commentBefore = lines.join('\n');
    }
  }
  return document;
}

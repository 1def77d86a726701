/**
 * A domain as the text of an edge file: the way back of `edge-file`. What equals its default is left out, records are
 * called by their names, and the same content always gives the same text.
 */
import { Document, isMap, isScalar, isSeq, type Node } from 'yaml';
import { assert } from '../base/assert.ts';
import { RULE_TYPES, type RuleType } from '../base/vocabulary.ts';
import type { StoredRule } from '../model/common.ts';
import type { Fields as FormFields } from '../model/form.ts';
import { parseRule } from '../model/parse.ts';
import { recordForm } from '../model/record.ts';
import { absoluteName } from '../model/record-name.ts';
import { ruleForm } from '../model/rule.ts';
import type { DnsRecord, OriginPoolRule, Rule } from '../model/types.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface PrintedDomain {
  /** The domain's own fields; `name` comes first, the others in the order they have here. */
  readonly domain: { readonly name: string } & Fields;
  readonly records: readonly DnsRecord[];
  readonly rules: readonly Rule[];
  /** Writes the ids of records and rules; without, the text is the same wherever the domain is kept. */
  readonly ids: boolean;
}

export interface PrintedEdge {
  readonly text: string;
  /** Rules held to records which are gone; the file cannot say so, and has them disabled, without records. */
  readonly orphans: readonly Rule[];
}

/** Prints a domain; records by id, rules in the order of their phases, then of their evaluation. */
export function printEdge({ domain, records, rules, ids }: PrintedDomain): PrintedEdge {
  const zone = [...records].sort((one, other) => one.id - other.id);
  const ordered = [...rules].sort(byEvaluation);
  const scopes = scopesOf(domain.name, zone);
  const shown = ordered.map((rule) => ({ rule, scope: scopes(rule.record_ids) }));
  const byId = new Set(shown.flatMap(({ scope }) => (scope.kind === 'ids' ? scope.ids : [])));
  const places = new Map(zone.map(({ id }, index) => [id, ids ? id : index + 1]));
  const placeOf = (id: number): number => places.get(id)!;
  const document = {
    domain: Object.keys(domain).length === 1 ? domain.name : domain,
    records: zone.map((record) => {
      const numbered = ids || byId.has(record.id);
      return { ...(numbered ? { id: placeOf(record.id) } : {}), ...shortRecord(record) };
    }),
    rules: shown.map(({ rule, scope }) => ({
      ...(ids ? { id: rule.id } : {}),
      type: rule.type,
      ...(scope.kind === 'names' ? { records: scope.names } : {}),
      ...(scope.kind === 'ids' ? { record_ids: scope.ids.map(placeOf) } : {}),
      // Without its records the rule would act on all of them.
      ...(scope.kind === 'gone' ? shortRule({ ...rule, enabled: false }) : shortRule(rule)),
    })),
  };
  return {
    text: layOut(document),
    orphans: shown.flatMap(({ rule, scope }) => (scope.kind === 'gone' ? [rule] : [])),
  };
}

function byEvaluation(one: Rule, other: Rule): number {
  const phase = RULE_TYPES.indexOf(one.type) - RULE_TYPES.indexOf(other.type);
  return phase || one.priority - other.priority || one.id - other.id;
}

type Scope =
  | { readonly kind: 'all' }
  | { readonly kind: 'names'; readonly names: readonly string[] }
  /** Names would take in more than the rule has. */
  | { readonly kind: 'ids'; readonly ids: readonly number[] }
  | { readonly kind: 'gone' };

/** How a list of record ids is written: by name where that means the same records, else by id. */
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
    let whole = true;
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
        whole &&= ofType.every(({ id }) => wanted.has(id));
        names.push(`${same[0]!.name} ${type}`);
      }
    }
    if (found.length === 0) return { kind: 'gone' };
    return whole ? { kind: 'names', names } : { kind: 'ids', ids: found.sort((one, other) => one - other) };
  };
}

/** The fields of a record that differ from their defaults. */
export function shortRecord({ id: _, ...record }: DnsRecord): Fields {
  return withoutDefaults(record as unknown as Fields, recordForm.fields);
}

const defaults = new WeakMap<FormFields, Fields>();

/** What each field is when it is left out; fields that must be there are left out here. */
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

function withoutDefaults(values: Fields, fields: FormFields): Fields {
  const usual = defaultsOf(fields);
  return Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => !Object.hasOwn(usual, name) || !same(value, usual[name]),
    ),
  );
}

/** The fields of a rule that differ from what they are when left out; a few follow other fields, so it is tried. */
export function shortRule({ id: _, type, record_ids: __, ...fields }: Rule): Fields {
  const short = { ...withoutDefaults(fields as unknown as Fields, ruleForm(type).fields) };
  const health = short['health_check'];
  if (health !== undefined) short['health_check'] = withoutUsual(type, 'health_check', health as Fields);
  const origins = short['origins'] as readonly Fields[] | undefined;
  if (origins !== undefined) short['origins'] = origins.map(shortOrigin);
  for (const name of ['host_match_type', 'path_includes']) {
    const { [name]: dropped, ...rest } = short;
    if (dropped !== undefined && readsAs(type, rest, fields)) delete short[name];
  }
  return readsAs(type, short, fields) ? short : (fields as unknown as Fields);
}

function readsAs(type: RuleType, short: Fields, fields: object): boolean {
  const parsed = parseRule(type, short, { stored: true });
  if (!parsed.ok) return false;
  const { record_ids: _, ...read } = parsed.fields;
  return same(read, fields);
}

function withoutUsual(type: RuleType, name: string, value: Fields): Fields {
  const usual = defaultsOf(ruleForm(type).fields)[name] as Fields;
  return Object.fromEntries(Object.entries(value).filter(([key, own]) => !same(own, usual[key])));
}

/** What an origin of a pool is when only its address is written. */
const usualOrigin = (() => {
  let usual: Fields | null = null;
  return (): Fields => {
    if (usual !== null) return usual;
    const parsed = parseRule('origin_pool', { origins: [{ address: 'origin.test' }] });
    assert(parsed.ok, 'an origin needs its address alone');
    const { address: _, ...rest } = (parsed.fields as StoredRule<OriginPoolRule>).origins[0]!;
    usual = rest;
    return usual;
  };
})();

function shortOrigin(origin: Fields): Fields {
  const usual = usualOrigin();
  return Object.fromEntries(Object.entries(origin).filter(([name, value]) => !same(value, usual[name])));
}

/** Whether two values of JSON are the same; the order of an object's fields counts for nothing. */
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

/** Columns up to which a list or mapping stays on one line. */
const LINE = 100;

function layOut(content: object): string {
  // YAML 1.1 reads `no`, `on` and `1:30` otherwise; quoted they are text to everybody.
  const document = new Document(content, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  for (const name of ['records', 'rules']) {
    const list = document.get(name);
    if (!isSeq(list)) continue;
    list.flow = list.items.length === 0;
    for (const item of list.items) {
      if (!isMap(item)) continue;
      if (name === 'records') item.flow = true;
      else for (const pair of item.items) keepShort(pair.value as Node);
    }
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}

/** Puts short lists on one line, and each entry of a long list of mappings on its own. */
function keepShort(node: Node): void {
  if (!isSeq(node) && !isMap(node)) return;
  node.flow = JSON.stringify(node.toJSON()).length <= LINE;
  if (node.flow || !isSeq(node)) return;
  for (const item of node.items) if (!isScalar(item) && (isMap(item) || isSeq(item))) item.flow = true;
}

/**
 * Parses customer input into a `RuleSet`, one rule, one record or a domain, or into all its mistakes. Every input of the
 * compiler passes these functions, so a parsed value has all defaults, canonical addresses, valid patterns within their
 * budgets and record ids that exist, and a compile never fails because of customer input. No function here throws, for
 * any input.
 */
import { type Diagnostic, type FieldPath, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { isObject } from '../../base/text/json-object.ts';
import {
  MAX_DOMAIN_IPS,
  MAX_LISTS,
  MAX_RECORDS,
  MAX_RULE_LISTS,
  MAX_RULES,
} from '../../base/vocabulary/limits.ts';
import { RULE_TYPES, type RuleType } from '../../base/vocabulary/vocabulary.ts';
import type { StoredRule } from './common.ts';
import { addressesOf } from './conditions.ts';
import { domainForm, domainName } from './domain.ts';
import { id } from './fields.ts';
import { plainCopy, type ReadContext, readForm } from './form.ts';
import { habitualType } from './habits.ts';
import { judgeList, listsOf } from './list-names.ts';
import { type EntryList, readNamedList } from './lists.ts';
import { nearest } from './nearest.ts';
import { createPatternBook, type PatternBook } from './pattern.ts';
import { recordForm } from './record.ts';
import { judgeOwnTarget, judgeRecordName } from './record-name.ts';
import {
  isEmptyRegistry,
  REGISTRY_LISTS,
  type Registry,
  type RegistryNames,
  readRegistry,
  registryNames,
} from './registry/registry.ts';
import { judgeReference, referencesOf } from './registry-references.ts';
import { createReport, type Problem, type Report, readIssue, unknownField } from './report.ts';
import { ruleForm } from './rule.ts';
import { judgeTag, type NameableRule, taggingBefore, tagsOf } from './tags.ts';
import type { DnsRecord, Domain, Rule, RuleSet } from './types.ts';

/**
 * The result of a parse: the value under the name `Key`, or a refusal. The diagnostics are complete in both cases, up to
 * `MAX_DIAGNOSTICS`; those of a success are warnings.
 */
export type Parsed<Key extends string, Value> =
  | ({ readonly ok: true; readonly diagnostics: readonly Diagnostic[] } & { readonly [K in Key]: Value })
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** The state of one parse. */
export interface ModelReading {
  readonly report: Report;
  readonly patterns: PatternBook;
}

/** Whether the input is a new write or a stored object. */
export interface StoredOption {
  /** The object is already stored: what only this version refuses becomes a warning. Default `false`. */
  readonly stored?: boolean;
}

/** The options of `parseRule`. */
interface RuleOptions extends StoredOption {
  /** Ids of the records of the domain; absent: record ids are not checked. */
  readonly recordIds?: ReadonlySet<number>;
}

/** The top-level fields of a rule set; any other is an error. */
const TOP_FIELDS = ['domain', 'records', 'rules', 'lists', 'registry', 'entitlements'] as const;

/** Those of an edge file, which has gateways and the lists of a registry beside the others. */
const FILE_FIELDS = [
  ...TOP_FIELDS.filter((name) => name !== 'registry'),
  ...REGISTRY_LISTS,
  'gateways',
] as const;

/** An edge file in place of a rule set; its other fields differ too, so that only this mistake is reported. */
const EDGE_FILE_SHAPE = {
  code: 'invalid_type',
  message: 'must be an object',
  remedy:
    'this is the shape of an edge file: read its text with `readEdgeFile`, compile it with `edgeplan compile`, or give it to `createEdge({ file })`',
} as const;

/** The options of `parseRuleSet`. */
interface RuleSetOptions {
  /** Keys of rules by id, by which tags may name them; absent: tags name ids alone. */
  readonly ruleKeys?: ReadonlyMap<number, string>;
  /** Lists that were read already, in place of those of the rule set. */
  readonly lists?: readonly EntryList[];
  /** The registry of an edge file, which was read already from its own lists. */
  readonly registry?: Registry;
  /** The names of that registry. */
  readonly names?: RegistryNames;
  /** The rules are some of those of a domain: a tag may name the id of another one. */
  readonly partial?: boolean;
}

/**
 * Reads `{ domain, records, rules }`; each rule carries its `type` and `id`, each record its `id`. `entitlements` is
 * accepted and ignored: the entitlements of the subscription are checked when a rule is written. All mistakes are
 * reported together, with their field paths; warnings alone do not refuse the input.
 */
export function parseRuleSet(input: unknown, options: RuleSetOptions = {}): Parsed<'ruleSet', RuleSet> {
  return collect('ruleSet', input, (plain, reading) => {
    if (!isObject(plain)) {
      const message = 'must be an object with `domain`, `records` and `rules`';
      reading.report.add('error', [], { code: 'invalid_type', message, found: quoteValue(plain) });
      return null;
    }
    const known: readonly string[] = options.registry === undefined ? TOP_FIELDS : FILE_FIELDS;
    for (const name of Object.keys(plain)) {
      if (reading.report.full()) break;
      if (known.includes(name)) continue;
      const { problem } = unknownField({ name, value: own(plain, name), known });
      reading.report.add('error', [name], problem);
    }
    const named = own(plain, 'domain');
    if (typeof named === 'string') {
      reading.report.add('error', ['domain'], { ...EDGE_FILE_SHAPE, found: quoteValue(named) });
      return null;
    }
    const domain = readForm(domainForm, named, { ...reading, path: ['domain'] });
    const records = readRecords(own(plain, 'records') ?? [], nameOf(plain), reading);
    const rules = readRules(own(plain, 'rules') ?? [], recordIdsOf(own(plain, 'records')), reading);
    const lists = options.lists ?? readLists(own(plain, 'lists') ?? [], reading.report);
    const registry =
      options.registry ?? readRegistry(own(plain, 'registry') ?? {}, { ...reading, path: ['registry'] });
    const checks = { ...options, listed: own(plain, 'rules'), report: reading.report };
    if (rules !== null) checkTags(rules, checks);
    if (rules !== null && lists !== null) checkLists(rules, lists, checks);
    const names = options.names ?? registryNames(own(plain, 'registry'));
    if (rules !== null) checkReferences(rules, names, checks);
    if (domain === null || records === null || rules === null || lists === null || registry === null)
      return null;
    return {
      ...{ domain, records, rules },
      ...(lists.length === 0 ? {} : { lists }),
      ...(isEmptyRegistry(registry) ? {} : { registry }),
    };
  });
}

/**
 * Reads the fields of one rule of a known type, as a create or a merged update has them. With `recordIds`, every
 * entry of `record_ids` must be among them. `id`, `type` and other fields of answers are accepted and ignored.
 */
export function parseRule(
  type: RuleType,
  input: unknown,
  { recordIds, stored = false }: RuleOptions = {},
): Parsed<'fields', StoredRule<Rule>> {
  return collect('fields', input, (plain, reading) =>
    readRuleFields(type, plain, { ...reading, path: [], recordIds, stored }),
  );
}

/** Reads one record; `domain` is the canonical name of its domain, against which relative names are resolved. */
export function parseRecord(
  input: unknown,
  domain: string,
  { stored = false }: StoredOption = {},
): Parsed<'record', DnsRecord> {
  return collect('record', input, (plain, { report, patterns }) => {
    const record = readForm(recordForm, plain, { report, patterns, path: [], stored });
    if (record !== null) checkName(record, domain, { report, path: [], stored });
    return record;
  });
}

/** Reads the fields of a domain that a rule set contains (`domainForm`). */
export function parseDomain(input: unknown): Parsed<'domain', Domain> {
  return collect('domain', input, (plain, reading) => readForm(domainForm, plain, { ...reading, path: [] }));
}

/**
 * Runs a reader over a plain copy of the input, and returns its value only without errors. The pattern budget is new.
 */
export function collect<Key extends string, Value>(
  key: Key,
  input: unknown,
  read: (plain: unknown, reading: ModelReading) => Value | null,
): Parsed<Key, Value> {
  const report = createReport();
  const plain = plainCopy(input);
  if (plain === null)
    report.add('error', [], { code: 'unreadable', message: 'must be plain data', found: null });
  const value = plain === null ? null : read(plain.value, { report, patterns: createPatternBook() });
  const diagnostics = report.diagnostics();
  if (value === null || report.errors() > 0) return { ok: false, diagnostics };
  return { ok: true, diagnostics, [key]: value } as Parsed<Key, Value>;
}

/**
 * Reads the records of a rule set; `domain`: the canonical name, `null` when it is invalid, so names are not checked.
 */
function readRecords(
  input: unknown,
  domain: string | null,
  { report, patterns }: ModelReading,
): DnsRecord[] | null {
  const entries = readList(input, ['records'], MAX_RECORDS, report);
  if (entries === null) return null;
  const records: DnsRecord[] = [];
  const seen = new Set<number>();
  for (const [index, entry] of entries.entries()) {
    if (report.full()) break;
    const path = ['records', index];
    const record = readForm(recordForm, entry, { report, patterns, path });
    noteId(record?.id, seen, path, report);
    if (record === null) continue;
    if (domain !== null) checkName(record, domain, { report, path, stored: false });
    records.push(record);
  }
  return records;
}

/** Reports a record name outside the domain, and a CNAME or ALIAS record that points to itself. */
function checkName(
  record: DnsRecord,
  domain: string,
  { report, path, stored }: { report: Report; path: FieldPath; stored: boolean },
): void {
  const problem = judgeRecordName(record.name, domain);
  if (problem !== null)
    report.add('error', [...path, 'name'], { found: quoteValue(record.name), ...problem });
  const loop = judgeOwnTarget(record, domain);
  if (loop === null) return;
  const problemOfTarget = { found: quoteValue(record.destination), ...loop };
  report.add(stored ? 'warning' : 'error', [...path, 'destination'], problemOfTarget);
}

/**
 * Reads the rules of a rule set in order. `null` when the list is no list or too long; rules with errors are left out.
 */
function readRules(input: unknown, recordIds: ReadonlySet<number>, reading: ModelReading): Rule[] | null {
  const { report } = reading;
  const entries = readList(input, ['rules'], MAX_RULES, report);
  if (entries === null) return null;
  const rules: Rule[] = [];
  const seen = new Set<number>();
  for (const [index, entry] of entries.entries()) {
    if (report.full()) break;
    const path = ['rules', index];
    if (!isObject(entry)) {
      report.add('error', path, {
        code: 'invalid_type',
        message: 'must be an object',
        found: quoteValue(entry),
      });
      continue;
    }
    const ruleId = readId(own(entry, 'id'), path, report);
    noteId(ruleId, seen, path, report);
    const type = readType(own(entry, 'type'), path, report);
    if (type === null) continue;
    const fields = readRuleFields(type, entry, { ...reading, path, recordIds });
    if (fields !== null && ruleId !== undefined) rules.push({ id: ruleId, type, ...fields } as Rule);
  }
  checkAddressTotal(rules, report);
  return rules;
}

/** Checks `MAX_DOMAIN_IPS` over all rules; the message names the rule that exceeds it. */
function checkAddressTotal(rules: readonly Rule[], report: Report): void {
  let total = 0;
  for (const rule of rules) {
    total += addressesOf(rule);
    if (total <= MAX_DOMAIN_IPS) continue;
    const message = `with rule ${rule.id} the rules of the domain list more than ${MAX_DOMAIN_IPS} addresses`;
    report.add('error', ['rules'], { code: 'address_budget', message, remedy: 'use prefixes or ranges' });
    return;
  }
}

/** Reads the lists of a rule set: `{ name, kind, entries }`. `null` when they are no list, or too many. */
function readLists(input: unknown, report: Report): EntryList[] | null {
  const given = readList(input, ['lists'], MAX_LISTS, report);
  if (given === null) return null;
  const lists: EntryList[] = [];
  const names = new Set<string>();
  for (const [index, list] of given.entries()) {
    if (report.full()) break;
    const read = readNamedList(list, { path: ['lists', index], report });
    if (read === null) continue;
    if (names.has(read.name)) {
      const message = 'is the name of an earlier list; names must differ';
      report.add('error', ['lists', index, 'name'], {
        code: 'list_name',
        message,
        found: quoteValue(read.name),
      });
    }
    names.add(read.name);
    lists.push(read);
  }
  return lists;
}

/** What references of rules are checked with. */
interface ReferenceChecks extends RuleSetOptions {
  /** The rules as they were written. */
  readonly listed: unknown;
  readonly report: Report;
}

/** Checks the tags that rules name. Rules with mistakes of their own may be named. */
function checkTags(
  rules: readonly Rule[],
  { listed, ruleKeys, partial = false, report }: ReferenceChecks,
): void {
  if (rules.every((rule) => tagsOf(rule).length === 0)) return;
  const written = Array.isArray(listed) ? listed : [];
  const named = written.flatMap((entry): NameableRule[] => {
    const [type, ruleId] = isObject(entry) ? [own(entry, 'type'), own(entry, 'id')] : [];
    if (typeof ruleId !== 'number' || !(RULE_TYPES as readonly unknown[]).includes(type)) return [];
    return [{ type: type as RuleType, id: ruleId, key: ruleKeys?.get(ruleId) }];
  });
  const places = placesOf(listed);
  for (const rule of rules) {
    const { id: ruleId, type } = rule;
    for (const { tag, path } of tagsOf(rule)) {
      if (report.full()) return;
      const isElsewhere = partial && taggingBefore(type).some((one) => isIdOf(one, tag));
      const problem = isElsewhere ? null : judgeTag(tag, type, named);
      if (problem !== null) report.add('error', ['rules', places.get(ruleId)!, ...path], problem);
    }
  }
}

/** Checks the lists that rules name, and how many they are. */
function checkLists(
  rules: readonly Rule[],
  lists: readonly EntryList[],
  { listed, partial = false, report }: ReferenceChecks,
): void {
  const kinds = new Map(lists.map(({ name, kind }) => [name, kind]));
  const places = placesOf(listed);
  const used = new Set<string>();
  for (const rule of rules) {
    for (const named of listsOf(rule)) {
      if (report.full()) return;
      used.add(named.name);
      const isElsewhere = partial && !kinds.has(named.name);
      const problem = isElsewhere ? null : judgeList(named, kinds);
      if (problem !== null) report.add('error', ['rules', places.get(rule.id)!, ...named.path], problem);
    }
  }
  if (used.size <= MAX_RULE_LISTS) return;
  const message = `must name at most ${MAX_RULE_LISTS} lists`;
  report.add('error', ['rules'], {
    code: 'too_many',
    message,
    found: String(used.size),
    remedy: 'join lists of one kind',
  });
}

/** Checks the usage plans and token issuers that gateways name. Those of a domain may be elsewhere than some of its rules. */
function checkReferences(
  rules: readonly Rule[],
  names: RegistryNames,
  { listed, partial = false, report }: ReferenceChecks,
): void {
  if (partial || rules.every(({ type }) => type !== 'gateway')) return;
  const places = placesOf(listed);
  for (const rule of rules) {
    for (const named of referencesOf(rule.type, rule)) {
      if (report.full()) return;
      const problem = judgeReference(named, names);
      if (problem !== null) report.add('error', ['rules', places.get(rule.id)!, ...named.path], problem);
    }
  }
}

/** The places of rules by their ids. */
function placesOf(listed: unknown): ReadonlyMap<unknown, number> {
  const written = Array.isArray(listed) ? listed : [];
  return new Map(written.map((entry, index) => [isObject(entry) ? own(entry, 'id') : undefined, index]));
}

/** Whether a tag is `<type>/<id>`. */
function isIdOf(type: RuleType, tag: string): boolean {
  return tag.startsWith(`${type}/`) && /^[1-9][0-9]{0,9}$/.test(tag.slice(type.length + 1));
}

/** The context of one rule; `recordIds` as in `RuleOptions`. */
interface RuleReading extends ReadContext {
  readonly recordIds: ReadonlySet<number> | undefined;
}

/** Reads one rule of a known type by its form, and checks its record ids where `recordIds` is given. */
function readRuleFields(
  type: RuleType,
  input: unknown,
  { recordIds, ...context }: RuleReading,
): StoredRule<Rule> | null {
  const fields = readForm(ruleForm(type), input, context);
  if (recordIds === undefined || !isObject(input)) return fields;
  // Read from the input, not from `fields`, so that record ids are checked even when another field is wrong.
  const list = own(input, 'record_ids');
  const single = own(input, 'record_id');
  const scope = Array.isArray(list) ? list.slice(0, MAX_RECORDS) : [];
  let foreign = 0;
  for (const [index, recordId] of scope.entries()) {
    if (!Number.isInteger(recordId) || recordIds.has(recordId as number)) continue;
    context.report.add('error', [...context.path, 'record_ids', index], FOREIGN_RECORD);
    foreign++;
  }
  if (scope.length === 0 && typeof single === 'number' && !recordIds.has(single)) {
    context.report.add('error', [...context.path, 'record_id'], FOREIGN_RECORD);
    foreign++;
  }
  return foreign === 0 ? fields : null;
}

/** The problem of a record id of another domain. The API document prescribes the message. */
const FOREIGN_RECORD: Problem = {
  code: 'foreign_record',
  message: 'record_ids do not belong to this domain',
  found: null,
};

/** Reads the type of a rule; reports a missing or unknown one and returns `null`. */
function readType(given: unknown, path: FieldPath, report: Report): RuleType | null {
  if ((RULE_TYPES as readonly unknown[]).includes(given)) return given as RuleType;
  const names = RULE_TYPES.map((type) => `\`${type}\``).join(', ');
  const meant = typeof given === 'string' ? (nearest(given, RULE_TYPES) ?? habitualType(given)) : null;
  report.add('error', [...path, 'type'], {
    code: given === undefined ? 'missing_field' : 'unknown_type',
    message: given === undefined ? `is missing; it must be one of ${names}` : `must be one of ${names}`,
    found: given === undefined ? null : quoteValue(given),
    ...(meant === null ? {} : { remedy: `did you mean \`${meant}\`?` }),
  });
  return null;
}

/** The schema of ids, built once. */
const ID = id();

/** Reads the id of a rule; reports an invalid one and returns `undefined`. */
function readId(given: unknown, path: FieldPath, report: Report): number | undefined {
  const result = ID.safeParse(given);
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    for (const { problem } of readIssue(issue, given, {})) report.add('error', [...path, 'id'], problem);
  }
  return undefined;
}

/** Adds an id to `seen`, and reports one that is there already. */
function noteId(value: number | undefined, seen: Set<number>, path: FieldPath, report: Report): void {
  if (value === undefined) return;
  if (seen.has(value)) {
    const message = `is the id of an earlier ${path[0] === 'rules' ? 'rule' : 'record'}; ids must differ`;
    report.add('error', [...path, 'id'], { code: 'duplicate_id', message, found: String(value) });
  }
  seen.add(value);
}

/** The ids of all records, including invalid ones, so that a mistake in a record is not reported again at each rule. */
function recordIdsOf(input: unknown): ReadonlySet<number> {
  const ids = new Set<number>();
  if (!Array.isArray(input)) return ids;
  for (const entry of input) {
    const value = isObject(entry) ? own(entry, 'id') : undefined;
    if (typeof value === 'number') ids.add(value);
  }
  return ids;
}

/** The canonical name of the domain; `null` when it is invalid. Mistakes in other fields do not matter. */
function nameOf(input: object): string | null {
  const domain = own(input, 'domain');
  return isObject(domain) ? (domainName.safeParse(own(domain, 'name')).data ?? null) : null;
}

/** Checks that a value is a list of at most `most` entries; otherwise reports it and returns `null`. */
function readList(input: unknown, path: FieldPath, most: number, report: Report): readonly unknown[] | null {
  if (!Array.isArray(input)) {
    report.add('error', path, { code: 'invalid_type', message: 'must be a list', found: quoteValue(input) });
    return null;
  }
  if (input.length <= most) return input;
  report.add('error', path, {
    code: 'too_many',
    message: `must have at most ${most} entries`,
    found: `${input.length}`,
  });
  return null;
}

/** The own property of that name; inherited ones (`__proto__`, `constructor`) are `undefined`. */
function own(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

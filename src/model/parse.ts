/**
 * From whatever a customer wrote to a `RuleSet`, or to every mistake in it. This is the door: what comes through has
 * all its defaults, canonical addresses, valid patterns within their budgets and ids that exist, so that a compile
 * never fails for what a customer wrote. Nothing here throws, whatever the input.
 */
import { type Diagnostic, type FieldPath, quoteValue } from '../base/diagnostic.ts';
import { MAX_DOMAIN_IPS, MAX_RECORDS, MAX_RULES } from '../base/limits.ts';
import { RULE_TYPES, type RuleType } from '../base/vocabulary.ts';
import type { StoredRule } from './common.ts';
import { domainForm, domainName } from './domain.ts';
import { id } from './fields.ts';
import { type ReadContext, readForm } from './form.ts';
import { nearest } from './nearest.ts';
import { createPatternBook, type PatternBook } from './pattern.ts';
import { plainCopy } from './plain.ts';
import { recordForm } from './record.ts';
import { judgeOwnTarget, judgeRecordName } from './record-name.ts';
import { createReport, type Problem, type Report, readIssue, unknownField } from './report.ts';
import { ruleForm } from './rule.ts';
import type { DnsRecord, Domain, Rule, RuleSet } from './types.ts';

export type Parsed<Key extends string, Value> =
  | ({ readonly ok: true; readonly diagnostics: readonly Diagnostic[] } & { readonly [K in Key]: Value })
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

interface Reading {
  readonly report: Report;
  readonly patterns: PatternBook;
}

interface StoredOption {
  /** It was accepted once: what this version has come to refuse is only warned of. */
  readonly stored?: boolean;
}

interface RuleOptions extends StoredOption {
  readonly recordIds?: ReadonlySet<number>;
}

const TOP_FIELDS = ['domain', 'records', 'rules', 'entitlements'] as const;

/**
 * Reads `{ domain, records, rules }`; each rule carries its `type` and `id`, each record its `id`. `entitlements` is
 * accepted and ignored: what a plan allows was settled when the rules were written. All mistakes are reported
 * together, with their field paths; warnings alone do not refuse the input.
 */
export function parseRuleSet(input: unknown): Parsed<'ruleSet', RuleSet> {
  return collect('ruleSet', input, (plain, reading) => {
    if (!isObject(plain)) {
      const message = 'must be an object with `domain`, `records` and `rules`';
      reading.report.add('error', [], { code: 'invalid_type', message, found: quoteValue(plain) });
      return null;
    }
    for (const name of Object.keys(plain)) {
      if (reading.report.full()) break;
      if ((TOP_FIELDS as readonly string[]).includes(name)) continue;
      reading.report.add('error', [name], unknownField(nearest(name, TOP_FIELDS)));
    }
    const domain = readForm(domainForm, own(plain, 'domain'), { ...reading, path: ['domain'] });
    const records = readRecords(own(plain, 'records') ?? [], nameOf(plain), reading);
    const rules = readRules(own(plain, 'rules') ?? [], recordIdsOf(own(plain, 'records')), reading);
    return domain === null || records === null || rules === null ? null : { domain, records, rules };
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

/** Reads one record of the domain of that name. */
export function parseRecord(
  input: unknown,
  domain: string,
  { stored = false }: StoredOption = {},
): Parsed<'record', DnsRecord> {
  return collect('record', input, (plain, { report, patterns }) => {
    const record = readForm(recordForm, plain, { report, patterns, path: [], stored });
    if (record !== null) tellName(record, domain, { report, path: [], stored });
    return record;
  });
}

/** Reads the domain's own part. */
export function parseDomain(input: unknown): Parsed<'domain', Domain> {
  return collect('domain', input, (plain, reading) => readForm(domainForm, plain, { ...reading, path: [] }));
}

/** Runs a reader over plain data and hands back its value only when there was no error. */
function collect<Key extends string, Value>(
  key: Key,
  input: unknown,
  read: (plain: unknown, reading: Reading) => Value | null,
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

function readRecords(
  input: unknown,
  domain: string | null,
  { report, patterns }: Reading,
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
    if (domain !== null) tellName(record, domain, { report, path, stored: false });
    records.push(record);
  }
  return records;
}

function tellName(
  record: DnsRecord,
  domain: string,
  { report, path, stored }: { report: Report; path: FieldPath; stored: boolean },
): void {
  const problem = judgeRecordName(record.name, domain);
  if (problem !== null)
    report.add('error', [...path, 'name'], { found: quoteValue(record.name), ...problem });
  const loop = judgeOwnTarget(record, domain);
  if (loop === null) return;
  const told = { found: quoteValue(record.destination), ...loop };
  report.add(stored ? 'warning' : 'error', [...path, 'destination'], told);
}

function readRules(input: unknown, recordIds: ReadonlySet<number>, reading: Reading): Rule[] | null {
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
  tellAddresses(rules, report);
  return rules;
}

/** Holds the domain to its address entries, told at the rule that breaks the budget. */
function tellAddresses(rules: readonly Rule[], report: Report): void {
  let total = 0;
  for (const rule of rules) {
    if (rule.type !== 'drop') continue;
    total += rule.ips.length;
    if (total <= MAX_DOMAIN_IPS) continue;
    const message = `with rule ${rule.id} the drop rules of the domain list more than ${MAX_DOMAIN_IPS} addresses`;
    report.add('error', ['rules'], { code: 'address_budget', message, remedy: 'use prefixes or ranges' });
    return;
  }
}

interface RuleReading extends ReadContext {
  readonly recordIds: ReadonlySet<number> | undefined;
}

function readRuleFields(
  type: RuleType,
  input: unknown,
  { recordIds, ...context }: RuleReading,
): StoredRule<Rule> | null {
  const fields = readForm(ruleForm(type), input, context);
  if (recordIds === undefined || !isObject(input)) return fields;
  // Read from the input, so that ids are judged also where another field is wrong.
  const list = own(input, 'record_ids');
  const single = own(input, 'record_id');
  const scope = Array.isArray(list) ? list.slice(0, MAX_RECORDS) : [];
  let strangers = 0;
  for (const [index, recordId] of scope.entries()) {
    if (!Number.isInteger(recordId) || recordIds.has(recordId as number)) continue;
    context.report.add('error', [...context.path, 'record_ids', index], STRANGER);
    strangers++;
  }
  if (scope.length === 0 && typeof single === 'number' && !recordIds.has(single)) {
    context.report.add('error', [...context.path, 'record_id'], STRANGER);
    strangers++;
  }
  return strangers === 0 ? fields : null;
}

/** Worded by the API document. */
const STRANGER: Problem = {
  code: 'foreign_record',
  message: 'record_ids do not belong to this domain',
  found: null,
};

function readType(given: unknown, path: FieldPath, report: Report): RuleType | null {
  if ((RULE_TYPES as readonly unknown[]).includes(given)) return given as RuleType;
  const names = RULE_TYPES.map((type) => `\`${type}\``).join(', ');
  const meant = typeof given === 'string' ? nearest(given, RULE_TYPES) : null;
  report.add('error', [...path, 'type'], {
    code: given === undefined ? 'missing_field' : 'unknown_type',
    message: given === undefined ? `is missing; it must be one of ${names}` : `must be one of ${names}`,
    found: given === undefined ? null : quoteValue(given),
    ...(meant === null ? {} : { remedy: `did you mean \`${meant}\`?` }),
  });
  return null;
}

const ID = id();

function readId(given: unknown, path: FieldPath, report: Report): number | undefined {
  const result = ID.safeParse(given);
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    for (const { problem } of readIssue(issue, given, {})) report.add('error', [...path, 'id'], problem);
  }
  return undefined;
}

function noteId(value: number | undefined, seen: Set<number>, path: FieldPath, report: Report): void {
  if (value === undefined) return;
  if (seen.has(value)) {
    const message = `is the id of an earlier ${path[0] === 'rules' ? 'rule' : 'record'}; ids must differ`;
    report.add('error', [...path, 'id'], { code: 'duplicate_id', message, found: String(value) });
  }
  seen.add(value);
}

/** The ids of all records, also of those with mistakes, so that one mistake is not told twice. */
function recordIdsOf(input: unknown): ReadonlySet<number> {
  const ids = new Set<number>();
  if (!Array.isArray(input)) return ids;
  for (const entry of input) {
    const value = isObject(entry) ? own(entry, 'id') : undefined;
    if (typeof value === 'number') ids.add(value);
  }
  return ids;
}

/** The domain's name where it is well-formed, whatever the domain's other fields are. */
function nameOf(input: object): string | null {
  const domain = own(input, 'domain');
  return isObject(domain) ? (domainName.safeParse(own(domain, 'name')).data ?? null) : null;
}

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

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function own(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

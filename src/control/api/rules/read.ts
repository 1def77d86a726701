/**
 * Reads a rule as a customer wrote it, merged with the stored rule for an update. Everything that could make a compile
 * fail is found here and answered with a 400 (semantics §6).
 */
import type { Diagnostic } from '../../../base/diagnostics/diagnostic.ts';
import { sha256Hex } from '../../../base/platform/cryptography.ts';
import { isObject } from '../../../base/text/json-object.ts';
import { MAX_DOMAIN_IPS, MAX_DOMAIN_SCANS, MAX_ID, MAX_RECORDS } from '../../../base/vocabulary/limits.ts';
import type { RuleType } from '../../../base/vocabulary/vocabulary.ts';
import type { StoredRule } from '../../../rules/model/common.ts';
import { addressesOf, type Conditions, hasConditions, regexesOf } from '../../../rules/model/conditions.ts';
import { readForm } from '../../../rules/model/form.ts';
import { parseRule } from '../../../rules/model/parse.ts';
import {
  createPatternBook,
  type ExistingPatterns,
  patternCost,
  patternKey,
  type RegexSubject,
} from '../../../rules/model/pattern.ts';
import { createReport } from '../../../rules/model/report.ts';
import { originsOfRule, ruleForm } from '../../../rules/model/rule.ts';
import { judgeTag, type NameableRule, TAGGING_TYPES, tagsOf } from '../../../rules/model/tags.ts';
import type { DropRule, OriginRouteRule, Rule } from '../../../rules/model/types.ts';
import { refuseFeature } from '../../accounts/entitlements.ts';
import type { RuleWrite } from '../../store/repositories/rules.ts';
import type { WriteTransaction } from '../../store/store.ts';
import type { PatternRow, RuleRow } from '../../store/tables/rules.ts';
import { wrongInput } from '../operation/read-request.ts';
import { forbidden } from '../operation/refusal.ts';
import type { Writing } from '../operation/route.ts';
import { refuseSpecial } from '../origins.ts';
import { judgeLists } from './named-lists.ts';
import { judgeReferences } from './registry-references.ts';
import { REMOVED_BY_NULL } from './shapes.ts';
import { bodyOf, type RuleBody } from './show.ts';

/** The input of `readRule`; `before`: the row that an update changes. */
export interface RuleInput {
  readonly type: RuleType;
  readonly input: unknown;
  readonly before?: RuleRow;
  /** Only `enabled` changes, which is always possible, even where this version would refuse the rule. */
  readonly toggled?: true;
}

/** The fields of a rule after all checks but that of its order. @throws Refusal 400, or 403 for a host header */
export async function readRule(
  w: Writing,
  { type, input, before, toggled }: RuleInput,
): Promise<StoredRule<Rule>> {
  const whole = before === undefined ? input : mergeRule(before, input);
  const stored = before === undefined ? [] : bodyOf(before).record_ids;
  const recordIds = await knownRecords(w, idsIn(whole), stored);
  const parsed = parseRule(type, whole, {
    ...(recordIds === null ? {} : { recordIds }),
    stored: toggled === true,
  });
  if (!parsed.ok) throw wrongInput(parsed.diagnostics);
  const special =
    toggled === true ? null : refuseSpecial(w.specialOrigin, originsOfRule(type, parsed.fields));
  if (special !== null) throw special;
  await judgePatterns(w, { type, whole, ...(before === undefined ? {} : { before }) });
  if (toggled !== true) await judgeLists(w, { type, fields: parsed.fields, before });
  if (toggled !== true) await judgeReferences(w, { type, fields: parsed.fields, before });
  if (toggled !== true) await judgeTags(w, { type, fields: parsed.fields, before });
  await judgeAddresses(w, parsed.fields, before);
  await judgeHostHeader(w, parsed.fields, before);
  return located(w, type, parsed.fields);
}

/**
 * Sets an origin's country from its address, where a geo database is configured (semantics §5 origin_route). An origin
 * with a name has the country that the customer wrote.
 */
function located(w: Writing, type: RuleType, fields: StoredRule<Rule>): StoredRule<Rule> {
  if (type !== 'origin_route') return fields;
  const route = fields as StoredRule<OriginRouteRule>;
  const located: StoredRule<OriginRouteRule> = {
    ...route,
    country: w.countryOf(route.address) ?? route.country,
  };
  return located;
}

/**
 * Merges a partial update into a stored rule. A single `record_id` replaces the list; `health_check` is merged field by
 * field; an absent host match type is derived from the lists (semantics §6).
 */
function mergeRule(before: RuleRow, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const stored = bodyOf(before);
  const merged: Record<string, unknown> = { ...stored, priority: before.priority, ...patch };
  if (Object.hasOwn(patch, 'record_id') && !Object.hasOwn(patch, 'record_ids')) delete merged['record_ids'];
  const { health_check: health } = patch as { readonly health_check?: unknown };
  if (isObject(health)) merged['health_check'] = { ...(stored['health_check'] as object), ...health };
  if (before.type === 'gateway')
    for (const name of REMOVED_BY_NULL) if (merged[name] === null) delete merged[name];
  if (!Object.hasOwn(patch, 'host_match_type')) {
    const listed = [merged['host_pattern'], merged['host_includes'], merged['host_excludes']];
    if (listed.every(isEmpty)) merged['host_match_type'] = '';
    else if (merged['host_match_type'] === '') delete merged['host_match_type'];
  }
  return merged;
}

/** Whether a host field has no entry. */
function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0);
}

/** The record ids in an input; values that cannot be ids are skipped, and the form refuses them. */
function idsIn(input: unknown): readonly number[] {
  if (!isObject(input)) return [];
  const { record_id: single, record_ids: list } = input as Readonly<Record<string, unknown>>;
  const named = [...(Array.isArray(list) ? list.slice(0, MAX_RECORDS) : []), single];
  return [...new Set(named)].filter(
    (id): id is number => typeof id === 'number' && Number.isInteger(id) && id >= 1 && id <= MAX_ID,
  );
}

/** Records up to which single reads are cheaper than a read of the whole list. */
const MAX_SINGLE_READS = 8;

/**
 * The ids that are records of the domain; `null`: the input names none. Ids that the stored rule has stay valid after
 * their records were deleted (semantics §2): ids are never reused, so they cannot name another domain's record.
 */
async function knownRecords(
  { tx, domain }: Writing,
  ids: readonly number[],
  stored: readonly number[],
): Promise<ReadonlySet<number> | null> {
  if (ids.length === 0) return null;
  const known = new Set(stored);
  const open = ids.filter((id) => !known.has(id));
  if (open.length > MAX_SINGLE_READS) {
    for (const { id } of await tx.records.list(domain.id)) known.add(id);
    return known;
  }
  for (const id of open) {
    if ((await tx.records.get(domain.id, id)) !== null) known.add(id);
  }
  return known;
}

/** The tags of a rule. */
interface TagInput {
  readonly type: RuleType;
  readonly fields: StoredRule<Rule>;
  readonly before: RuleRow | undefined;
}

/**
 * Checks that each tag is `<type>/<id>` of a rule of the domain that tags requests before. Tags that the stored rule has stay
 * valid after the named rule was deleted, as record ids do. @throws Refusal 400
 */
async function judgeTags({ tx, domain }: Writing, { type, fields, before }: TagInput): Promise<void> {
  const stored = before === undefined ? {} : (bodyOf(before) as Partial<StoredRule<Rule>>);
  const had = new Set(tagsOf(stored).map(({ tag }) => tag));
  const open = tagsOf(fields).filter(({ tag }) => !had.has(tag));
  if (open.length === 0) return;
  const named: NameableRule[] = [];
  for (const tagging of TAGGING_TYPES) {
    for (const { id } of await tx.rules.order(domain.id, tagging)) named.push({ type: tagging, id });
  }
  const report = createReport();
  for (const { tag, path } of open) {
    const problem = judgeTag(tag, type, named);
    if (problem !== null) report.add('error', path, problem);
  }
  if (report.errors() > 0) throw wrongInput(report.diagnostics());
}

/** Checks the bound on address entries of all rules of a domain; a rule that adds none is not checked. */
async function judgeAddresses(
  { tx, domain }: Writing,
  fields: StoredRule<Rule>,
  before: RuleRow | undefined,
): Promise<void> {
  const had = before === undefined ? 0 : addressesOf(bodyOf(before) as Partial<StoredRule<DropRule>>);
  const wanted = addressesOf(fields);
  if (wanted <= had) return;
  const totals = await tx.rules.totals(domain.id);
  const total = totals.reduce((sum, { addresses }) => sum + addresses, 0) - had + wanted;
  if (total <= MAX_DOMAIN_IPS) return;
  const diagnostic: Diagnostic = {
    code: 'address_budget',
    severity: 'error',
    path: addressesOf({ conditions: fields.conditions }) === wanted ? ['conditions', 'ips'] : ['ips'],
    message: `the rules of a domain must list at most ${MAX_DOMAIN_IPS} addresses together`,
    found: String(total),
    remedy: 'use prefixes or ranges',
  };
  throw wrongInput([diagnostic]);
}

/** Checks the feature that a new host header needs; a stored one may stay. @throws Refusal 403 */
async function judgeHostHeader(w: Writing, fields: object, before: RuleRow | undefined): Promise<void> {
  const wanted = 'host_header' in fields ? fields.host_header : '';
  if (wanted === '' || (before !== undefined && bodyOf(before)['host_header'] === wanted)) return;
  const closed = refuseFeature(await w.entitlements(), 'host_header_edit_enabled');
  if (closed !== null) throw forbidden(closed);
}

// Checks the regexes of a rule against the budgets of its domain. The cost of each regex is stored when its rule is
// written, so a write builds automata only for its own patterns, and reads the costs of others only where they share a
// chain of prefixes with them.

/** One regex of a filter. */
interface Use extends RegexSubject {
  readonly source: string;
}

/** The distinct regexes of a rule's filters and conditions; hosts match without case. */
function patternsOf(fields: Readonly<Record<string, unknown>>): readonly Use[] {
  const uses = new Map<string, Use>();
  const add = (value: unknown, subject: RegexSubject): void => {
    for (const source of Array.isArray(value) ? value : [value]) {
      if (typeof source !== 'string' || source === '') continue;
      const use = { source, ...subject };
      uses.set(digestOf(use), use);
    }
  };
  if (fields['host_match_type'] === 'regex') {
    for (const name of ['host_pattern', 'host_includes', 'host_excludes']) add(fields[name], OF_HOSTS);
  }
  if (fields['path_match_type'] === 'regex') {
    for (const name of ['path_includes', 'path_excludes']) add(fields[name], OF_PATHS);
  }
  if (hasConditions(fields['conditions'] as Conditions | undefined)) {
    for (const { source, ignoreCase, of } of regexesOf(fields['conditions'] as Conditions))
      add(source, { ignoreCase, of });
  }
  return [...uses.values()];
}

const OF_HOSTS: RegexSubject = { ignoreCase: true, of: 'host' };
const OF_PATHS: RegexSubject = { ignoreCase: false, of: 'path' };

/** The digest that the store identifies a regex by, within a domain. */
function digestOf({ source, ...subject }: Use): string {
  return sha256Hex(patternKey(source, subject));
}

/** Costs are stored in eighths of a scan, so that a path's octet (one) and a host's (eight) are whole numbers. */
const EIGHTHS = 8;

/** The rows that the store has for the regexes of a rule. */
function patternRows(fields: Readonly<Record<string, unknown>>): readonly PatternRow[] {
  const rows: PatternRow[] = [];
  for (const use of patternsOf(fields)) {
    const cost = patternCost(use.source, use);
    if (cost === null) continue;
    const { octets, build, scans, prefix } = cost;
    rows.push({ digest: digestOf(use), octets, build, eighths: scans * EIGHTHS, prefix: toHex(prefix) });
  }
  return rows;
}

/** A prefix as hex of its UTF-16 code units, which a column of any encoding and collation can store. */
function toHex(text: string): string {
  return Buffer.from(text, 'utf16le').toString('hex');
}

/** The inverse of `toHex`. */
function fromHex(hex: string): string {
  return Buffer.from(hex, 'hex').toString('utf16le');
}

/** The costs that a valid rule adds to the budgets of its domain. */
export function costsOf(fields: StoredRule<Rule>): NonNullable<RuleWrite['costs']> {
  return { addresses: addressesOf(fields), patterns: patternRows({ ...fields }) };
}

/** A rule to check. `whole`: all its fields, merged for an update; `before`: the row it replaces. */
interface PatternQuestion {
  readonly type: RuleType;
  readonly whole: unknown;
  readonly before?: RuleRow;
}

/**
 * Checks a rule's regexes against the domain's budget. Disabled rules count too, so that enabling one needs no check. A
 * rule without a new regex is not checked. `whole` is valid as a rule on its own. @throws Refusal 400
 */
async function judgePatterns({ tx, domain }: Writing, question: PatternQuestion): Promise<void> {
  const { type, whole, before } = question;
  const had = new Set(before === undefined ? [] : patternsOf(bodyOf(before)).map(digestOf));
  if (patternsOf(whole as RuleBody).every((use) => had.has(digestOf(use)))) return;
  const standing = await existingPatterns(tx, { domainId: domain.id, without: before?.id ?? 0, whole });
  if (standing === null) return;
  const report = createReport();
  const patterns = createPatternBook(standing);
  readForm(ruleForm(type), whole, { report, patterns, path: [] });
  if (report.errors() > 0) throw wrongInput(report.diagnostics());
}

/** Which patterns to read: those of all rules but `without`, as far as they affect `whole`. */
interface ExistingQuestion {
  readonly domainId: number;
  readonly without: number;
  readonly whole: unknown;
}

/** The patterns of the domain's other rules that affect the budget of `whole`; `null`: they have none. */
async function existingPatterns(
  tx: WriteTransaction,
  { domainId, without, whole }: ExistingQuestion,
): Promise<ExistingPatterns | null> {
  let costs = await tx.rules.patternCosts(domainId, { without });
  if (!costs.counted) {
    await countPatterns(tx, domainId);
    costs = await tx.rules.patternCosts(domainId, { without });
  }
  if (costs.octets === 0) return null;
  const wanted = patternRows(whole as RuleBody);
  const digests = wanted.map(({ digest }) => digest);
  const filed = await tx.rules.filedPatterns(domainId, { digests, without });
  const fresh = wanted.filter(({ digest }) => !filed.has(digest));
  const most = fresh.reduce((sum, { eighths }) => sum + eighths, costs.eighths);
  // PERF: if the sum of all is within the budget, so is every chain.
  const near =
    most <= MAX_DOMAIN_SCANS * EIGHTHS
      ? []
      : await tx.rules.patternsNear(domainId, { prefixes: fresh.map(({ prefix }) => prefix), without });
  return {
    octets: costs.octets,
    build: costs.build,
    near: near.map(({ eighths, prefix }) => ({ scans: eighths / EIGHTHS, prefix: fromHex(prefix) })),
    has: (source, subject) => filed.has(digestOf({ source, ...subject })),
  };
}

/**
 * Stores the pattern costs of a domain whose rules were written before costs were stored; once for each such domain.
 */
async function countPatterns(tx: WriteTransaction, domainId: number): Promise<void> {
  const rules = new Map<number, readonly PatternRow[]>();
  for (const row of await tx.rules.listAll(domainId)) {
    // PERF: a body without this word has no regex, which most rules have not.
    if (row.body.includes('"regex"')) rules.set(row.id, patternRows(bodyOf(row)));
  }
  await tx.rules.countPatterns(domainId, rules);
}

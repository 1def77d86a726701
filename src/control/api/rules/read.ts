/**
 * Reads a rule as a customer wrote it, merged with the stored rule for an update. Everything that could make a compile
 * fail is found here and answered with a 400 (semantics §6).
 */
import type { Diagnostic } from '../../../base/diagnostics/diagnostic.ts';
import { isObject } from '../../../base/text/json-object.ts';
import { MAX_DOMAIN_IPS, MAX_ID, MAX_RECORDS } from '../../../base/vocabulary/limits.ts';
import type { RuleType } from '../../../base/vocabulary/vocabulary.ts';
import type { StoredRule } from '../../../rules/model/common.ts';
import { parseRule } from '../../../rules/model/parse.ts';
import type { DropRule, OriginRouteRule, Rule } from '../../../rules/model/types.ts';
import { refuseFeature } from '../../accounts/entitlement-checks.ts';
import type { RuleRow } from '../../store/rows.ts';
import { wrongInput } from '../operation/read-body.ts';
import { forbidden } from '../operation/refusal.ts';
import type { Writing } from '../operation/route.ts';
import { originsOfRule, refuseSpecial } from '../origins.ts';
import { judgePatterns } from './patterns.ts';
import { bodyOf } from './show.ts';

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
  if (type === 'drop') await judgeAddresses(w, parsed.fields as StoredRule<DropRule>, before);
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

/** Checks the bound on address entries of all drop rules of a domain; a rule that adds none is not checked. */
async function judgeAddresses(
  { tx, domain }: Writing,
  { ips }: StoredRule<DropRule>,
  before: RuleRow | undefined,
): Promise<void> {
  const had = before === undefined ? 0 : addressesOf(before);
  if (ips.length <= had) return;
  const drops = (await tx.rules.totals(domain.id)).find(({ type }) => type === 'drop');
  const total = (drops?.addresses ?? 0) - had + ips.length;
  if (total <= MAX_DOMAIN_IPS) return;
  const diagnostic: Diagnostic = {
    code: 'address_budget',
    severity: 'error',
    path: ['ips'],
    message: `the drop rules of a domain must list at most ${MAX_DOMAIN_IPS} addresses together`,
    found: String(total),
    remedy: 'use prefixes or ranges',
  };
  throw wrongInput([diagnostic]);
}

/** The number of address entries of a stored drop rule. */
function addressesOf(row: RuleRow): number {
  return (bodyOf(row)['ips'] as readonly string[]).length;
}

/** Checks the feature that a new host header needs; a stored one may stay. @throws Refusal 403 */
async function judgeHostHeader(w: Writing, fields: object, before: RuleRow | undefined): Promise<void> {
  const wanted = 'host_header' in fields ? fields.host_header : '';
  if (wanted === '' || (before !== undefined && bodyOf(before)['host_header'] === wanted)) return;
  const closed = refuseFeature(await w.entitlements(), 'host_header_edit_enabled');
  if (closed !== null) throw forbidden(closed);
}

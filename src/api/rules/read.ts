/**
 * Reads what a customer wrote about a rule, on top of what is stored: everything that could make a compile fail is
 * found here and answered with 400 (semantics §6).
 */
import { refuseFeature } from '../../access/entitlement-checks.ts';
import type { Diagnostic } from '../../base/diagnostic.ts';
import { MAX_DOMAIN_IPS, MAX_ID, MAX_RECORDS } from '../../base/limits.ts';
import type { RuleType } from '../../base/vocabulary.ts';
import type { StoredRule } from '../../model/common.ts';
import { parseRule } from '../../model/parse.ts';
import type { DropRule, OriginRouteRule, Rule } from '../../model/types.ts';
import type { RuleRow } from '../../store/rows.ts';
import { originsOfRule, refuseSpecial } from '../origins.ts';
import { wrongInput } from '../read-body.ts';
import { forbidden } from '../refusal.ts';
import type { Writing } from '../route.ts';
import { judgePatterns } from './patterns.ts';
import { bodyOf } from './show.ts';

/** A rule that is to be read: `before` is the row it changes, absent for a new one. */
export interface RuleInput {
  readonly type: RuleType;
  readonly input: unknown;
  readonly before?: RuleRow;
  /** Only `enabled` changes: a rule can always be turned off and on, whatever later versions refuse of it. */
  readonly toggled?: true;
}

/** The fields of a rule, with everything judged but its place in the domain. Throws the 400, or the 403 on a host header. */
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
 * An origin's country is looked up at the write, where a geo database is configured (semantics §5 origin_route). A name
 * may be anywhere, and keeps what was written.
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
 * A stored rule with a partial update laid over it. A `record_id` alone replaces the list; `health_check` is laid over
 * field by field; a host match type that was not sent follows the lists (semantics §6).
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

function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The record ids an input names, as far as they can be ids. */
function idsIn(input: unknown): readonly number[] {
  if (!isObject(input)) return [];
  const { record_id: single, record_ids: list } = input as Readonly<Record<string, unknown>>;
  const named = [...(Array.isArray(list) ? list.slice(0, MAX_RECORDS) : []), single];
  return [...new Set(named)].filter(
    (id): id is number => typeof id === 'number' && Number.isInteger(id) && id >= 1 && id <= MAX_ID,
  );
}

/** Up to so many records are asked for one by one; beyond, the whole list is the cheaper question. */
const ASKED_SINGLY = 8;

/**
 * Those of `ids` that belong to the domain; `null` when none is named. Ids the rule has already stay valid though
 * their records may be gone (semantics §2): ids are never given twice, so they are nobody else's.
 */
async function knownRecords(
  { tx, domain }: Writing,
  ids: readonly number[],
  stored: readonly number[],
): Promise<ReadonlySet<number> | null> {
  if (ids.length === 0) return null;
  const known = new Set(stored);
  const open = ids.filter((id) => !known.has(id));
  if (open.length > ASKED_SINGLY) {
    for (const { id } of await tx.records.list(domain.id)) known.add(id);
    return known;
  }
  for (const id of open) {
    if ((await tx.records.get(domain.id, id)) !== null) known.add(id);
  }
  return known;
}

/** Holds a domain to the address entries of all its drop rules. Only a rule that brings more of them is judged. */
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

function addressesOf(row: RuleRow): number {
  return (bodyOf(row)['ips'] as readonly string[]).length;
}

/** A host header that is new needs the feature; one that was there stays. */
async function judgeHostHeader(w: Writing, fields: object, before: RuleRow | undefined): Promise<void> {
  const wanted = 'host_header' in fields ? fields.host_header : '';
  if (wanted === '' || (before !== undefined && bodyOf(before)['host_header'] === wanted)) return;
  const closed = refuseFeature(await w.entitlements(), 'host_header_edit_enabled');
  if (closed !== null) throw forbidden(closed);
}

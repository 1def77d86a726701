/**
 * The www record of a canonical redirect (API document, "redirect"; semantics §6): the redirect between a domain and
 * its www name does nothing while www does not reach the edge, so a proxied record is made alongside.
 */
import { checkRecordType, refuseFeature } from '../../access/entitlement-checks.ts';
import { normalizeName } from '../../base/host.ts';
import { MAX_RECORDS } from '../../base/limits.ts';
import type { StoredRule } from '../../model/common.ts';
import { absoluteName } from '../../model/record-name.ts';
import type { RedirectRule } from '../../model/types.ts';
import type { NewRecord } from '../../store/customer-repositories.ts';
import { isStoreFault, StoreFault } from '../../store/fault.ts';
import type { RecordRow } from '../../store/rows.ts';
import { showRecord } from '../records/shape.ts';
import type { Writing } from '../route.ts';
import type { WwwRecord } from './shapes.ts';

/** What became of the www record; `null` when the redirect is not the canonical one. */
export async function provisionWww(w: Writing, rule: StoredRule<RedirectRule>): Promise<WwwRecord | null> {
  const { domain, now, tx } = w;
  if (!isCanonical(domain.name, rule)) return null;
  const records = await tx.records.list(domain.id);
  const there = findWww(domain.name, records);
  if (there !== null) return there;
  // The mirror is proxied, so the address becomes an origin's.
  const allowed = records.filter(({ destination }) => w.specialOrigin(destination) === null);
  const apex = addressOf(domain.name, allowed);
  if (apex === null) return 'no_apex';
  if (records.length >= MAX_RECORDS || (await checkRecordType()(w)) !== null) return 'limit';
  // A plan that no longer includes editing host headers leaves those that are there, and gets no new one.
  const mayName = refuseFeature(await w.entitlements(), 'host_header_edit_enabled') === null;
  const made = await tryInsert(w, mirror(mayName ? apex : { ...apex, host_header: '' }, now));
  if (made === null) return 'failed';
  await w.audit({ action: 'record.create', subject: `record/${made.id}`, after: showRecord(made) });
  return domain.dns_mode === 'external' ? 'created_external' : 'created';
}

/**
 * Whether a redirect is the canonical one: its includes are exactly the one host, www or apex, its target is the
 * other, and it acts on every path. One that is held to certain records is not, for a new record would be out of its
 * scope.
 */
function isCanonical(domain: string, rule: StoredRule<RedirectRule>): boolean {
  if (rule.host_match_type !== 'exact' && rule.host_match_type !== 'wildcard') return false;
  if (rule.host_excludes.length > 0 || rule.record_ids.length > 0) return false;
  const listed = rule.host_pattern === '' ? rule.host_includes : [rule.host_pattern, ...rule.host_includes];
  const hosts = new Set(listed.map((host) => normalizeName(host) ?? host));
  const [from] = hosts;
  if (hosts.size !== 1 || (from !== domain && from !== `www.${domain}`)) return false;
  const every = rule.path_includes.every((path) => path === '/*');
  if (!every || rule.path_excludes.length > 0) return false;
  return targetHost(rule.target) === (from === domain ? `www.${domain}` : domain);
}

/** The host of a target that names nothing else; `null` for any other target. */
function targetHost(target: string): string | null {
  const host = /^https?:\/\/([^/?#@:]+)\/?$/i.exec(target)?.[1];
  return host === undefined ? null : normalizeName(host);
}

/** Types that say where a name's visitors go. */
const LEADING: readonly string[] = ['A', 'AAAA', 'CNAME', 'ALIAS', 'NS'];

/**
 * What the zone says about www: by its own records, else by the wildcard at the apex where no name exists at or below
 * www (RFC 4592 §2.2). `null`: nothing leads there.
 */
function findWww(domain: string, records: readonly RecordRow[]): 'covered' | 'unproxied' | null {
  const www = `www.${domain}`;
  const named = records.map((record) => ({ record, name: absoluteName(record.name, domain) ?? '' }));
  const own = named.filter(({ name }) => name === www);
  const exists = own.length > 0 || named.some(({ name }) => name.endsWith(`.${www}`));
  const leading = (exists ? own : named.filter(({ name }) => name === `*.${domain}`)).filter(({ record }) =>
    LEADING.includes(record.type),
  );
  if (leading.length === 0) return null;
  return leading.some(({ record }) => record.proxied) ? 'covered' : 'unproxied';
}

/** The apex record that www shall mirror: a proxied one first, then the oldest. */
function addressOf(domain: string, records: readonly RecordRow[]): RecordRow | null {
  const apex = records.filter(
    ({ name, type }) => absoluteName(name, domain) === domain && type !== 'NS' && LEADING.includes(type),
  );
  return apex.find(({ proxied }) => proxied) ?? apex[0] ?? null;
}

/** The same origin under the name www. */
function mirror(apex: RecordRow, now: number): NewRecord {
  const { id: _, ...fields } = apex;
  return { ...fields, name: 'www', proxied: true, monitor: false, created_at: now, updated_at: now };
}

/** Inserts a record so that its failure undoes nothing else; `null` when it failed. */
async function tryInsert({ tx }: Writing, record: NewRecord): Promise<RecordRow | null> {
  try {
    const [made] = await tx.attempt(() => tx.records.insert([record]));
    return made ?? null;
  } catch (error) {
    // A transaction that must be run again, or is over, cannot go on without the record either.
    const lost = isStoreFault(error, 'contended') || isStoreFault(error, 'unavailable');
    if (!(error instanceof StoreFault) || lost || isStoreFault(error, 'closed')) throw error;
    return null;
  }
}

/**
 * Creates the www record of a canonical redirect (API document, "redirect"; semantics §6): a redirect between a domain and
 * its www name has no effect while www does not lead to the edge, so the write adds a proxied record.
 */
import { normalizeName } from '../../../base/addresses/host.ts';
import { isStoreFault, StoreFault } from '../../../base/storage/fault.ts';
import { MAX_RECORDS } from '../../../base/vocabulary/limits.ts';
import { PROXIABLE_TYPES } from '../../../base/vocabulary/record-types.ts';
import type { StoredRule } from '../../../rules/model/common.ts';
import { absoluteName } from '../../../rules/model/record-name.ts';
import type { RedirectRule } from '../../../rules/model/types.ts';
import { checkRecordType, refuseFeature } from '../../accounts/entitlements.ts';
import type { NewRecord } from '../../store/repositories/records.ts';
import type { RecordRow } from '../../store/tables/rules.ts';
import type { Writing } from '../operation/route.ts';
import { showRecord } from '../records/write.ts';
import type { WwwRecord } from './shapes.ts';

/** Adds the record where it is missing. Returns what happened; `null`: the redirect is not canonical. */
export async function provisionWww(w: Writing, rule: StoredRule<RedirectRule>): Promise<WwwRecord | null> {
  const { domain, now, tx } = w;
  if (!isCanonical(domain.name, rule)) return null;
  const records = await tx.records.list(domain.id);
  const there = findWww(domain.name, records);
  if (there !== null) return there;
  // The new record is proxied, so its address becomes an origin and must not be special.
  const allowed = records.filter(({ destination }) => w.specialOrigin(destination) === null);
  const apex = addressOf(domain.name, allowed);
  if (apex === null) return 'no_apex';
  if (records.length >= MAX_RECORDS || (await checkRecordType()(w)) !== null) return 'limit';
  // Without the feature, stored host headers stay in effect, but no new one may be written.
  const mayName = refuseFeature(await w.entitlements(), 'host_header_edit_enabled') === null;
  const made = await tryInsert(w, mirror(mayName ? apex : { ...apex, host_header: '' }, now));
  if (made === null) return 'failed';
  await w.audit({ action: 'record.create', subject: `record/${made.id}`, after: showRecord(made) });
  // Records take effect at once, also where the redirect waits in a draft.
  if (domain.publish_mode === 'manual') await w.publish(`record/${made.id} created`);
  return domain.dns_mode === 'external' ? 'created_external' : 'created';
}

/**
 * Whether a redirect is the canonical one: its includes are exactly the one host, www or apex, its target is the
 * other, and it acts on every path. A redirect limited to certain records is not canonical, since the new record would be outside
 * its scope.
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

/** Types that direct the visitors of a name. */
const LEADING: readonly string[] = [...PROXIABLE_TYPES, 'NS'];

/**
 * How the zone resolves www: by its own records, else by the wildcard at the apex where no name exists at or below www
 * (RFC 4592 §2.2). `null`: it does not resolve.
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

/** The apex record that www copies: a proxied one first, then the oldest. */
function addressOf(domain: string, records: readonly RecordRow[]): RecordRow | null {
  const apex = records.filter(
    ({ name, type }) => absoluteName(name, domain) === domain && type !== 'NS' && LEADING.includes(type),
  );
  return apex.find(({ proxied }) => proxied) ?? apex[0] ?? null;
}

/** A record of the same origin under the name www. */
function mirror(apex: RecordRow, now: number): NewRecord {
  const { id: _, ...fields } = apex;
  return { ...fields, name: 'www', proxied: true, monitor: false, created_at: now, updated_at: now };
}

/** Inserts a record in a savepoint, so that a failure undoes nothing else; `null`: it failed. */
async function tryInsert({ tx }: Writing, record: NewRecord): Promise<RecordRow | null> {
  try {
    const [made] = await tx.attempt(() => tx.records.insert([record]));
    return made ?? null;
  } catch (error) {
    // A contended or ended transaction must fail as a whole, so that it can run again.
    const lost = isStoreFault(error, 'contended') || isStoreFault(error, 'unavailable');
    if (!(error instanceof StoreFault) || lost || isStoreFault(error, 'closed')) throw error;
    return null;
  }
}

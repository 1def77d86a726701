/**
 * Makes the next version of a zone from one snapshot of the store: which domain of the name has the zone, its content, and
 * the step from the stored version. Writes nothing.
 */
import { normalizeName } from '../../base/addresses/host.ts';
import { hasLapsed } from '../domains/claims.ts';
import type { DomainRow } from '../store/rows.ts';
import type { ReadTransaction } from '../store/store.ts';
import type { ZoneRow, ZoneStepRow } from '../store/zone-repositories.ts';
import { zoneContent } from './content.ts';
import { PROBLEMS_STORED } from './limits.ts';
import { settingsId, type ZoneSettings } from './settings.ts';
import { nextSerial } from './soa.ts';
import { diffContents, packRecords } from './wire/records.ts';

/** What is to be written for a marked name; `version` is that of the mark that it covers. */
export type MadeZone =
  /** No zone, and none was there. */
  | { readonly kind: 'none'; readonly version: number }
  /** The name has no zone any more. */
  | {
      readonly kind: 'removed';
      readonly version: number;
      readonly domain_id: number;
      readonly serial: number;
    }
  /** The content is the same. */
  | {
      readonly kind: 'same';
      readonly version: number;
      readonly zone: Omit<ZoneRow, 'content'>;
      readonly targets: readonly string[];
    }
  | {
      readonly kind: 'changed';
      readonly version: number;
      readonly zone: ZoneRow;
      /** `null`: the history of the zone begins here. */
      readonly step: ZoneStepRow | null;
      /** The domain that had the zone before; `null`: there was no zone. */
      readonly before: number | null;
      readonly targets: readonly string[];
    };

export interface MakeZoneOptions {
  readonly settings: ZoneSettings;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Makes the zone of a marked name; `null`: the name is not marked. @throws StoreFault */
export async function makeZone(
  tx: ReadTransaction,
  name: string,
  { settings, now }: MakeZoneOptions,
): Promise<MadeZone | null> {
  const change = await tx.zones.change(name);
  if (change === null) return null;
  const { version } = change;
  const before = await tx.zones.get(name);
  // A domain with the name of the catalog would be answered with the catalog.
  const domain = name === settings.catalog ? null : zoneHolder(await tx.domains.named(name), now);
  if (domain === null) {
    return before === null
      ? { kind: 'none', version }
      : { kind: 'removed', version, domain_id: before.domain_id, serial: before.serial };
  }
  const { records, problems, targets } = await contentOf(tx, domain, settings);
  const content = packRecords(records);
  const zone: ZoneRow = {
    name,
    domain_id: domain.id,
    serial: before?.serial ?? 0,
    primary_name: settings.nameservers[0]!,
    content,
    records: records.length,
    settings: settingsId(settings),
    problems_json: JSON.stringify({ count: problems.length, first: problems.slice(0, PROBLEMS_STORED) }),
    updated_at: now,
  };
  // A step repeats the SOA before it, whose first field is the primary; another domain of the name is another member.
  const comparable =
    before !== null &&
    !change.renumber &&
    before.domain_id === zone.domain_id &&
    before.primary_name === zone.primary_name;
  if (comparable && Buffer.compare(before.content, content) === 0) {
    const { content: _, ...head } = zone;
    return { kind: 'same', version, zone: head, targets };
  }
  // A zone that comes back goes on above its last serial, which changes in quick succession may have led ahead of the time.
  const removed = (await tx.zones.catalog(settings.catalog))?.removed_serial ?? 0;
  const serial = nextSerial(before?.serial ?? (removed === 0 ? null : removed), now);
  const step = comparable
    ? { from_serial: before.serial, to_serial: serial, ...diffContents(before.content, content) }
    : null;
  return {
    kind: 'changed',
    version,
    zone: { ...zone, serial },
    step,
    before: before?.domain_id ?? null,
    targets,
  };
}

/**
 * The domain of a name that has the zone; `null`: none. A pending domain has one already, since its delegation could not
 * be checked otherwise. While several accounts claim a name that none of them has proved, it has no zone: a claimant could
 * prove the name by a record in it.
 */
export function zoneHolder(rows: readonly DomainRow[], now: number): DomainRow | null {
  const proved = rows.filter(({ unproved_since }) => unproved_since === null);
  const candidates = proved.length > 0 ? proved : rows.filter((row) => !hasLapsed(row, now));
  const [domain, rival] = candidates;
  if (domain === undefined || rival !== undefined) return null;
  return domain.dns_mode === 'managed' && domain.status !== 'banned' ? domain : null;
}

async function contentOf(tx: ReadTransaction, domain: DomainRow, settings: ZoneSettings) {
  const records = await tx.records.list(domain.id);
  const aliases = records.filter(({ type, proxied }) => !proxied && (type === 'ALIAS' || type === 'CNAME'));
  const names = [...new Set(aliases.map(({ destination }) => normalizeName(destination) ?? destination))];
  const answers = new Map<string, readonly string[]>();
  for (const { target, addresses_json, good_at } of await tx.zones.flattened(names)) {
    if (good_at !== null) answers.set(target, JSON.parse(addresses_json));
  }
  return zoneContent({
    domain: domain.name,
    records,
    nameservers: settings.nameservers,
    edgeAddresses: settings.edgeAddresses,
    caaIssuers: settings.caaIssuers,
    challenges: await tx.zones.challenges(domain.name),
    addressesOf: (target) => answers.get(target) ?? null,
  });
}

/**
 * Makes the next version of a zone from one snapshot of the store: which domain of the name has the zone, its content, and
 * the step from the stored version. Writes nothing.
 */
import { normalizeName } from '../../base/addresses/host.ts';
import { utf8Bytes } from '../../base/octets/octets.ts';
import type { ZoneRecord } from '../dns/zone-file/parse.ts';
import { PRINTED_TTL_SEC } from '../dns/zone-file/print.ts';
import { hasLapsed } from '../domains/claims.ts';
import type { ReadTransaction } from '../store/store.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import type { ZoneChallengeRow, ZoneRow, ZoneStepRow } from '../store/tables/zones.ts';
import { CHALLENGE_TTL_SEC, FLATTENED_TTL_SEC, PROBLEMS_STORED } from './limits.ts';
import {
  addressData,
  type ContentProblem,
  createFollower,
  keyOf,
  type OwnName,
  readOwnNames,
  type TargetFollower,
  type WireData,
} from './own-names.ts';
import { encodeCaa, encodeData } from './rdata.ts';
import { settingsId, type ZoneSettings } from './settings.ts';
import { diffContents, encodeName, packRecords, type ResourceRecord, TYPES } from './wire/records.ts';
import { nextSerial } from './zone-source.ts';

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

// What a managed domain's zone contains. In: its stored records, the nameservers, the edge's addresses, the certificate
// authorities and the answers about names outside the zone. Out: the zone's records without its SOA, what of the stored
// records is not in it, and the outside names whose addresses it contains. A pure function.

/** What the content of a zone depends on. */
export interface ZoneContentInput {
  /** Canonical, without a trailing dot. */
  readonly domain: string;
  /** In the order of their creation, so that a new record never displaces the target of an older one. */
  readonly records: readonly ZoneRecord[];
  /** Canonical names of the domain's nameserver set. */
  readonly nameservers: readonly string[];
  /** IPv4 and IPv6 addresses of the edge. */
  readonly edgeAddresses: readonly string[];
  /** Issuer domain names of the CAs that issue the domain's certificates, like `letsencrypt.org` (RFC 8659 §4.2). */
  readonly caaIssuers: readonly string[];
  /** Challenges of CAs that the domain answers now. */
  readonly challenges?: readonly Pick<ZoneChallengeRow, 'owner' | 'value'>[];
  /** IPv4 and IPv6 addresses of a canonical name outside the zone; `null`: it is not resolved yet. */
  addressesOf(target: string): readonly string[] | null;
}

/** The content of a zone. */
export interface ZoneContent {
  /** Without the SOA record and without duplicates, in no defined order. */
  readonly records: readonly ResourceRecord[];
  readonly problems: readonly ContentProblem[];
  /** Names outside the zone whose addresses it contains once they are resolved, at most `MAX_FLATTENED`. */
  readonly targets: readonly string[];
}

/** The content of a domain's zone. */
export function zoneContent(input: ZoneContentInput): ZoneContent {
  const { domain, nameservers, caaIssuers, addressesOf } = input;
  const problems: ContentProblem[] = [];
  const names = readOwnNames(domain, input.records, problems);
  const edge = distinct(input.edgeAddresses.map(addressData).filter((address) => address !== null));
  const follower = createFollower({ domain, names, edge, addressesOf });
  const records = [...new Set(nameservers)].map(
    (server): ResourceRecord => ({
      name: domain,
      type: TYPES.NS,
      ttl: PRINTED_TTL_SEC,
      rdata: encodeName(server),
    }),
  );
  for (const own of names.values()) {
    const { name } = own;
    const data = own.others.some(({ type }) => type === TYPES.CAA)
      ? distinct([...own.others, ...issuersBeside(own.others, caaIssuers)])
      : own.others;
    for (const { type, rdata } of data) records.push({ name, type, ttl: PRINTED_TTL_SEC, rdata });
    const { ttl, addresses } = addressesAt(own, { edge, follower, problems });
    for (const { type, rdata } of addresses) records.push({ name, type, ttl, rdata });
  }
  for (const challenge of challengeRecords(names, input.challenges ?? [])) records.push(challenge);
  return { records, problems, targets: follower.targets() };
}

/**
 * TXT records of challenges. A CNAME at their name is the customer's delegation of them to another zone, beside which
 * no other data is allowed (RFC 1034 §3.6.2).
 */
function challengeRecords(
  names: ReadonlyMap<string, OwnName>,
  challenges: NonNullable<ZoneContentInput['challenges']>,
): readonly ResourceRecord[] {
  return challenges.flatMap(({ owner, value }) => {
    const own = names.get(owner);
    const rdata = encodeData('TXT', { destination: value, mx_priority: null }) as Uint8Array;
    const text = { type: TYPES.TXT, rdata };
    const stored = own?.others.filter(({ type }) => type === TYPES.TXT) ?? [];
    if (own?.canonical === true || stored.some((one) => keyOf(one) === keyOf(text))) return [];
    return [{ name: owner, ...text, ttl: stored.length > 0 ? PRINTED_TTL_SEC : CHALLENGE_TTL_SEC }];
  });
}

interface AddressSources {
  readonly edge: readonly WireData[];
  readonly follower: TargetFollower;
  readonly problems: ContentProblem[];
}

/** The addresses of a name, or its CNAME. All have one TTL, as records of one type must (RFC 2181 §5.2). */
function addressesAt(
  own: OwnName,
  { edge, follower, problems }: AddressSources,
): { readonly ttl: number; readonly addresses: readonly WireData[] } {
  const { name, aliases } = own;
  if (own.proxied) return { ttl: PRINTED_TTL_SEC, addresses: edge };
  if (own.canonical) {
    const rdata = encodeName(aliases[0]!.target);
    return { ttl: PRINTED_TTL_SEC, addresses: [{ type: TYPES.CNAME, rdata }] };
  }
  const found: WireData[] = [...own.addresses];
  let ttl = PRINTED_TTL_SEC;
  for (const { type, target } of aliases) {
    const { addresses, external, problem } = follower.follow(target);
    found.push(...addresses);
    if (external) ttl = FLATTENED_TTL_SEC;
    if (problem !== null) problems.push({ name, type, message: problem });
  }
  return { ttl, addresses: aliases.length === 0 ? found : distinct(found) };
}

/** Tags of CAA records that name an issuer (RFC 8659 §4.2, §4.3). */
const ISSUER_TAGS = ['issue', 'issuewild'] as const;

/** CAA records that permit the issuers, for each tag that the stored records have: without them, every CA may issue. */
function issuersBeside(stored: readonly WireData[], issuers: readonly string[]): readonly WireData[] {
  const tags = new Set(stored.filter(({ type }) => type === TYPES.CAA).map(({ rdata }) => tagOf(rdata)));
  return ISSUER_TAGS.filter((tag) => tags.has(tag)).flatMap((tag) =>
    issuers.map((issuer) => ({
      type: TYPES.CAA,
      rdata: encodeCaa({ flags: 0, tag, value: utf8Bytes(issuer) }),
    })),
  );
}

/** The tag in CAA data, in lower case as it is stored. */
function tagOf(rdata: Uint8Array): string {
  return Buffer.from(rdata.subarray(2, 2 + rdata[1]!)).toString('latin1');
}

function distinct(data: readonly WireData[]): readonly WireData[] {
  return [...new Map(data.map((one) => [keyOf(one), one])).values()];
}

/**
 * What a managed domain's zone contains. In: its stored records, the nameservers, the edge's addresses, the certificate
 * authorities and the answers about names outside the zone. Out: the zone's records without its SOA, what of the stored
 * records is not in it, and the outside names whose addresses it contains. A pure function.
 */
import { utf8Bytes } from '../../base/octets/octets.ts';
import { PRINTED_TTL_SEC } from '../dns/limits.ts';
import type { ZoneRecord } from '../dns/zone-file/parse.ts';
import type { ZoneChallengeRow } from '../store/zone-repositories.ts';
import { addressData, createFollower, type TargetFollower } from './follow.ts';
import { CHALLENGE_TTL_SEC, FLATTENED_TTL_SEC } from './limits.ts';
import { type ContentProblem, keyOf, type OwnName, readOwnNames, type WireData } from './own-names.ts';
import { encodeCaa, encodeData } from './rdata.ts';
import { encodeName } from './wire/name.ts';
import { type ResourceRecord, TYPES } from './wire/records.ts';

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

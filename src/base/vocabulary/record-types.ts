/**
 * The types of DNS records that customers write, one entry each with what is said of the type. Its data is read by
 * `control/dns/zone-file/rdata.ts`, printed from answers by `control/dns/record-data.ts` and encoded by
 * `control/zones/rdata.ts`, each of which has an entry for every type.
 */

/** One type. */
interface RecordKind {
  /** The number of the type (IANA, "Resource Record (RR) TYPEs"); `null`: an extension of DNS hosts, not in any zone. */
  readonly number: number | null;
  /** The edge can carry its traffic (semantics §6). */
  readonly proxiable?: true;
  /** The word of the data that is a name; -1: the last. Absent: none is. */
  readonly nameAt?: 0 | 1 | -1;
  /** The name is that of a server. */
  readonly namesServer?: true;
  /** The RFC by which the name of the server is never an address. Absent: none, or the form of the type has it. */
  readonly hostSource?: string;
  /** No scan for the records of a domain queries it. */
  readonly unscanned?: true;
  /** dns-packet knows the type only by its number. */
  readonly numbered?: true;
}

/** The types, in the order of the documents. */
const RECORD_KINDS = {
  A: { number: 1, proxiable: true },
  AAAA: { number: 28, proxiable: true },
  CNAME: { number: 5, proxiable: true, nameAt: 0, namesServer: true },
  ALIAS: { number: null, proxiable: true, nameAt: 0, namesServer: true, unscanned: true },
  MX: { number: 15, nameAt: -1, namesServer: true, hostSource: 'RFC 5321 §5.1' },
  TXT: { number: 16 },
  NS: { number: 2, nameAt: 0, namesServer: true, hostSource: 'RFC 1035 §3.3.11' },
  SRV: { number: 33, nameAt: -1, namesServer: true, hostSource: 'RFC 2782' },
  CAA: { number: 257 },
  PTR: { number: 12, nameAt: 0, unscanned: true },
  // RFC 9460
  HTTPS: { number: 65, nameAt: 1, numbered: true },
  SVCB: { number: 64, nameAt: 1, numbered: true },
  TLSA: { number: 52 },
} as const satisfies Readonly<Record<string, RecordKind>>;

/** The name of a type. */
export type RecordType = keyof typeof RECORD_KINDS;

/** Types that have a form in a master file and a number in a zone. */
export type ZoneType = {
  [Type in RecordType]: (typeof RECORD_KINDS)[Type]['number'] extends number ? Type : never;
}[RecordType];

/** The names of all types. */
export const RECORD_TYPES = Object.keys(RECORD_KINDS) as [RecordType, ...RecordType[]];

/** What is said of a type. */
export function recordKind(type: RecordType): RecordKind {
  return RECORD_KINDS[type];
}

/** Whether a text is the name of a type with a form in a master file. */
export function isZoneType(text: string): text is ZoneType {
  return Object.hasOwn(RECORD_KINDS, text) && recordKind(text as RecordType).number !== null;
}

/** The names of the types with a form in a master file. */
export const ZONE_TYPES: readonly ZoneType[] = RECORD_TYPES.filter(isZoneType);

/** The types whose traffic the edge can carry. */
export const PROXIABLE_TYPES: readonly RecordType[] = RECORD_TYPES.filter(
  (type) => recordKind(type).proxiable === true,
);

/** The numbers of types in a zone. */
export const RECORD_NUMBERS = Object.fromEntries(
  ZONE_TYPES.map((type) => [type, recordKind(type).number]),
) as { readonly [Type in ZoneType]: number };

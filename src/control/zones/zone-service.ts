/** What the API answers about zones: versions, what is missing, what waits for secondaries, and checks of them. */
import { decode } from 'dns-packet';
import { withDeadline } from '../../base/platform/tasks.ts';
import {
  canonical,
  type DnsAnswer,
  DnsFault,
  type QueryType,
  queryServer,
  readAnswer,
} from '../dns/message.ts';
import { answerData } from '../dns/record-data.ts';
import type { ServerAddress } from '../dns/server-address.ts';
import type { Store } from '../store/store.ts';
import type { ZoneHeadRow, ZoneRow } from '../store/tables/zones.ts';
import { CHECK_CONCURRENCY, CHECK_MS, CHECKED_SETS, CHECKS_AT_ONCE, LISTED_DIFFERENCES } from './limits.ts';
import type { ContentProblem } from './own-names.ts';
import { readRecords, splitRecords, TYPES } from './wire/records.ts';
import { isGreater } from './zone-source.ts';

/** A secondary, and what it has not accepted yet. */
export interface SecondaryState {
  /** Address and port. */
  readonly address: string;
  /** Whether a NOTIFY of the zone's current version waits for an answer. */
  readonly notifying: boolean;
}

/** A zone as the API shows it. */
export interface ShownZone {
  readonly serial: number;
  /** Records without the SOA. */
  readonly records: number;
  readonly primary: string;
  readonly updated_at: number;
  /** Changes are not in this version yet. */
  readonly changing: boolean;
  readonly problems: number;
  /** The first ones. */
  readonly problem_list: readonly ContentProblem[];
  readonly secondaries: readonly SecondaryState[];
}

/** The result of a check. */
export interface ZoneCheck {
  readonly serial: number;
  /** Record sets of the zone, and those that were compared. */
  readonly sets: number;
  readonly compared: number;
  readonly secondaries: readonly (SecondaryCheck & { readonly address: string })[];
}

/** Zones, for the API. */
export interface ZoneService {
  /** `null`: the domain has no zone. @throws StoreFault */
  show(name: string): Promise<ShownZone | null>;
  /**
   * Asks every secondary for the record sets of the zone; `null`: the domain has no zone; `busy`: the account has a check
   * under way, or too many accounts have.
   */
  check(name: string, accountId: number): Promise<ZoneCheck | 'busy' | null>;
  /** The DS records that the parent zone needs. Never rejects. */
  dnssec(name: string): Promise<SignedState>;
}

/** A secondary with what it has not answered. */
export interface NotifiedSecondary {
  readonly server: ServerAddress;
  /** Whether a NOTIFY of the zone waits for an answer. */
  waits(zone: string): boolean;
}

export interface ZoneServiceOptions {
  readonly store: Store;
  readonly secondaries: readonly NotifiedSecondary[];
}

export function createZoneService({ store, secondaries }: ZoneServiceOptions): ZoneService {
  const checking = new Set<number>();
  return {
    async show(name) {
      const head = await store.latest.zones.head(name);
      if (head === null) return null;
      const changing = (await store.latest.zones.change(name)) !== null;
      return { ...shownHead(head), changing, secondaries: secondaries.map((one) => stateOf(one, name)) };
    },
    async check(name, accountId) {
      if (checking.has(accountId) || checking.size >= CHECKS_AT_ONCE) return 'busy';
      checking.add(accountId);
      try {
        const zone = await store.latest.zones.get(name);
        if (zone === null) return null;
        const sets = expectedSets(zone);
        const checks = secondaries.map(async ({ server }) => ({
          address: addressText(server),
          ...(await checkSecondary(zone, server, sets)),
        }));
        const compared = Math.min(sets.length, CHECKED_SETS);
        return { serial: zone.serial, sets: sets.length, compared, secondaries: await Promise.all(checks) };
      } finally {
        checking.delete(accountId);
      }
    },
    dnssec: (name) =>
      readDnssec(
        name,
        secondaries.map(({ server }) => server),
      ),
  };
}

function shownHead(head: ZoneHeadRow) {
  const { count, first } = JSON.parse(head.problems_json) as {
    readonly count: number;
    readonly first: readonly ContentProblem[];
  };
  return {
    serial: head.serial,
    records: head.records,
    primary: head.primary_name,
    updated_at: head.updated_at,
    problems: count,
    problem_list: first,
  };
}

function stateOf({ server, waits }: NotifiedSecondary, name: string): SecondaryState {
  return { address: addressText(server), notifying: waits(name) };
}

/** `192.0.2.1:53`, IPv6 in brackets. */
export function addressText({ address, port }: ServerAddress): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

// The DS records that a domain's parent zone needs, from the CDS records that the signing engine publishes (RFC 7344). The
// server signs nothing itself.

/** A DS record (RFC 4034 §5). */
export interface DsRecord {
  readonly key_tag: number;
  readonly algorithm: number;
  readonly digest_type: number;
  /** Hexadecimal, lower case. */
  readonly digest: string;
}

/** What a secondary says about the signatures of a zone. */
type SignedState =
  | { readonly status: 'signed'; readonly ds: readonly DsRecord[] }
  /** The engine publishes no CDS; or the one that asks for the removal of DS records (RFC 8078 §4). */
  | { readonly status: 'unsigned'; readonly ds: readonly [] }
  | { readonly status: 'unknown'; readonly ds: readonly []; readonly fault: string };

/** Asks the secondaries in turn until one answers with CDS records. Never rejects. */
async function readDnssec(zone: string, servers: readonly ServerAddress[]): Promise<SignedState> {
  let fault: string | null = servers.length === 0 ? 'no secondary is configured' : null;
  for (const server of servers) {
    try {
      const reply = await queryServer(server, { name: zone, type: 'CDS' }, { recursive: false });
      if (reply.rcode !== 'NOERROR')
        throw new DnsFault('unanswered', `\`${server.address}\` answered ${reply.rcode}`);
      const ds = reply.answers.flatMap(({ type, data }) =>
        type === 'CDS' && Buffer.isBuffer(data) ? [readDs(data)] : [],
      );
      const wanted = ds.filter((one): one is DsRecord => one !== null && one.algorithm !== 0);
      if (wanted.length > 0) return { status: 'signed', ds: wanted };
    } catch (error) {
      fault = error instanceof DnsFault ? error.message : String(error);
    }
  }
  return fault === null ? { status: 'unsigned', ds: [] } : { status: 'unknown', ds: [], fault };
}

/** CDS data: key tag, algorithm, digest type, digest; `null`: too short. */
function readDs(data: Buffer): DsRecord | null {
  if (data.length < 5) return null;
  return {
    key_tag: data.readUInt16BE(0),
    algorithm: data[2]!,
    digest_type: data[3]!,
    digest: data.subarray(4).toString('hex'),
  };
}

// Compares what secondaries answer with the zone as the store has it: the serial of the SOA, and each record set by a query
// of its own, as a resolver would make it.

/** A record set that a secondary answers otherwise. */
export interface ZoneDifference {
  readonly name: string;
  readonly type: string;
  /** Data in zone file form, sorted. */
  readonly expected: readonly string[];
  readonly answered: readonly string[];
  /** Why there is no answer to compare; `null`: there is one. */
  readonly fault: string | null;
}

/** What one secondary answers. */
interface SecondaryCheck {
  /**
   * - `same` all compared sets are equal, whatever the serial: a secondary that signs numbers its own versions
   * - `behind` some set differs, and the serial is older
   * - `different` some set differs, though the serial is not older
   * - `unanswered` no answer for the zone's SOA
   */
  readonly state: 'same' | 'behind' | 'different' | 'unanswered';
  readonly serial: number | null;
  /** Why the SOA was not answered. */
  readonly fault: string | null;
  /** The first ones. */
  readonly differences: readonly ZoneDifference[];
  /** How many sets differ. */
  readonly different: number;
}

/** Record sets of a zone, each with the data that every secondary must answer. */
interface ExpectedSet {
  readonly name: string;
  readonly type: QueryType;
  readonly data: readonly string[];
}

/** The sets of a zone that a query of their own answers, by name and type. */
function expectedSets(zone: Pick<ZoneRow, 'name' | 'content'>): readonly ExpectedSet[] {
  const sets = new Map<string, { name: string; type: QueryType; data: string[] }>();
  const answers = decodeRecords(zone.content);
  // Servers refer queries at and below a delegation to its servers.
  const cuts = new Set(
    readRecords(zone.content).flatMap(({ name, type }) =>
      type === TYPES.NS && name !== zone.name ? [name] : [],
    ),
  );
  for (const answer of answers) {
    if (isBelow(answer.name, cuts)) continue;
    const key = `${answer.name} ${answer.type}`;
    const set = sets.get(key) ?? { name: answer.name, type: answer.type as QueryType, data: [] };
    set.data.push(dataText(answer));
    sets.set(key, set);
  }
  return [...sets.values()].map((set) => ({ ...set, data: set.data.sort() }));
}

/** Whether a name is at or below a delegation. */
function isBelow(name: string, cuts: ReadonlySet<string>): boolean {
  for (let from = name; from !== ''; from = from.slice(from.indexOf('.') + 1)) {
    if (cuts.has(from)) return true;
    if (!from.includes('.')) return false;
  }
  return false;
}

/** Records of a content, decoded like answers of servers. */
function decodeRecords(content: Uint8Array): readonly DnsAnswer[] {
  const found: DnsAnswer[] = [];
  const records = splitRecords(content);
  // The header counts records in 16 bits.
  for (let from = 0; from < records.length; from += 1_000) {
    const part = records.slice(from, from + 1_000);
    const header = Buffer.alloc(12);
    header.writeUInt16BE(0x8000, 2);
    header.writeUInt16BE(part.length, 6);
    found.push(...(decode(Buffer.concat([header, ...part])).answers ?? []).map(readAnswer));
  }
  return found;
}

/** Record data in zone file form. */
function dataText(answer: DnsAnswer): string {
  const read = answerData(answer);
  if (read === null) return JSON.stringify(answer.data);
  const { destination, mx_priority } = read.data;
  return mx_priority === null ? destination : `${mx_priority} ${destination}`;
}

/** Compares one secondary. Takes at most `CHECK_MS`. Never rejects. */
async function checkSecondary(
  zone: ZoneRow,
  server: ServerAddress,
  sets: readonly ExpectedSet[],
): Promise<SecondaryCheck> {
  try {
    return await withDeadline(CHECK_MS, undefined, (signal) => compare({ zone, server, signal }, sets));
  } catch (error) {
    return { ...UNANSWERED, fault: faultText(error) };
  }
}

const UNANSWERED = {
  state: 'unanswered',
  serial: null,
  fault: null,
  differences: [],
  different: 0,
} as const;

/** One check of one secondary. */
interface Check {
  readonly zone: ZoneRow;
  readonly server: ServerAddress;
  readonly signal: AbortSignal;
}

async function compare(check: Check, sets: readonly ExpectedSet[]): Promise<SecondaryCheck> {
  const { zone, server, signal } = check;
  const reply = await queryServer(server, { name: zone.name, type: 'SOA' }, { recursive: false, signal });
  const soa = reply.answers.find(({ type, name }) => type === 'SOA' && name === zone.name);
  if (soa === undefined) return { ...UNANSWERED, fault: `it answered ${reply.rcode} without the SOA` };
  const { serial } = soa.data as { readonly serial: number };
  const queue = [...sets.slice(0, CHECKED_SETS)];
  const differences: ZoneDifference[] = [];
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const difference = await compareSet(check, next);
      if (difference !== null) differences.push(difference);
    }
  };
  await Promise.all(Array.from({ length: CHECK_CONCURRENCY }, worker));
  const wrong = isGreater(zone.serial, serial) ? 'behind' : 'different';
  return {
    state: differences.length > 0 ? wrong : 'same',
    serial,
    fault: null,
    differences: differences.slice(0, LISTED_DIFFERENCES),
    different: differences.length,
  };
}

async function compareSet(
  { server, signal }: Check,
  { name, type, data }: ExpectedSet,
): Promise<ZoneDifference | null> {
  try {
    const reply = await queryServer(server, { name, type }, { recursive: false, signal });
    const answered = reply.answers
      .filter((answer) => answer.type === type && canonical(answer.name) === name)
      .map(dataText)
      .sort();
    const isSame = answered.length === data.length && answered.every((text, at) => text === data[at]);
    if (isSame) return null;
    const fault = reply.rcode === 'NOERROR' ? null : `it answered ${reply.rcode}`;
    return { name, type, expected: data, answered, fault };
  } catch (error) {
    return { name, type, expected: data, answered: [], fault: faultText(error) };
  }
}

function faultText(error: unknown): string {
  if (error instanceof DnsFault) return error.message;
  return error instanceof Error && error.name === 'TimeoutError'
    ? `no answer within ${CHECK_MS / 1_000} s`
    : String(error);
}

/**
 * Compares what secondaries answer with the zone as the store has it: the serial of the SOA, and each record set by a query
 * of its own, as a resolver would make it.
 */
import { decode } from 'dns-packet';
import { withDeadline } from '../../base/platform/tasks.ts';
import { queryServer } from '../dns/ask.ts';
import { DnsFault } from '../dns/fault.ts';
import { canonical, type DnsAnswer, type QueryType, readAnswer } from '../dns/message.ts';
import { answerData } from '../dns/record-data.ts';
import type { ServerAddress } from '../dns/server-address.ts';
import type { ZoneRow } from '../store/zone-repositories.ts';
import { CHECK_CONCURRENCY, CHECK_MS, CHECKED_SETS, LISTED_DIFFERENCES } from './limits.ts';
import { isGreater } from './soa.ts';
import { readRecords, splitRecords, TYPES } from './wire/records.ts';

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
export interface SecondaryCheck {
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
export function expectedSets(zone: Pick<ZoneRow, 'name' | 'content'>): readonly ExpectedSet[] {
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
export async function checkSecondary(
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

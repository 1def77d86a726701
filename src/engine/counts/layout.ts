/**
 * The sealed layout of counts, top lists and batches: what a node writes to its journal and sends, and what the store has.
 *
 * octet 0 the version · octet 1 the kind (`c` counts, `t` top lists, `b` a batch) · the content (`octets.ts`) · XXH32 of all
 * of it, little-endian. A domain's counts and top lists are sealed by themselves, so that the store need not open them to
 * take a batch. Names are texts, not positions in lists of this build: a name is written once and numbered afterwards.
 */
import { ACTION_MODES, RULE_TYPES } from '../../base/vocabulary/vocabulary.ts';
import { EFFECTS } from '../evaluator/decision.ts';
import {
  changeKey,
  createTopLists,
  createTrafficCounts,
  DIMENSIONS,
  hitKey,
  MAX_CHANGES,
  MAX_HITS,
  MAX_KEY_LENGTH,
  MAX_KEYS,
  MAX_VALUE_LENGTH,
  type RuleHits,
  type ShadowChange,
  SUMS,
  TOP_KINDS,
  type TopKind,
  type TopLists,
  type TrafficCounts,
} from './counts.ts';
import { readGateways, writeGateways } from './gateway-layout.ts';
import {
  addPosition,
  FIRST_REST_RANK,
  type HyperLogLog,
  MAX_RANK,
  MAX_SPARSE,
  makeDense,
  POSITIONS,
  positionsOf,
  REGISTERS,
} from './hyperloglog.ts';
import { addToBucket, BUCKETS, type LogHistogram } from './log-histogram.ts';
import {
  createWriter,
  finish,
  finishReading,
  hasMore,
  layoutFault,
  openFrame,
  type Reader,
  readCount,
  readFixed,
  readInteger,
  readName,
  readOctet,
  readOctets,
  readText,
  setOnce,
  skipText,
  type Writer,
  writeInteger,
  writeName,
  writeOctet,
  writeOctets,
  writeText,
} from './octets.ts';
import {
  createSpaceSaving,
  insert,
  listed,
  MAX_LIST_LENGTH,
  type SpaceSaving,
  TOP_CAPACITY,
} from './space-saving.ts';

/** Maximum number of domains and minutes in one batch: what a node with 10,000 busy domains counts in six minutes. */
const MAX_BATCH_ENTRIES = 65_536;

/** The version of the layout that this build writes and reads. */
export const COUNTS_VERSION = 1;
const COUNTS = { version: COUNTS_VERSION, kind: 'c' } as const;
const TOPS = { version: COUNTS_VERSION, kind: 't' } as const;
const BATCH = { version: COUNTS_VERSION, kind: 'b' } as const;
const MINUTE_MS = 60_000;
/** Maximum length of a domain's name (RFC 1035 §3.1, as text). */
const MAX_DOMAIN_LENGTH = 253;
/** What half an octet contains if the register's value exceeds the base by as much or more. */
const ESCAPE = 15;
/** A batch of counts, as a node sends it. */
export interface TrafficBatch {
  /** The number of the batch, which only rises for a node: a batch is counted once. */
  readonly batch: number;
  readonly entries: readonly TrafficBatchEntry[];
}

/** The counts of one domain and minute. */
export interface TrafficBatchEntry {
  readonly domain: string;
  /** Its start, milliseconds since the epoch: a multiple of 60,000. */
  readonly minute: number;
  /** Of `sealCounts`. */
  readonly counts: Uint8Array;
  /** Of `sealTops`; `null`: no list has a value. */
  readonly tops: Uint8Array | null;
}

/** Seals the counts of one domain. */
export function sealCounts(counts: TrafficCounts): Uint8Array {
  const writer = createWriter(COUNTS);
  const names = new Map<string, number>();
  writeInteger(writer, SUMS.length);
  for (const sum of SUMS) writeInteger(writer, counts.sums[sum]);
  for (const dimension of DIMENSIONS) {
    const keys = counts.by[dimension];
    writeInteger(writer, keys.size);
    for (const [key, requests] of keys) {
      writeName(writer, names, key);
      writeInteger(writer, requests);
    }
  }
  writeHits(writer, names, [...counts.hits.values()]);
  writeInteger(writer, counts.changes.size);
  for (const { type, id, from, to, instead, requests } of counts.changes.values()) {
    writeName(writer, names, type);
    writeInteger(writer, id);
    for (const text of [from, to, instead]) writeName(writer, names, text);
    writeInteger(writer, requests);
  }
  writeHistogram(writer, counts.edgeTimes);
  writeHistogram(writer, counts.originTimes);
  writeVisitors(writer, counts.visitors);
  if (counts.gateways.consumers.size > 0) writeGateways(writer, names, counts.gateways);
  return finish(writer);
}

/** @throws CountsFault when the octets are not sealed counts of this version */
export function openCounts(bytes: Uint8Array): TrafficCounts {
  const reader = openFrame(bytes, COUNTS);
  const counts = createTrafficCounts();
  const names: string[] = [];
  // A sum that an earlier release did not have is at the end of the list, and 0.
  const sums = readCount(reader, SUMS.length);
  for (const sum of SUMS.slice(0, sums)) counts.sums[sum] = readInteger(reader);
  for (const dimension of DIMENSIONS) {
    const keys = counts.by[dimension];
    for (let rest = readCount(reader, MAX_KEYS[dimension]); rest > 0; rest--) {
      setOnce(keys, readName(reader, names, MAX_KEY_LENGTH), readInteger(reader));
    }
  }
  readHits(reader, names, counts);
  for (let rest = readCount(reader, MAX_CHANGES); rest > 0; rest--) {
    const change = readChange(reader, names);
    setOnce(counts.changes, changeKey(change), change);
  }
  readHistogram(reader, counts.edgeTimes);
  readHistogram(reader, counts.originTimes);
  readVisitors(reader, counts.visitors);
  // Counts of an earlier release, or without requests to gateways, end here.
  if (hasMore(reader)) readGateways(reader, names, counts.gateways);
  finishReading(reader);
  return counts;
}

/** Reads a name of a closed list. */
function readWord<Word extends string>(reader: Reader, names: string[], words: readonly Word[]): Word {
  const name = readName(reader, names, MAX_KEY_LENGTH);
  const word = words.find((one) => one === name);
  if (word === undefined) throw layoutFault('a name that this build does not have');
  return word;
}

function writeHits(writer: Writer, names: Map<string, number>, hits: readonly RuleHits[]): void {
  writeInteger(writer, hits.length);
  if (hits.length === 0) return;
  const first = hits.reduce((least, { lastAt }) => Math.min(least, lastAt), Number.MAX_SAFE_INTEGER);
  writeInteger(writer, first);
  for (const one of hits) {
    writeName(writer, names, one.type);
    writeInteger(writer, one.id);
    writeName(writer, names, one.mode);
    writeName(writer, names, one.effect ?? '');
    writeInteger(writer, one.hits);
    writeInteger(writer, one.lastAt - first);
  }
}

const EFFECTS_OR_NONE = [...EFFECTS, ''] as const;

function readHits(reader: Reader, names: string[], { hits }: TrafficCounts): void {
  const count = readCount(reader, MAX_HITS);
  if (count === 0) return;
  const first = readInteger(reader);
  for (let rest = count; rest > 0; rest--) {
    const type = readWord(reader, names, RULE_TYPES);
    const id = readInteger(reader);
    const mode = readWord(reader, names, ACTION_MODES);
    const effect = readWord(reader, names, EFFECTS_OR_NONE);
    const rule = { type, id, mode, effect: effect === '' ? null : effect };
    const counted = readInteger(reader);
    const lastAt = first + readInteger(reader, Number.MAX_SAFE_INTEGER - first);
    setOnce(hits, hitKey(rule), { ...rule, hits: counted, lastAt });
  }
}

function readChange(reader: Reader, names: string[]): ShadowChange {
  return {
    type: readWord(reader, names, RULE_TYPES),
    id: readInteger(reader),
    from: readName(reader, names, MAX_KEY_LENGTH),
    to: readName(reader, names, MAX_KEY_LENGTH),
    instead: readName(reader, names, MAX_KEY_LENGTH),
    requests: readInteger(reader),
  };
}

function writeHistogram(writer: Writer, { first, counts }: LogHistogram): void {
  const from = counts.findIndex((count) => count > 0);
  const to = counts.findLastIndex((count) => count > 0) + 1;
  const used = from < 0 ? counts.subarray(0, 0) : counts.subarray(from, to);
  writeInteger(writer, used.length);
  if (used.length === 0) return;
  writeInteger(writer, first + from);
  for (const count of used) writeInteger(writer, count);
}

function readHistogram(reader: Reader, histogram: LogHistogram): void {
  const size = readCount(reader, BUCKETS);
  if (size === 0) return;
  const first = readInteger(reader, BUCKETS - size);
  for (let bucket = first; bucket < first + size; bucket++) {
    const count = readInteger(reader);
    if (count > 0) addToBucket(histogram, bucket, count);
  }
}

/**
 * Sparse: one more than the number of elements, then each. Dense: 0, the least register's value, half an octet for what each
 * exceeds it by, and an octet for each that exceeds it by 15 or more.
 */
function writeVisitors(writer: Writer, visitors: HyperLogLog): void {
  if (visitors.registers !== null) {
    writeInteger(writer, 0);
    writeRegisters(writer, visitors.registers);
    return;
  }
  const positions = positionsOf(visitors);
  writeInteger(writer, positions.length + 1);
  let next = 0;
  for (const [position, rank] of positions) {
    // Only a position without bits above the index has a rank.
    writeInteger(writer, position - next);
    if (position < REGISTERS) writeOctet(writer, rank);
    next = position + 1;
  }
}

function writeRegisters(writer: Writer, registers: Uint8Array): void {
  const base = registers.reduce((least, rank) => Math.min(least, rank));
  const half = (index: number): number => Math.min(ESCAPE, registers[index]! - base);
  writeOctet(writer, base);
  for (let index = 0; index < REGISTERS; index += 2) writeOctet(writer, half(index) | (half(index + 1) << 4));
  for (const rank of registers) {
    if (rank - base >= ESCAPE) writeOctet(writer, rank);
  }
}

function readVisitors(reader: Reader, visitors: HyperLogLog): void {
  const size = readInteger(reader, MAX_SPARSE + 1);
  if (size === 0) {
    readRegisters(reader, visitors);
    return;
  }
  let position = -1;
  for (let rest = size - 1; rest > 0; rest--) {
    position += 1 + readInteger(reader, POSITIONS);
    if (position >= POSITIONS) throw layoutFault('a visitor beyond all positions');
    addPosition(visitors, position, position < REGISTERS ? readRank(reader, FIRST_REST_RANK) : 0);
  }
}

function readRegisters(reader: Reader, visitors: HyperLogLog): void {
  const base = readRank(reader, 0);
  const halves = readFixed(reader, REGISTERS / 2);
  const registers = makeDense(visitors);
  for (let index = 0; index < REGISTERS; index++) {
    const pair = halves[index >> 1]!;
    const half = index % 2 === 0 ? pair & ESCAPE : pair >> 4;
    registers[index] = half === ESCAPE ? readRank(reader, base + ESCAPE) : base + half;
    if (registers[index]! > MAX_RANK) throw layoutFault(`a register above ${MAX_RANK}`);
  }
}

function readRank(reader: Reader, least: number): number {
  const rank = readOctet(reader);
  if (rank < least || rank > MAX_RANK)
    throw layoutFault(`a register of ${rank}, not ${least} to ${MAX_RANK}`);
  return rank;
}

/**
 * Maximum number of top lists that are read: those of a later release are after those of this one, and are skipped. A control plane
 * may be of an earlier release than its nodes.
 */
const MAX_LISTS = 32;

/** Seals top lists, each as compacted. Empty ones at the end are left out: an earlier release may not have them. */
export function sealTops(lists: TopLists): Uint8Array {
  const writer = createWriter(TOPS);
  const used = TOP_KINDS.findLastIndex((kind) => lists[kind].total > 0) + 1;
  const written = TOP_KINDS.slice(0, Math.max(used, FIRST_LISTS));
  writeInteger(writer, written.length);
  for (const kind of written) writeList(writer, lists[kind]);
  return finish(writer);
}

/** Lists that are always written: those of the first release. */
const FIRST_LISTS = 6;

/** @throws CountsFault when the octets are not sealed top lists of this version */
export function openTops(bytes: Uint8Array): TopLists {
  const reader = openFrame(bytes, TOPS);
  const lists = createTopLists();
  const count = readInteger(reader, MAX_LISTS);
  for (let index = 0; index < count; index++) {
    const kind = TOP_KINDS[index];
    if (kind === undefined) skipList(reader);
    else readList(reader, lists[kind]);
  }
  finishReading(reader);
  return lists;
}

/**
 * Opens one of the top lists; the others are skipped.
 * @throws CountsFault when the octets are not sealed top lists of this version
 */
export function openTop(bytes: Uint8Array, kind: TopKind): SpaceSaving {
  const reader = openFrame(bytes, TOPS);
  const summary = createSpaceSaving();
  const count = readInteger(reader, MAX_LISTS);
  for (let index = 0; index < count; index++) {
    if (TOP_KINDS[index] === kind) readList(reader, summary);
    else skipList(reader);
  }
  finishReading(reader);
  return summary;
}

/** By descending count, so that counts are small differences. */
function writeList(writer: Writer, summary: SpaceSaving): void {
  const { values, unlisted } = listed(summary);
  writeInteger(writer, values.length);
  writeInteger(writer, summary.total);
  writeInteger(writer, unlisted);
  let below = 0;
  for (let at = values.length - 1; at >= 0; at--) {
    const { value, count, error } = values[at]!;
    writeText(writer, value);
    writeInteger(writer, count - below);
    writeInteger(writer, error);
    below = count;
  }
}

function readList(reader: Reader, summary: SpaceSaving): void {
  let rest = readCount(reader, TOP_CAPACITY);
  summary.total = readInteger(reader);
  summary.unlisted = readInteger(reader, summary.total);
  for (let count = 0; rest > 0; rest--) {
    const value = readText(reader, MAX_VALUE_LENGTH);
    count += readInteger(reader, Number.MAX_SAFE_INTEGER - count);
    const error = readInteger(reader, count);
    if (summary.entries.has(value)) throw layoutFault('one value twice in a list');
    insert(summary, { value, count, error });
    if (summary.length > MAX_LIST_LENGTH)
      throw layoutFault(`a list of more than ${MAX_LIST_LENGTH} characters`);
  }
}

function skipList(reader: Reader): void {
  const values = readCount(reader, TOP_CAPACITY);
  for (let sums = 2; sums > 0; sums--) readInteger(reader);
  for (let rest = values; rest > 0; rest--) {
    skipText(reader, MAX_VALUE_LENGTH);
    for (let bounds = 2; bounds > 0; bounds--) readInteger(reader);
  }
}

/** Seals a batch. */
export function sealBatch({ batch, entries }: TrafficBatch): Uint8Array {
  const writer = createWriter(BATCH);
  writeInteger(writer, batch);
  writeInteger(writer, entries.length);
  for (const { domain, minute, counts, tops } of entries) {
    writeText(writer, domain);
    writeInteger(writer, minute / MINUTE_MS);
    writeOctets(writer, counts);
    writeOctets(writer, tops ?? NO_OCTETS);
  }
  return finish(writer);
}

const NO_OCTETS = new Uint8Array(0);

/**
 * Opens a batch; the counts of its entries are views of the octets, and not opened.
 * @throws CountsFault when the octets are not a batch of this version
 */
export function openBatch(bytes: Uint8Array): TrafficBatch {
  const reader = openFrame(bytes, BATCH);
  const batch = readInteger(reader);
  const entries: TrafficBatchEntry[] = [];
  for (let rest = readCount(reader, MAX_BATCH_ENTRIES); rest > 0; rest--) {
    const domain = readText(reader, MAX_DOMAIN_LENGTH);
    const minute = readInteger(reader, Math.floor(Number.MAX_SAFE_INTEGER / MINUTE_MS)) * MINUTE_MS;
    const counts = readOctets(reader);
    const tops = readOctets(reader);
    entries.push({ domain, minute, counts, tops: tops.length === 0 ? null : tops });
  }
  finishReading(reader);
  return { batch, entries };
}

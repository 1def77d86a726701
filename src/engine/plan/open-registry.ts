/**
 * Opened registries (layout: `registry.ts`): whose a key is, which consumer a claim names, what a token issuer demands. A
 * registry is opened once and shared by all evaluators whose plans refer to it; a consumer is decoded at its first use.
 */
import { QUOTA_PERIODS, type QuotaPeriod } from '../../base/vocabulary/vocabulary.ts';
import { NONE, PlanFault } from './layout.ts';
import { hashOn, hashPlace, hashStart, ROW_MASK } from './lists.ts';
import {
  CONSUMER_FLAG,
  CONSUMER_ROW,
  EXHAUSTED_ROW,
  KEY_DIGEST_OCTETS,
  KEY_ROW,
  keyHash,
  PLAN_ROW,
  QUOTA_CONSUMER_ROW,
  QUOTA_PLAN_ROW,
  REGISTRY_HEADER,
  REGISTRY_INDEX,
  REGISTRY_MAGIC,
  REGISTRY_VERSION,
  REGISTRY_VERSION_PLAIN,
  REGISTRY_VERSION_QUOTAS,
  type RegisteredIssuer,
  registryChecksum,
  SLOT_PLAN_ROW,
  STRING_ROW,
} from './registry.ts';

/** A consumer as gateways use it. */
export interface RegisteredConsumer {
  readonly username: string;
  readonly customId: string | null;
  readonly group: string | null;
  readonly labels: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly enabled: boolean;
  /** The name of its usage plan; `null`: that of the gateway. */
  readonly usagePlan: string | null;
  /** Ids and tags of operations; empty: all. */
  readonly acl: readonly string[];
  /** Scopes that it has with any credential. */
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch; `null`: never. */
  readonly expiresAt: number | null;
  /** The usage plans whose quota it has exhausted, and until when, in milliseconds since the epoch. */
  readonly exhausted: ReadonlyMap<string, number>;
}

/** A key, expired or not. */
export interface RegisteredKey {
  readonly consumer: RegisteredConsumer;
  /** The first 8 hex digits of its hash, for logs. */
  readonly id: string;
  /** Milliseconds since the epoch; `null`: never. */
  readonly expiresAt: number | null;
}

/** A usage plan as gateways use it. */
export interface RegisteredUsagePlan {
  readonly name: string;
  /** `null`: any number of requests. */
  readonly throttle: { readonly rate: number; readonly perSec: number; readonly burst: number } | null;
  /** `null`: any number of requests. */
  readonly quota: { readonly limit: number; readonly period: QuotaPeriod } | null;
  /** Requests of one consumer that may be in flight at the same time; `null`: any number. */
  readonly concurrency: number | null;
}

/** A registry as evaluators and verifiers of credentials use it. */
export interface OpenedRegistry {
  readonly kind: 'registry';
  /** Octets of the sealed form. */
  readonly octets: number;
  /** How many it has of each. */
  readonly counts: {
    readonly consumers: number;
    readonly keys: number;
    readonly plans: number;
    readonly issuers: number;
  };
  /** The consumer with a username. */
  consumer(username: string): RegisteredConsumer | null;
  /** The consumer that a claim names: by its `custom_id`, else by its username. */
  consumerOfClaim(name: string): RegisteredConsumer | null;
  /** The key with a digest. @param digest SHA-256 of its text, 32 octets; others find none */
  key(digest: Uint8Array): RegisteredKey | null;
  /** The token issuer with a name. */
  issuer(name: string): RegisteredIssuer | null;
  /** The usage plan with a name. */
  usagePlan(name: string): RegisteredUsagePlan | null;
}

/** What the caller knows about the octets. */
interface OpenRegistryOptions {
  /** Skip the checksum and the checks of the tables for octets that this process has checked before. */
  readonly trusted?: boolean;
}

/** The parts of a sealed registry. */
interface Parts {
  readonly words: Uint32Array;
  readonly text: Uint8Array | Uint16Array;
  readonly counts: OpenedRegistry['counts'];
  /** Words of the rows of consumers and usage plans. */
  readonly sizes: { readonly consumer: number; readonly plan: number };
}

/** Whether sealed octets are a registry, by their magic. */
export function isRegistry(bytes: Uint8Array): boolean {
  if (bytes.length < 4) return false;
  const magic = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0, true);
  return magic === REGISTRY_MAGIC;
}

/**
 * Opens a sealed registry. The octets must not change afterwards: the registry is a view of them (a copy is made only if the array
 * does not start on an 8-byte boundary).
 * @throws PlanFault naming what was found and what this build reads
 */
export function openRegistry(
  bytes: Uint8Array,
  { trusted = false }: OpenRegistryOptions = {},
): OpenedRegistry {
  const parts = partsOf(bytes, trusted);
  if (!trusted) checkParts(parts);
  const issuers = new Map(issuersOf(parts).map((issuer) => [issuer.name, issuer]));
  const plans = new Map(plansOf(parts).map((plan) => [plan.name, plan]));
  const consumers: (RegisteredConsumer | undefined)[] = [];
  const keys: (RegisteredKey | undefined)[] = [];
  const consumerAt = (row: number): RegisteredConsumer => {
    consumers[row] ??= readConsumer(parts, row);
    return consumers[row];
  };
  const byName = (table: number, field: number, name: string): RegisteredConsumer | null => {
    const row = consumerRow(parts, { table, field, name });
    return row < 0 ? null : consumerAt(row);
  };
  const consumer = (name: string): RegisteredConsumer | null =>
    byName(REGISTRY_INDEX.usernames, CONSUMER_ROW.username, name);
  return {
    kind: 'registry',
    octets: bytes.length,
    counts: parts.counts,
    consumer,
    consumerOfClaim: (name) =>
      byName(REGISTRY_INDEX.customIds, CONSUMER_ROW.customId, name) ?? consumer(name),
    key(digest) {
      const row = digest.length === KEY_DIGEST_OCTETS ? keyRow(parts, digest) : -1;
      if (row < 0) return null;
      keys[row] ??= readKey(parts, row, consumerAt);
      return keys[row];
    },
    issuer: (name) => issuers.get(name) ?? null,
    usagePlan: (name) => plans.get(name) ?? null,
  };
}

function fault(code: PlanFault['code'], what: string): PlanFault {
  return new PlanFault(code, `a sealed registry ${what}`);
}

function damaged(what: string): PlanFault {
  return fault('layout', `is damaged: ${what}; fetch or compile it again`);
}

function partsOf(bytes: Uint8Array, trusted: boolean): Parts {
  const aligned = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
  const start = REGISTRY_HEADER.size * 4;
  if (aligned.length < start)
    throw fault('truncated', `has at least ${start} octets, these are ${aligned.length}`);
  const view = new DataView(aligned.buffer, aligned.byteOffset, aligned.byteLength);
  const header = (word: number): number => view.getUint32(word * 4, true);
  if (header(REGISTRY_HEADER.magic) !== REGISTRY_MAGIC)
    throw fault('not_a_plan', 'starts with `EPLR`, these octets do not');
  const version = header(REGISTRY_HEADER.version);
  if (version < REGISTRY_VERSION_PLAIN || version > REGISTRY_VERSION) {
    const advice = version > REGISTRY_VERSION ? 'upgrade this node' : 'compile it again';
    const read = `${REGISTRY_VERSION_PLAIN} to ${REGISTRY_VERSION}`;
    throw fault('version', `has version ${version}, this build reads ${read}; ${advice}`);
  }
  const total = header(REGISTRY_HEADER.bytes);
  if (total !== aligned.length)
    throw fault('truncated', `says it has ${total} octets, these are ${aligned.length}`);
  if (!trusted && registryChecksum(aligned) !== header(REGISTRY_HEADER.checksum))
    throw fault('checksum', 'is damaged: its checksum differs; fetch or compile it again');
  const count = header(REGISTRY_HEADER.words);
  const units = header(REGISTRY_HEADER.text);
  const wide = header(REGISTRY_HEADER.wide) === 1;
  if (count < REGISTRY_INDEX.size || start + count * 4 + units * (wide ? 2 : 1) > total)
    throw damaged('its parts lie outside it');
  const from = aligned.byteOffset + start + count * 4;
  return {
    words: new Uint32Array(aligned.buffer, aligned.byteOffset + start, count),
    text: wide ? new Uint16Array(aligned.buffer, from, units) : new Uint8Array(aligned.buffer, from, units),
    counts: {
      consumers: header(REGISTRY_HEADER.consumers),
      keys: header(REGISTRY_HEADER.keys),
      plans: header(REGISTRY_HEADER.plans),
      issuers: header(REGISTRY_HEADER.issuers),
    },
    sizes: sizesOf(version),
  };
}

function sizesOf(version: number): Parts['sizes'] {
  if (version === REGISTRY_VERSION_PLAIN) return { consumer: CONSUMER_ROW.size, plan: PLAN_ROW.size };
  const plan = version === REGISTRY_VERSION_QUOTAS ? QUOTA_PLAN_ROW.size : SLOT_PLAN_ROW.size;
  return { consumer: QUOTA_CONSUMER_ROW.size, plan };
}

/**
 * Checks what look-ups follow: rows, strings and tables lie inside the registry, and each table has a free place.
 * PERF: loops over words, without a view or a closure for each row: each node does this before a revoked key is refused.
 */
function checkParts({ words, text, counts, sizes }: Parts): void {
  const index = (part: number): number => words[part]!;
  const strings = index(REGISTRY_INDEX.strings);
  const stringCount = index(REGISTRY_INDEX.stringCount);
  const rows = [
    [strings, stringCount * STRING_ROW.size],
    [index(REGISTRY_INDEX.consumers), counts.consumers * sizes.consumer],
    [index(REGISTRY_INDEX.keys), counts.keys * KEY_ROW.size],
    [index(REGISTRY_INDEX.plans), counts.plans * sizes.plan],
    [index(REGISTRY_INDEX.issuers), counts.issuers],
  ] as const;
  if (rows.some(([at, size]) => at + size > words.length)) throw damaged('its rows lie outside it');
  for (let at = strings; at < strings + stringCount * STRING_ROW.size; at += STRING_ROW.size)
    if (words[at + STRING_ROW.at]! + words[at + STRING_ROW.length]! > text.length)
      throw damaged('a text lies outside it');
  checkTable(words, index(REGISTRY_INDEX.keyTable), counts.keys);
  checkTable(words, index(REGISTRY_INDEX.usernames), counts.consumers);
  checkTable(words, index(REGISTRY_INDEX.customIds), counts.consumers);
  const consumers = index(REGISTRY_INDEX.consumers);
  const hasQuotas = sizes.consumer === QUOTA_CONSUMER_ROW.size;
  for (let row = 0, at = consumers; row < counts.consumers; row++, at += sizes.consumer) {
    if (!areBelow(words, at, at + CONSUMER_ROW.flags, stringCount)) throw outsideConsumer('texts');
    for (let list = at + CONSUMER_ROW.labels; list < at + CONSUMER_ROW.expiresLow; list++)
      if (!isStrings(words, words[list]!, stringCount)) throw outsideConsumer('texts');
    if (hasQuotas && !hasExhausted(words, at, stringCount)) throw outsideConsumer('quotas');
  }
  const keys = index(REGISTRY_INDEX.keys) + KEY_ROW.consumer;
  for (let row = 0; row < counts.keys; row++)
    if (words[keys + row * KEY_ROW.size]! >= counts.consumers) throw damaged('a key names no consumer');
  const issuers = index(REGISTRY_INDEX.issuers);
  if (!areBelow(words, issuers, issuers + counts.issuers, stringCount))
    throw damaged('a token issuer lies outside it');
  for (let row = 0; row < counts.plans; row++) {
    const at = index(REGISTRY_INDEX.plans) + row * sizes.plan;
    if (words[at + PLAN_ROW.name]! >= stringCount) throw damaged('a usage plan has no name');
    if (sizes.plan >= QUOTA_PLAN_ROW.size && words[at + QUOTA_PLAN_ROW.period]! >= QUOTA_PERIODS.length)
      throw damaged('a usage plan has an unknown period');
  }
}

function outsideConsumer(what: string): PlanFault {
  return damaged(`a consumer has ${what} outside it`);
}

/** Whether the words from an offset up to another are below a number. */
function areBelow(words: Uint32Array, from: number, end: number, most: number): boolean {
  for (let at = from; at < end; at++) if (words[at]! >= most) return false;
  return true;
}

/** Whether the exhausted quotas of the consumer in a row lie inside the registry. */
function hasExhausted(words: Uint32Array, row: number, stringCount: number): boolean {
  const from = words[row + QUOTA_CONSUMER_ROW.exhausted]!;
  if (from === NONE) return true;
  const end = from + 1 + (words[from] ?? NONE) * EXHAUSTED_ROW.size;
  if (end > words.length) return false;
  for (let at = from + 1; at < end; at += EXHAUSTED_ROW.size)
    if (words[at + EXHAUSTED_ROW.plan]! >= stringCount) return false;
  return true;
}

function isStrings(words: Uint32Array, at: number, stringCount: number): boolean {
  if (at === NONE) return true;
  const end = at + 1 + (words[at] ?? NONE);
  return end <= words.length && areBelow(words, at + 1, end, stringCount);
}

function checkTable(words: Uint32Array, at: number, rows: number): void {
  const size = (words[at] ?? NONE) + 1;
  const end = at + 1 + size;
  if (end > words.length || (size & (size - 1)) !== 0) throw damaged('a table has another size');
  let hasRoom = false;
  for (let place = at + 1; place < end; place++) {
    const word = words[place]!;
    const row = word & ROW_MASK;
    if (word === 0) hasRoom = true;
    else if (row === 0 || row > rows) throw damaged('a table names a row that is not there');
  }
  if (!hasRoom) throw damaged('a table has another size');
}

/** String `number`; the first one is empty. */
function stringAt({ words, text }: Parts, number: number): string {
  const row = words[REGISTRY_INDEX.strings]! + number * STRING_ROW.size;
  const from = words[row + STRING_ROW.at]!;
  const end = from + words[row + STRING_ROW.length]!;
  let decoded = '';
  for (let at = from; at < end; at++) decoded += String.fromCharCode(text[at]!);
  return decoded;
}

/** A count and strings at an offset. */
function stringsAt(parts: Parts, at: number): readonly string[] {
  if (at === NONE) return [];
  const { words } = parts;
  return Array.from(words.subarray(at + 1, at + 1 + words[at]!), (number) => stringAt(parts, number));
}

function issuersOf(parts: Parts): readonly RegisteredIssuer[] {
  const { words, counts } = parts;
  const from = words[REGISTRY_INDEX.issuers]!;
  try {
    return Array.from(
      words.subarray(from, from + counts.issuers),
      (number) => JSON.parse(stringAt(parts, number)) as RegisteredIssuer,
    );
  } catch {
    throw damaged('a token issuer is no JSON');
  }
}

function plansOf(parts: Parts): readonly RegisteredUsagePlan[] {
  const { words, counts, sizes } = parts;
  return Array.from({ length: counts.plans }, (_, row) => {
    const at = words[REGISTRY_INDEX.plans]! + row * sizes.plan;
    const rate = words[at + PLAN_ROW.rate]!;
    const throttle = { rate, perSec: words[at + PLAN_ROW.perSec]!, burst: words[at + PLAN_ROW.burst]! };
    return {
      name: stringAt(parts, words[at + PLAN_ROW.name]!),
      throttle: rate === 0 ? null : throttle,
      quota: sizes.plan >= QUOTA_PLAN_ROW.size ? quotaAt(words, at) : null,
      concurrency: sizes.plan >= SLOT_PLAN_ROW.size ? words[at + SLOT_PLAN_ROW.concurrency]! || null : null,
    };
  });
}

function quotaAt(words: Uint32Array, at: number): RegisteredUsagePlan['quota'] {
  const limit = numberAt(words, at + QUOTA_PLAN_ROW.quotaLow);
  return limit === 0 ? null : { limit, period: QUOTA_PERIODS[words[at + QUOTA_PLAN_ROW.period]!]! };
}

/** A number of two words, the low one first. */
function numberAt(words: Uint32Array, low: number): number {
  return words[low + 1]! * 2 ** 32 + words[low]!;
}

function readConsumer(parts: Parts, row: number): RegisteredConsumer {
  const { words, sizes } = parts;
  const at = words[REGISTRY_INDEX.consumers]! + row * sizes.consumer;
  const orNull = (field: number): string | null =>
    words[at + field] === 0 ? null : stringAt(parts, words[at + field]!);
  const list = (field: number): readonly string[] => stringsAt(parts, words[at + field]!);
  const flags = words[at + CONSUMER_ROW.flags]!;
  const pairs = list(CONSUMER_ROW.metadata);
  const metadata = pairs.flatMap((name, index) =>
    index % 2 === 0 ? [[name, pairs[index + 1]!] as const] : [],
  );
  return {
    username: stringAt(parts, words[at + CONSUMER_ROW.username]!),
    customId: orNull(CONSUMER_ROW.customId),
    group: orNull(CONSUMER_ROW.group),
    labels: list(CONSUMER_ROW.labels),
    metadata: Object.fromEntries(metadata),
    enabled: (flags & CONSUMER_FLAG.enabled) !== 0,
    usagePlan: orNull(CONSUMER_ROW.usagePlan),
    acl: list(CONSUMER_ROW.acl),
    scopes: list(CONSUMER_ROW.scopes),
    expiresAt: (flags & CONSUMER_FLAG.expires) === 0 ? null : numberAt(words, at + CONSUMER_ROW.expiresLow),
    exhausted: sizes.consumer === CONSUMER_ROW.size ? NOTHING : exhaustedAt(parts, at),
  };
}

const NOTHING: ReadonlyMap<string, number> = new Map();

function exhaustedAt(parts: Parts, row: number): ReadonlyMap<string, number> {
  const { words } = parts;
  const from = words[row + QUOTA_CONSUMER_ROW.exhausted]!;
  if (from === NONE) return NOTHING;
  return new Map(
    Array.from({ length: words[from]! }, (_, index) => {
      const at = from + 1 + index * EXHAUSTED_ROW.size;
      const plan = stringAt(parts, words[at + EXHAUSTED_ROW.plan]!);
      return [plan, numberAt(words, at + EXHAUSTED_ROW.untilLow)] as const;
    }),
  );
}

function readKey(
  { words }: Parts,
  row: number,
  consumerAt: (row: number) => RegisteredConsumer,
): RegisteredKey {
  const at = words[REGISTRY_INDEX.keys]! + row * KEY_ROW.size;
  return {
    consumer: consumerAt(words[at + KEY_ROW.consumer]!),
    id: words[at + KEY_ROW.digest]!.toString(16).padStart(8, '0'),
    expiresAt: words[at + KEY_ROW.expires] === 0 ? null : numberAt(words, at + KEY_ROW.expiresLow),
  };
}

/** Word `word` of a digest, the first octet the highest. */
function digestWord(digest: Uint8Array, word: number): number {
  const at = word * 4;
  return ((digest[at]! << 24) | (digest[at + 1]! << 16) | (digest[at + 2]! << 8) | digest[at + 3]!) >>> 0;
}

/** The row of the key with a digest of KEY_DIGEST_OCTETS, or -1. */
function keyRow({ words }: Parts, digest: Uint8Array): number {
  const hash = keyHash(digestWord(digest, 0), digestWord(digest, 1), words[REGISTRY_INDEX.seed]!);
  const table = words[REGISTRY_INDEX.keyTable]!;
  const mask = words[table]!;
  for (let place = hashPlace(hash, mask); ; place = (place + 1) & mask) {
    const word = words[table + 1 + place]!;
    if (word === 0) return -1;
    if (((word ^ hash) & ~ROW_MASK) !== 0) continue;
    const row = (word & ROW_MASK) - 1;
    const at = words[REGISTRY_INDEX.keys]! + row * KEY_ROW.size;
    let same = 0;
    while (same < KEY_ROW.consumer && words[at + same] === digestWord(digest, same)) same++;
    if (same === KEY_ROW.consumer) return row;
  }
}

/** A name, the table to search, and the string of a row that must be the name. */
interface NameSearch {
  readonly table: number;
  readonly field: number;
  readonly name: string;
}

/** The row of the consumer with a name, or -1. */
function consumerRow({ words, text, sizes }: Parts, { table: part, field, name }: NameSearch): number {
  if (name === '') return -1;
  let hash = hashStart(words[REGISTRY_INDEX.seed]!);
  for (let at = 0; at < name.length; at++) hash = hashOn(hash, name.charCodeAt(at));
  const table = words[part]!;
  const mask = words[table]!;
  for (let place = hashPlace(hash, mask); ; place = (place + 1) & mask) {
    const word = words[table + 1 + place]!;
    if (word === 0) return -1;
    if (((word ^ hash) & ~ROW_MASK) !== 0) continue;
    const row = (word & ROW_MASK) - 1;
    const string = words[words[REGISTRY_INDEX.consumers]! + row * sizes.consumer + field]!;
    const own = words[REGISTRY_INDEX.strings]! + string * STRING_ROW.size;
    if (words[own + STRING_ROW.length] !== name.length) continue;
    const from = words[own + STRING_ROW.at]!;
    let same = 0;
    while (same < name.length && text[from + same] === name.charCodeAt(same)) same++;
    if (same === name.length) return row;
  }
}

/**
 * Compiles a registry to its sealed form (layout: `engine/plan/registry.ts`): once for all plans of a domain, so that a new key
 * changes no plan but a digest in it. In: a registry as the model made it. Out: octets; the same objects always give the same, in
 * whatever order they are.
 */
import { assert } from '../../base/diagnostics/assert.ts';
import { MAX_SEALED_REGISTRY } from '../../base/vocabulary/limits.ts';
import { QUOTA_PERIODS } from '../../base/vocabulary/vocabulary.ts';
import type { Consumer, Registry, TokenIssuer, UsagePlan } from '../../rules/model/types.ts';
import { NONE } from '../plan/layout.ts';
import { wordsOf } from '../plan/list-digests.ts';
import { hashOn, hashPlace, hashStart, ROW_MASK } from '../plan/lists.ts';
import {
  CONSUMER_FLAG,
  CONSUMER_ROW,
  KEY_ROW,
  keyHash,
  PLAN_ROW,
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
} from '../plan/registry.ts';

/** A registry that its sealed form cannot have. The message follows `the registry`. */
export class RegistryTooLarge extends Error {
  override readonly name = 'RegistryTooLarge';
}

/** A quota that a consumer has exhausted. */
export interface ExhaustedQuota {
  /** The name of the usage plan. */
  readonly plan: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Exhausted quotas by the username of their consumer. */
export type Exhausted = ReadonlyMap<string, readonly ExhaustedQuota[]>;

/**
 * The registry's octets.
 * @throws RegistryTooLarge
 */
export function sealRegistry(registry: Registry, exhausted: Exhausted = new Map()): Uint8Array {
  const version = versionOf(registry);
  const { words, text, counts } = bodyOf(registry, { version, exhausted });
  const wide = text.some((part) => /[^\u0000-\u00ff]/.test(part));
  const units = text.reduce((sum, part) => sum + part.length, 0);
  const start = REGISTRY_HEADER.size * 4;
  const total = Math.ceil((start + words.length * 4 + units * (wide ? 2 : 1)) / 8) * 8;
  if (total > MAX_SEALED_REGISTRY) {
    const most = `at most ${MAX_SEALED_REGISTRY} are possible`;
    throw new RegistryTooLarge(`has ${total} octets when it is compiled, ${most}`);
  }
  const bytes = new Uint8Array(total);
  const view = new DataView(bytes.buffer);
  for (let word = 0; word < words.length; word++) view.setUint32(start + word * 4, words[word]!, true);
  let at = start + words.length * 4;
  for (const part of text) {
    for (let unit = 0; unit < part.length; unit++) {
      if (wide) view.setUint16(at, part.charCodeAt(unit), true);
      else bytes[at] = part.charCodeAt(unit);
      at += wide ? 2 : 1;
    }
  }
  const header = [REGISTRY_MAGIC, version, total, 0, words.length, units, wide ? 1 : 0, ...counts];
  for (const [word, value] of header.entries()) view.setUint32(word * 4, value, true);
  view.setUint32(REGISTRY_HEADER.checksum * 4, registryChecksum(bytes), true);
  return bytes;
}

/**
 * The lowest version whose readers follow all of a registry: those before version 3 would admit any number of requests at the same time,
 * and would take the consumers of an issuer with `consumer_prefix` for those of the value alone.
 */
function versionOf({ usage_plans, token_issuers }: Registry): number {
  const hasConcurrency = usage_plans.some(({ concurrency }) => concurrency !== null);
  const hasPrefix = token_issuers.some(({ consumer_prefix }) => consumer_prefix !== null);
  const hasQuota = usage_plans.some(({ quota }) => quota !== null);
  if (hasConcurrency || hasPrefix) return REGISTRY_VERSION;
  return hasQuota ? REGISTRY_VERSION_QUOTAS : REGISTRY_VERSION_PLAIN;
}

interface Body {
  readonly words: readonly number[];
  /** Strings, in the order of their numbers. */
  readonly text: readonly string[];
  /** Of consumers, keys, usage plans and token issuers. */
  readonly counts: readonly number[];
}

/** The growing words and strings of a registry. */
interface Pool {
  readonly words: number[];
  readonly strings: Map<string, number>;
}

/** The form of the rows, and what they have beside the registry. */
interface Rows {
  readonly version: number;
  readonly exhausted: Exhausted;
}

function bodyOf(
  { consumers: given, usage_plans, token_issuers }: Registry,
  { version, exhausted }: Rows,
): Body {
  const isPlain = version === REGISTRY_VERSION_PLAIN;
  const pool: Pool = {
    words: new Array<number>(REGISTRY_INDEX.size).fill(0),
    strings: new Map([['', 0]]),
  };
  const consumers = sortedBy(given, ({ username }) => username);
  const plans = sortedBy(usage_plans, ({ name }) => name);
  const issuers = sortedBy(token_issuers, ({ name }) => name);
  const index = new Array<number>(REGISTRY_INDEX.size).fill(NONE);
  index[REGISTRY_INDEX.consumers] = place(
    pool,
    consumers.flatMap((consumer) => {
      const row = consumerRow(pool, consumer);
      return isPlain ? row : [...row, placeExhausted(pool, exhausted.get(consumer.username) ?? [])];
    }),
  );
  const keys = keysOf(consumers);
  index[REGISTRY_INDEX.keys] = place(pool, keys.flatMap(keyRow));
  index[REGISTRY_INDEX.plans] = place(
    pool,
    plans.flatMap((plan) => planRow(pool, plan).slice(0, planWords(version))),
  );
  index[REGISTRY_INDEX.issuers] = place(
    pool,
    issuers.map((issuer) => stringNumber(pool, JSON.stringify(registeredIssuer(issuer)))),
  );
  layTables(pool, index, { consumers, keys });
  const text = [...pool.strings.keys()];
  index[REGISTRY_INDEX.stringCount] = text.length;
  index[REGISTRY_INDEX.strings] = place(pool, stringRows(text));
  for (const [word, value] of index.entries()) pool.words[word] = value;
  return { words: pool.words, text, counts: [consumers.length, keys.length, plans.length, issuers.length] };
}

/** Places a count and rows of EXHAUSTED_ROW, and returns the offset; NONE of none. */
function placeExhausted(pool: Pool, quotas: readonly ExhaustedQuota[]): number {
  if (quotas.length === 0) return NONE;
  const rows = sortedBy(quotas, ({ plan }) => plan).flatMap(({ plan, until }) => {
    return [stringNumber(pool, plan), ...wordsOfNumber(until)];
  });
  return place(pool, [quotas.length, ...rows]);
}

/** Words of the row of a usage plan. */
function planWords(version: number): number {
  if (version === REGISTRY_VERSION_PLAIN) return PLAN_ROW.size;
  return version === REGISTRY_VERSION_QUOTAS ? QUOTA_PLAN_ROW.size : SLOT_PLAN_ROW.size;
}

/** A row of SLOT_PLAN_ROW. */
function planRow(pool: Pool, { name, throttle, quota, concurrency }: UsagePlan): readonly number[] {
  const row = new Array<number>(SLOT_PLAN_ROW.size).fill(0);
  row[QUOTA_PLAN_ROW.name] = stringNumber(pool, name);
  row[QUOTA_PLAN_ROW.rate] = throttle?.rate ?? 0;
  row[QUOTA_PLAN_ROW.perSec] = throttle?.per_sec ?? 0;
  row[QUOTA_PLAN_ROW.burst] = throttle?.burst ?? 0;
  const [low, high] = wordsOfNumber(quota?.limit ?? 0);
  row[QUOTA_PLAN_ROW.quotaLow] = low;
  row[QUOTA_PLAN_ROW.quotaHigh] = high;
  row[QUOTA_PLAN_ROW.period] = quota === null ? 0 : QUOTA_PERIODS.indexOf(quota.period);
  row[SLOT_PLAN_ROW.concurrency] = concurrency ?? 0;
  return row;
}

/** A row of STRING_ROW for each text, one after the other. */
function stringRows(text: readonly string[]): readonly number[] {
  const rows: number[] = [];
  let at = 0;
  for (const { length } of text) {
    rows.push(at, length);
    at += length;
  }
  return rows;
}

/** In the order of UTF-16 code units, which is the same everywhere. */
function sortedBy<T>(objects: readonly T[], name: (object: T) => string): readonly T[] {
  return [...objects].sort((a, b) => (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0));
}

/** Adds words and returns the offset of the first. */
function place({ words }: Pool, added: readonly number[]): number {
  const at = words.length;
  for (const word of added) words.push(word);
  return at;
}

function stringNumber({ strings }: Pool, text: string): number {
  const known = strings.get(text);
  if (known !== undefined) return known;
  strings.set(text, strings.size);
  return strings.size - 1;
}

/** Places a count and strings, and returns the offset; NONE of none. */
function placeStrings(pool: Pool, texts: readonly string[]): number {
  if (texts.length === 0) return NONE;
  return place(pool, [texts.length, ...texts.map((text) => stringNumber(pool, text))]);
}

function consumerRow(pool: Pool, consumer: Consumer): readonly number[] {
  const row = new Array<number>(CONSUMER_ROW.size).fill(0);
  row[CONSUMER_ROW.username] = stringNumber(pool, consumer.username);
  row[CONSUMER_ROW.customId] = stringNumber(pool, consumer.custom_id ?? '');
  row[CONSUMER_ROW.group] = stringNumber(pool, consumer.group ?? '');
  row[CONSUMER_ROW.usagePlan] = stringNumber(pool, consumer.usage_plan ?? '');
  const expires = consumer.expires_at === null ? 0 : CONSUMER_FLAG.expires;
  row[CONSUMER_ROW.flags] = (consumer.enabled ? CONSUMER_FLAG.enabled : 0) | expires;
  row[CONSUMER_ROW.labels] = placeStrings(pool, consumer.labels);
  row[CONSUMER_ROW.acl] = placeStrings(pool, consumer.acl);
  row[CONSUMER_ROW.scopes] = placeStrings(pool, consumer.scopes);
  const metadata = sortedBy(Object.entries(consumer.metadata), ([name]) => name);
  row[CONSUMER_ROW.metadata] = placeStrings(pool, metadata.flat());
  const [low, high] = timeWords(consumer.expires_at);
  row[CONSUMER_ROW.expiresLow] = low;
  row[CONSUMER_ROW.expiresHigh] = high;
  return row;
}

/** The milliseconds since the epoch of a time, low word first; a time before 1970 is past, as 0 is. */
function timeWords(time: string | null): readonly [number, number] {
  return wordsOfNumber(time === null ? 0 : Math.max(0, Date.parse(time.toUpperCase())));
}

/** A whole number below 2^53 in two words, the low one first. */
function wordsOfNumber(value: number): readonly [number, number] {
  return [value >>> 0, Math.floor(value / 2 ** 32)];
}

/** A key with the number of its consumer. */
interface OwnedKey {
  readonly digest: readonly number[];
  readonly consumer: number;
  readonly expiresAt: string | null;
}

function keysOf(consumers: readonly Consumer[]): readonly OwnedKey[] {
  const keys = consumers.flatMap(({ keys: listed = [] }, consumer) =>
    listed.map(({ sha256, expires_at }) => ({ sha256, consumer, expiresAt: expires_at })),
  );
  return sortedBy(keys, ({ sha256 }) => sha256).map(({ sha256, ...key }) => ({
    digest: wordsOf(sha256),
    ...key,
  }));
}

function keyRow({ digest, consumer, expiresAt }: OwnedKey): readonly number[] {
  const row = [...digest, ...new Array<number>(KEY_ROW.size - digest.length).fill(0)];
  row[KEY_ROW.consumer] = consumer;
  row[KEY_ROW.expires] = expiresAt === null ? 0 : 1;
  const [low, high] = timeWords(expiresAt);
  row[KEY_ROW.expiresLow] = low;
  row[KEY_ROW.expiresHigh] = high;
  return row;
}

/** What edges need of an issuer. */
function registeredIssuer(issuer: TokenIssuer): RegisteredIssuer {
  return {
    name: issuer.name,
    issuer: issuer.issuer,
    audiences: issuer.audiences,
    jwksUrl: issuer.jwks_url,
    keys: issuer.keys ?? [],
    algorithms: issuer.algorithms,
    sources: issuer.sources,
    requiredClaims: Object.fromEntries(sortedBy(Object.entries(issuer.required_claims), ([name]) => name)),
    clockSkewSec: issuer.clock_skew_sec,
    consumerClaim: issuer.consumer_claim,
    ...(issuer.consumer_prefix !== null && { consumerPrefix: issuer.consumer_prefix }),
    scopesClaim: issuer.scopes_claim,
    defaultConsumer: issuer.default_consumer,
  };
}

/** Places that a search in a table may look at: a registry whose author found names of one hash must not be slow for others. */
const MOST_STEPS = 64;
/** Seeds that are tried. Of 20,000 digests of keys one seed in ten makes a search longer; all of them never do. */
const MOST_SEEDS = 16;

interface Hashed {
  readonly consumers: readonly Consumer[];
  readonly keys: readonly OwnedKey[];
}

/** Lays the tables under the first seed with which each is searched in few steps. @throws RegistryTooLarge */
function layTables(pool: Pool, index: number[], { consumers, keys }: Hashed): void {
  const named = consumers.flatMap(({ custom_id }, row) => (custom_id === null ? [] : [{ custom_id, row }]));
  for (let seed = 0; seed < MOST_SEEDS; seed++) {
    const tables = [
      tableOf(keys.map(({ digest }, row) => [keyHash(digest[0]!, digest[1]!, seed), row])),
      tableOf(consumers.map(({ username }, row) => [textHash(username, seed), row])),
      tableOf(named.map(({ custom_id, row }) => [textHash(custom_id, seed), row])),
    ] as const;
    const [keyTable, usernames, customIds] = tables;
    if (keyTable === null || usernames === null || customIds === null) continue;
    index[REGISTRY_INDEX.seed] = seed;
    index[REGISTRY_INDEX.keyTable] = place(pool, keyTable);
    index[REGISTRY_INDEX.usernames] = place(pool, usernames);
    index[REGISTRY_INDEX.customIds] = place(pool, customIds);
    return;
  }
  throw new RegistryTooLarge('has keys or names whose hashes collide, which no ordinary ones do');
}

/** The table of rows by their hashes; `null`: a search would take too many steps. */
function tableOf(hashes: readonly (readonly [hash: number, row: number])[]): readonly number[] | null {
  let size = 8;
  while (size < hashes.length * 2) size *= 2;
  const mask = size - 1;
  const table = new Array<number>(size).fill(0);
  for (const [hash, row] of hashes) {
    assert(row < ROW_MASK, 'the model bounds the number of rows');
    let at = hashPlace(hash, mask);
    let steps = 0;
    for (; table[at] !== 0; at = (at + 1) & mask) if (++steps > MOST_STEPS) return null;
    table[at] = ((hash & ~ROW_MASK) | (row + 1)) >>> 0;
  }
  return [mask, ...table];
}

function textHash(text: string, seed: number): number {
  let hash = hashStart(seed);
  for (let at = 0; at < text.length; at++) hash = hashOn(hash, text.charCodeAt(at));
  return hash;
}

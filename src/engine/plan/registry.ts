/**
 * The contract of a sealed registry (semantics §15): consumers with their keys, usage plans and token issuers of one domain as
 * one run of octets with a version and a checksum, to which a plan refers by digest as it refers to a list. A header, then 32-bit
 * words, then text, with one octet a character or two; in little-endian order.
 *
 * The words begin with REGISTRY_INDEX. A string is its number in the table of strings, whose first one is empty: 0 also means
 * an absent string.
 */
import { xxhash32 } from '../../base/octets/xxhash32.ts';
import {
  type CredentialSource,
  LIST_KINDS,
  type PublicJwk,
  type TokenAlgorithm,
} from '../../base/vocabulary/vocabulary.ts';

/** Raised whenever the layout or the meaning of a field changes; higher versions are refused. */
export const REGISTRY_VERSION = 3;
/** The version of a registry without `concurrency` and `consumer_prefix`, which builds before version 3 read, too. */
export const REGISTRY_VERSION_QUOTAS = 2;
/** The version of a registry without quotas either, which builds before version 2 read, too. */
export const REGISTRY_VERSION_PLAIN = 1;
/** The kind of the registry in a plan's rows of lists (LIST in `layout.ts`), of which it is the last; its name is empty. */
export const REGISTRY_KIND = LIST_KINDS.length;
/** `EPLR`, read as a little-endian number. */
export const REGISTRY_MAGIC = 0x524c5045;

/**
 * Words of the header. `words`: how many words follow. `text`: characters of the text. `wide`: 1 if a character has two octets. The
 * other four: how many there are.
 */
export const REGISTRY_HEADER = {
  magic: 0,
  version: 1,
  bytes: 2,
  checksum: 3,
  words: 4,
  text: 5,
  wide: 6,
  consumers: 7,
  keys: 8,
  plans: 9,
  issuers: 10,
  size: 12,
} as const;

/**
 * Offsets in the words, and numbers. `strings`: `stringCount` rows of STRING_ROW. `consumers`, `keys`, `plans`: rows of CONSUMER_ROW,
 * KEY_ROW, PLAN_ROW. `issuers`: strings with the JSON of a RegisteredIssuer. `keyTable`, `usernames`, `customIds`: hash tables (a mask,
 * then mask + 1 words, 0 for a free place, searched linearly) of keys by digest and of consumers by name; a word has the number of a row
 * plus one in the bits of ROW_MASK, and those of the hash above them. `seed`: where hashes start.
 */
export const REGISTRY_INDEX = {
  seed: 0,
  strings: 1,
  stringCount: 2,
  consumers: 3,
  keys: 4,
  plans: 5,
  issuers: 6,
  keyTable: 7,
  usernames: 8,
  customIds: 9,
  size: 10,
} as const;

/** Where the characters of a string are. */
export const STRING_ROW = { at: 0, length: 1, size: 2 } as const;

/**
 * A consumer: strings, flags, and offsets of a count and strings; `metadata` has a name and a value by turns. `expiresLow`,
 * `expiresHigh`: milliseconds since the epoch, if CONSUMER_FLAG says so.
 */
export const CONSUMER_ROW = {
  username: 0,
  customId: 1,
  group: 2,
  usagePlan: 3,
  flags: 4,
  labels: 5,
  acl: 6,
  scopes: 7,
  metadata: 8,
  expiresLow: 9,
  expiresHigh: 10,
  size: 11,
} as const;
/** The same from version 2 on, with the offset of a count and so many rows of EXHAUSTED_ROW; NONE: no quota of it is exhausted. */
export const QUOTA_CONSUMER_ROW = { ...CONSUMER_ROW, exhausted: 11, size: 12 } as const;
/** A quota that a consumer has exhausted: the name of the usage plan, and until when, in milliseconds since the epoch. */
export const EXHAUSTED_ROW = { plan: 0, untilLow: 1, untilHigh: 2, size: 3 } as const;
/** Bits of the flags of consumers. */
export const CONSUMER_FLAG = { enabled: 1, expires: 2 } as const;

/**
 * A key: SHA-256 of its text in eight words, the first octets the highest; the number of its consumer; `expires` is 1 if the two
 * words after it are a time.
 */
export const KEY_ROW = {
  digest: 0,
  consumer: 8,
  expires: 9,
  expiresLow: 10,
  expiresHigh: 11,
  size: 12,
} as const;
/** Octets of a digest. */
export const KEY_DIGEST_OCTETS = 32;

/** A usage plan: its name, and its throttle; a rate of 0: none. */
export const PLAN_ROW = { name: 0, rate: 1, perSec: 2, burst: 3, size: 4 } as const;
/**
 * The same from version 2 on, with its quota: requests in two words, the low one first, 0 for no quota, and the index of its period
 * in QUOTA_PERIODS.
 */
export const QUOTA_PLAN_ROW = { ...PLAN_ROW, quotaLow: 4, quotaHigh: 5, period: 6, size: 7 } as const;
/** The same from version 3 on, with the requests that may be in flight, of which 0 is any number. */
export const SLOT_PLAN_ROW = { ...QUOTA_PLAN_ROW, concurrency: 7, size: 8 } as const;

/** A token issuer, as gateways take its tokens (semantics §15). */
export interface RegisteredIssuer {
  readonly name: string;
  /** `iss` of its tokens, exactly. */
  readonly issuer: string;
  readonly audiences: readonly string[];
  /** Where the control plane fetches its keys; `null`: the customer listed them. Nodes fetch nothing. */
  readonly jwksUrl: string | null;
  /** Empty: they were not fetched yet, and no token is valid. */
  readonly keys: readonly PublicJwk[];
  readonly algorithms: readonly TokenAlgorithm[];
  readonly sources: readonly CredentialSource[];
  /** Values that claims must have, by name. */
  readonly requiredClaims: Readonly<Record<string, string | number | boolean>>;
  readonly clockSkewSec: number;
  readonly consumerClaim: string;
  /** Text before the claim's value; the whole is a `custom_id`. Absent: the value alone names the consumer. */
  readonly consumerPrefix?: string;
  readonly scopesClaim: string;
  /** The consumer as which a token acts that names none; `null`: it is refused. */
  readonly defaultConsumer: string | null;
}

/** The hash of a key by the first two words of its digest. */
export function keyHash(first: number, second: number, seed: number): number {
  // SHA-256 is uniform, but files have what their authors write: the seed moves digests that would collide.
  return Math.imul(first ^ Math.imul(second, 0x85ebca6b) ^ Math.imul(seed, 0x9e3779b1), 0xc2b2ae35);
}

/** The checksum over everything but the checksum's own word. */
export function registryChecksum(bytes: Uint8Array): number {
  const at = REGISTRY_HEADER.checksum * 4;
  return xxhash32(bytes.subarray(at + 4), xxhash32(bytes.subarray(0, at)));
}

/**
 * Purges of single responses, as the control plane sends them to nodes. A purge has a position, which rises within a domain's
 * history. A manifest entry has the position of the newest purge; a node that knows an older one requests the purges in
 * between, in an answer that is signed as a page is, so that nobody can forge, alter or withhold one.
 *
 * Purges of one value replace one another, and the number per domain is bounded (`MAX_PURGES`). `floor` is the highest
 * position that was dropped: a response from below it may match a dropped purge and counts as purged.
 */
import { purgeLocation } from '../../base/paths/purge-values.ts';
import { isObject } from '../../base/text/json-object.ts';
import { MAX_ENTRY_CHARACTERS, MAX_PURGES } from '../../base/vocabulary/limits.ts';
import { canonicalJson, type SignedPage } from './manifest.ts';

export const PURGES_FORMAT = 'edgeplan.purges/v1';

/**
 * What a purge names, and what it does.
 * - `url`, `prefix`, `tag`: the responses are not used again
 * - `refresh`: the responses to a URL are stale, and the next request for each revalidates it
 */
export const PURGE_KINDS = ['url', 'prefix', 'tag', 'refresh'] as const;
export type PurgeKind = (typeof PURGE_KINDS)[number];

/** One purged value in its normal form (`base/paths/purge-values.ts`). */
export interface CachePurge {
  readonly kind: PurgeKind;
  readonly value: string;
  readonly position: number;
}

/** The purges of a domain up to a position; each value once. */
export interface PurgeList {
  /** The position of the newest purge. */
  readonly through: number;
  /** Responses from below this position count as purged. */
  readonly floor: number;
  readonly purges: readonly CachePurge[];
}

/** The purges of a domain above a position, for a node. */
export interface PurgeAnswer extends PurgeList {
  readonly format: typeof PURGES_FORMAT;
  /** The store's epoch, as `ManifestPage.epoch`. */
  readonly epoch: number;
  readonly domain: string;
  readonly since: number;
}

/** Signed as a page is. */
export interface SignedPurges extends Omit<SignedPage, 'manifest'> {
  readonly purges: PurgeAnswer;
}

/** The text whose UTF-8 is signed. */
export function purgesText(answer: PurgeAnswer): string {
  return canonicalJson(answer);
}

/** The list after an answer: its purges replace those of the same values, and those at the floor or below end. */
export function mergePurges(before: PurgeList, { through, floor: answered, purges }: PurgeList): PurgeList {
  const floor = Math.max(before.floor, answered);
  const merged = new Map<string, CachePurge>();
  for (const purge of [...before.purges, ...purges]) {
    if (purge.position > floor) merged.set(`${purge.kind} ${purge.value}`, purge);
  }
  return { through, floor, purges: [...merged.values()] };
}

/** A list without purges up to a position: responses from before it count as purged. */
export function forgottenPurges(through: number): PurgeList {
  return { through, floor: through, purges: [] };
}

/** Checks a list that was read from JSON; `null`: it has another form, or is larger than any list that is written. */
export function readPurgeList(value: unknown): PurgeList | null {
  if (!isObject(value) || !Array.isArray(value['purges'])) return null;
  const { through, floor, purges } = value as unknown as PurgeList;
  if (!isPosition(through) || !isPosition(floor) || floor > through) return null;
  if (purges.length > MAX_PURGES || !purges.every((purge) => isPurge(purge, through))) return null;
  return { through, floor, purges: purges.map(({ kind, value, position }) => ({ kind, value, position })) };
}

function isPurge(purge: CachePurge, through: number): boolean {
  if (!isObject(purge) || !PURGE_KINDS.includes(purge.kind)) return false;
  if (typeof purge.value !== 'string' || purge.value.length > MAX_ENTRY_CHARACTERS) return false;
  return isPosition(purge.position) && purge.position <= through;
}

function isPosition(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

// Finds whether a cached response was purged since it was stored. In: a domain's purges. Out: for a response's URL, tags and
// the position of the newest purge when its fetch began, whether it may be used.
//
// A purge removes nothing when it arrives: its cost would grow with the cache. Each lookup compares the entry with what was
// purged after its fetch began, as Varnish does with its bans, and `http-cache` notes in the entry up to which position that
// was done. Hash tables answer for URLs and tags, and for prefixes once for each length that a prefix has. So a lookup after
// a purge costs some of these, bounded by `MAX_PURGES`, and every further one a comparison of two numbers. A response that
// was requested before a purge and arrives after it has the lower position, so that it is not used either.

/** What purges mean for a cached response. */
export type PurgeVerdict = 'valid' | 'stale' | 'purged';

/** A cached response as purges see it. */
export interface PurgeSubject {
  /** `host/path?query` of the cache key. */
  readonly url: string;
  /** In lower case; `null`: unknown, so that every purge of a tag matches. */
  readonly tags: readonly string[] | null;
  /** The newest purge of the domain that was known when its fetch began, or when it was judged last. */
  readonly position: number;
}

/** The purges of one domain; it never changes. */
export interface PurgeIndex {
  /** The position of the newest purge; 0: there was none. */
  readonly through: number;
  judge(subject: PurgeSubject): PurgeVerdict;
}

/** The index of a domain without purges. */
export const NO_PURGES: PurgeIndex = { through: 0, judge: () => 'valid' };

/** Positions by value. */
type Positions = Map<string, number>;

interface IndexState extends Pick<PurgeList, 'through' | 'floor'> {
  readonly urls: Positions;
  readonly prefixes: Positions;
  readonly tags: Positions;
  readonly refreshed: Positions;
  /** Lengths of prefixes, each once. */
  readonly lengths: readonly number[];
  /** The newest purges of each kind, so that most lookups end with a comparison. */
  readonly newestPrefix: number;
  readonly newestTag: number;
}

/** Builds the index of a list. */
export function createPurgeIndex({ through, floor, purges }: PurgeList): PurgeIndex {
  if (through === 0) return NO_PURGES;
  const prefixes = positionsOf(purges, 'prefix', (value) => purgeLocation(value).path);
  const tags = positionsOf(purges, 'tag', (value) => value);
  const state: IndexState = {
    through,
    floor,
    urls: positionsOf(purges, 'url', (value) => purgeLocation(value).whole),
    prefixes,
    tags,
    refreshed: positionsOf(purges, 'refresh', (value) => purgeLocation(value).whole),
    lengths: [...new Set([...prefixes.keys()].map(({ length }) => length))],
    newestPrefix: Math.max(0, ...prefixes.values()),
    newestTag: Math.max(0, ...tags.values()),
  };
  return { through, judge: (subject) => judge(state, subject) };
}

/** The newest position of each value; two values may have one normal form. */
function positionsOf(
  purges: readonly CachePurge[],
  kind: CachePurge['kind'],
  normal: (value: string) => string,
): Positions {
  const positions: Positions = new Map();
  for (const purge of purges) {
    if (purge.kind !== kind) continue;
    const value = normal(purge.value);
    positions.set(value, Math.max(purge.position, positions.get(value) ?? 0));
  }
  return positions;
}

function judge(state: IndexState, { url, tags, position }: PurgeSubject): PurgeVerdict {
  if (position >= state.through) return 'valid';
  if (position < state.floor) return 'purged';
  const { path, whole } = purgeLocation(url);
  const isSince = (at: number | undefined): boolean => at !== undefined && at > position;
  if (isSince(state.urls.get(whole))) return 'purged';
  if (state.newestTag > position) {
    if (tags === null || tags.some((tag) => isSince(state.tags.get(tag)))) return 'purged';
  }
  if (state.newestPrefix > position) {
    const matches = (length: number): boolean =>
      length <= path.length && isSince(state.prefixes.get(path.slice(0, length)));
    if (state.lengths.some(matches)) return 'purged';
  }
  return isSince(state.refreshed.get(whole)) ? 'stale' : 'valid';
}

/**
 * Finds whether a cached response was purged since it was stored. In: a domain's purges. Out: for a response's URL, tags and
 * the position of the newest purge when its fetch began, whether it may be used.
 *
 * A purge removes nothing when it arrives: its cost would grow with the cache. Each lookup compares the entry with what was
 * purged after its fetch began, as Varnish does with its bans, and `http-cache` notes in the entry up to which position that
 * was done. Hash tables answer for URLs and tags, and for prefixes once for each length that a prefix has. So a lookup after
 * a purge costs some of these, bounded by `MAX_PURGES`, and every further one a comparison of two numbers. A response that
 * was requested before a purge and arrives after it has the lower position, so that it is not used either.
 */
import { purgeLocation } from '../../base/paths/purge-values.ts';
import type { CachePurge, PurgeList } from './purges.ts';

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

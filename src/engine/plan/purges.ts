/**
 * Purges of single responses, as the control plane sends them to nodes. A purge has a position, which rises within a domain's
 * history. A manifest entry has the position of the newest purge; a node that knows an older one requests the purges in
 * between, in an answer that is signed as a page is, so that nobody can forge, alter or withhold one.
 *
 * Purges of one value replace one another, and the number per domain is bounded (`MAX_PURGES`). `floor` is the highest
 * position that was dropped: a response from below it may match a dropped purge and counts as purged.
 */

import { isObject } from '../../base/text/object.ts';
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

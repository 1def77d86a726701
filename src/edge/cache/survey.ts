/**
 * Surveys the cache: how much it has stored of each domain, and the URLs that were used last. Memory is read in parts, so that
 * requests are served in between. Entries that a purge covers are removed on the way, as Varnish's ban lurker does.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Disk } from './disk.ts';
import { type CacheEntry, judgePurges } from './entry.ts';
import { MAX_SURVEYED_TAGS, MAX_SURVEYED_URL, MAX_SURVEYED_URLS, SURVEYED_AT_ONCE } from './limits.ts';
import type { CacheContents, CachedUrl, SurveyedDomain } from './request.ts';
import type { ResponseStore } from './store.ts';

/** What is known of a domain so far. */
interface Gathered {
  readonly domain: SurveyedDomain;
  entries: number;
  octets: number;
  /** By URL, the most recently used first. */
  readonly urls: Map<string, CachedUrl>;
}

export interface SurveyOptions {
  readonly store: ResponseStore;
  readonly disk: Disk | null;
  /** A domain with its purges of now; `null`: the node does not serve the name. */
  readonly domainOf: (name: string) => SurveyedDomain | null;
  readonly clock: () => number;
}

/** What is stored, by domain; domains without stored responses are left out. */
export async function survey(options: SurveyOptions): Promise<ReadonlyMap<string, CacheContents>> {
  const { store, disk, domainOf } = options;
  const found = new Map<string, Gathered | null>();
  const gatheredOf = (name: string): Gathered | null => {
    let gathered = found.get(name);
    if (gathered === undefined) {
      const domain = domainOf(name);
      gathered = domain === null ? null : { domain, entries: 0, octets: 0, urls: new Map() };
      found.set(name, gathered);
    }
    return gathered;
  };
  for (const [place, key] of store.keys().entries()) {
    if (place % SURVEYED_AT_ONCE === SURVEYED_AT_ONCE - 1) await nextTurn();
    const gathered = gatheredOf(key.slice(0, key.indexOf('\n')));
    if (gathered !== null) add(options, gathered, key);
  }
  for (const name of disk?.domains() ?? []) gatheredOf(name);
  const contents = new Map<string, CacheContents>();
  for (const [name, gathered] of found) {
    const shown = gathered === null ? null : contentsOf(gathered, disk);
    if (shown !== null) contents.set(name, shown);
  }
  return contents;
}

/** Adds the entry of a key, or removes it if it can never be used again. */
function add({ store, clock }: SurveyOptions, gathered: Gathered, key: string): void {
  const entry = store.peek(key);
  if (entry === null || entry.terms.epoch > gathered.domain.purgeEpoch) return;
  const { domain, urls } = gathered;
  const url = urlOf(key);
  const isOutdated = entry.terms.epoch < domain.purgeEpoch;
  const verdict = isOutdated ? 'purged' : judgePurges(entry, domain, url);
  if (verdict === 'purged') {
    store.discard(domain, key);
    return;
  }
  gathered.entries++;
  gathered.octets += entry.length;
  const before = urls.get(url);
  if (before === undefined && (urls.size >= MAX_SURVEYED_URLS || url.length > MAX_SURVEYED_URL)) return;
  const freshUntil =
    verdict === 'stale' ? Math.min(entry.lifetime.freshUntil, clock()) : entry.lifetime.freshUntil;
  urls.set(url, before === undefined ? describe(url, entry, freshUntil) : merge(before, entry, freshUntil));
}

/** The URL of a key: between the domain and what selects a variant. */
function urlOf(key: string): string {
  const start = key.indexOf('\n') + 1;
  const end = key.indexOf('\n', start);
  return end < 0 ? key.slice(start) : key.slice(start, end);
}

function describe(
  url: string,
  { status, length, lifetime, tags }: CacheEntry,
  freshUntil: number,
): CachedUrl {
  const { storedAt } = lifetime;
  const shown = (tags ?? []).slice(0, MAX_SURVEYED_TAGS);
  return { url, status, octets: length, storedAt, freshUntil, tags: shown, copies: 1 };
}

/** A URL with one more variant: the newest one is described. */
function merge(before: CachedUrl, entry: CacheEntry, freshUntil: number): CachedUrl {
  const newest = entry.lifetime.storedAt > before.storedAt ? describe(before.url, entry, freshUntil) : before;
  return { ...newest, octets: before.octets + entry.length, copies: before.copies + 1 };
}

/** `null`: nothing is stored. */
function contentsOf({ domain, entries, octets, urls }: Gathered, disk: Disk | null): CacheContents | null {
  const { files, octets: diskOctets } = disk?.usage(domain) ?? { files: 0, octets: 0 };
  if (entries === 0 && files === 0) return null;
  return { entries, octets, diskFiles: files, diskOctets, urls: [...urls.values()] };
}

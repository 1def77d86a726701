/**
 * Builds cache entries. In: a response of the origin, and for a 304 the stored entry. Out: an entry whose headers, lifetime and
 * validators are those to store (RFC 9111 §3, §4.3.4).
 */
import { type HeaderList, headerOf, type ResponseHead } from '../../base/http/response.ts';
import { type CacheEntry, isShared, isValidatable } from './entry.ts';
import { freshenedHeaders, storedHeaders, validatorsOf, visitorHeaders, withLength } from './headers.ts';
import { type StoragePolicy, storagePolicy } from './policy.ts';
import type { CacheSettings } from './request.ts';
import { hasTags, tagsOf } from './tags.ts';
import { varyNames } from './vary.ts';

/** An entry whose body is not complete yet. */
export interface EntryDraft {
  readonly entry: Omit<CacheEntry, 'body' | 'length'>;
  readonly names: readonly string[];
  /** The headers that only the visitor gets whose request fetched the response. */
  readonly visitorHeaders: HeaderList;
  /** Octets of the body by Content-Length; `null`: unknown. */
  readonly announced: number | null;
  /** Whether another cache stored the response before: it came with `Age`. */
  readonly aged: boolean;
}

/** A response of the origin, with what its storage depends on. Times in milliseconds since the epoch. */
export interface OriginAnswer {
  readonly head: Pick<ResponseHead, 'status' | 'headers'>;
  readonly settings: CacheSettings;
  readonly authorized: boolean;
  readonly epoch: number;
  /** The domain's newest purge of single responses when the fetch began. */
  readonly purgesThrough: number;
  readonly sentAt: number;
  readonly now: number;
}

/** A draft of a response that may be stored and can be reused; `null`: the response is not stored. */
export function draftOf(answered: OriginAnswer): EntryDraft | null {
  const { head, now } = answered;
  const policy = storagePolicy(answered);
  const names = varyNames(head.headers);
  if (policy === null || names === null) return null;
  const headers = storedHeaders({ headers: head.headers, omit: policy.omit, now });
  const draft = {
    entry: entryOf(answered, policy, headers),
    names,
    visitorHeaders: visitorHeaders({ headers: head.headers, omit: policy.omit }),
    announced: announcedLength(head),
    aged: headerOf(head.headers, 'age') !== null,
  };
  // Without a lifetime and without a validator an entry could never be used.
  const useful =
    isShared(draft.entry) || isValidatable(draft.entry) || policy.lifetime.staleWhileRevalidate > 0;
  return useful || (policy.lifetime.staleIfError ?? 0) > 0 ? draft : null;
}

function entryOf(
  answered: OriginAnswer,
  { lifetime }: StoragePolicy,
  headers: readonly string[],
): EntryDraft['entry'] {
  const { settings, epoch, purgesThrough, head } = answered;
  return {
    status: head.status,
    headers,
    lifetime,
    validators: validatorsOf(headers),
    terms: { epoch, purgesThrough, mode: settings.mode, edgeTtl: settings.edgeTtl },
    tags: tagsOf(head.headers),
    judged: { position: purgesThrough },
    prepared: { browserTtl: null, headers },
  };
}

/** The head of an entry whose body is complete. */
export function finished({ entry }: EntryDraft, length: number): Omit<CacheEntry, 'body'> {
  const headers = entry.status === 204 ? entry.headers : withLength(entry.headers, length);
  return { ...entry, headers, length, prepared: { browserTtl: null, headers } };
}

/** An entry after a 304. */
interface FreshenedEntry {
  readonly entry: CacheEntry;
  /** Whether the entry may still be stored. */
  readonly keep: boolean;
  /** The headers of the 304 that only the visitor gets whose request fetched it. */
  readonly visitorHeaders: HeaderList;
}

/** The entry after a 304 (RFC 9111 §4.3.4). Its cookies are not stored, so they do not end the storage. */
export function freshened(stored: CacheEntry, answered: OriginAnswer): FreshenedEntry {
  const { head, now } = answered;
  const merged = freshenedHeaders(stored.headers, { headers: head.headers, omit: [], now });
  const age = headerOf(head.headers, 'age');
  const seen = { status: stored.status, headers: age === null ? merged : [...merged, 'Age', age] };
  const tags = hasTags(head.headers) ? tagsOf(head.headers) : stored.tags;
  const policy = storagePolicy({ ...answered, head: seen });
  if (policy === null) {
    const entry = { ...stored, tags, headers: merged, prepared: { browserTtl: null, headers: merged } };
    return { entry, keep: false, visitorHeaders: visitorHeaders({ headers: head.headers, omit: [] }) };
  }
  const headers = storedHeaders({ headers: merged, omit: policy.omit, now });
  const made = entryOf({ ...answered, head: seen }, policy, headers);
  const entry = { ...made, tags, body: stored.body, length: stored.length };
  return { entry, keep: true, visitorHeaders: visitorHeaders({ headers: head.headers, omit: policy.omit }) };
}

/** Whether a 304 refers to another response than the stored one: its strong tag differs. */
export function isOther({ validators }: CacheEntry, headers: readonly string[]): boolean {
  const tag = headerOf(headers, 'etag');
  return tag !== null && validators.etag !== null && opaque(tag) !== opaque(validators.etag);
}

function opaque(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}

function announcedLength({ status, headers }: OriginAnswer['head']): number | null {
  if (status === 204) return 0;
  const length = headerOf(headers, 'content-length');
  // An invalid length was rejected when the response head was read.
  return length === null || !Number.isSafeInteger(Number(length)) ? null : Number(length);
}

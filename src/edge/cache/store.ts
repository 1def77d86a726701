/**
 * Stored responses by key: memory in front of disk, and for both the index of the headers a resource varies
 * by. The lookup is synchronous if memory has the entry.
 */
import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { RequestHeaders } from '../../base/http/conditions.ts';
import { headerOf } from '../../base/http/response.ts';
import type { CommittableBodyFile, FileContent } from './body-file.ts';
import type { Disk } from './disk.ts';
import type { FilePlace } from './disk-partition.ts';
import type { CacheEntry, Lifetime } from './entry.ts';
import { ENTRY_OVERHEAD } from './limits.ts';
import type { CachedDomain } from './request.ts';
import { joinNames, tagsOf, variantOf } from './response-keys.ts';

/** The headers a resource varies by. A new generation makes all earlier variants unreachable. */
interface VaryIndex {
  readonly names: readonly string[];
  readonly generation: string;
}

type Stored = CacheEntry | VaryIndex;

/** One resource of one domain. */
export interface Resource {
  readonly domain: CachedDomain;
  /** Unique over all domains. */
  readonly key: string;
}

export interface ResponseStore {
  /** The variant for a request, or nothing. */
  find(resource: Resource, headers: RequestHeaders): CacheEntry | null | Promise<CacheEntry | null>;
  /**
   * The key of a request's variant, by the headers the resource varies by as far as they are in memory; `null`:
   * unknown.
   */
  keyOf(resource: Resource, headers: RequestHeaders): string | null;
  /** Stores an entry for the variant of a request. */
  put(resource: Resource, headers: RequestHeaders, kept: StoredEntry): void;
  /** Opens a file for a large body of a request's variant; `null`: none is available. */
  openBodyFile(
    resource: Resource,
    headers: RequestHeaders,
    options: StreamedEntryOptions,
  ): StreamedEntry | null;
  /** Removes a resource with all its variants. */
  remove(resource: Resource): void;
  /** The keys in memory, of entries and of indexes, the most recently used first. */
  keys(): readonly string[];
  /** The entry of a key in memory, without use of it; `null`: none, or an index. */
  peek(key: string): CacheEntry | null;
  /** Removes the entry of one key, in memory and on disk. */
  discard(domain: Pick<CachedDomain, 'name' | 'purgeEpoch'>, key: string): void;
}

export interface StoredEntry {
  readonly entry: CacheEntry;
  /** Header names the response varies by (`varyNames`). */
  readonly names: readonly string[];
}

export interface StreamedEntryOptions {
  readonly names: readonly string[];
  /** Called when the disk has caught up. */
  readonly onRest: () => void;
}

/** A large body that is being written to its file. */
export interface StreamedEntry {
  readonly file: CommittableBodyFile;
  /** Moves the file into place and stores the entry for it. */
  commit(entry: Omit<CacheEntry, 'body'>): void;
}

export interface StoreOptions {
  readonly memoryOctets: number;
  /** Largest body in octets that is stored in memory. */
  readonly maxInMemory: number;
  readonly disk: Disk | null;
}

interface StoreState {
  readonly memory: LRUCache<string, Stored>;
  /** Reads from disk under way, by key. A read that an invalidation has removed from here is outdated. */
  readonly loading: Map<string, Promise<Stored | null>>;
  /** Entries whose body files are being moved into place, by the path of the file. */
  readonly placing: Map<string, Promise<CacheEntry | null>>;
  readonly maxInMemory: number;
  readonly disk: Disk | null;
}

export function createResponseStore({ memoryOctets, maxInMemory, disk }: StoreOptions): ResponseStore {
  const memory = new LRUCache<string, Stored>({ maxSize: memoryOctets });
  const state: StoreState = { memory, loading: new Map(), placing: new Map(), maxInMemory, disk };
  return {
    find(resource, headers) {
      const first = get(state, resource.domain, resource.key);
      if (first instanceof Promise)
        return first.then((stored) => select(state, { resource, stored, headers }));
      return select(state, { resource, stored: first, headers });
    },
    keyOf({ key }, headers) {
      const stored = memory.get(key);
      return stored === undefined || !isIndex(stored) ? key : variantKey(key, stored, headers);
    },
    put(resource, headers, { entry, names }) {
      const key = keyFor(state, { resource, headers, names });
      if (key === null || isOutdated(memory.get(key), entry)) return;
      memory.set(key, entry, { size: sizeOf(key, entry) });
      const { body } = entry;
      if (body instanceof Uint8Array) write(state, { resource: { ...resource, key }, stored: entry, body });
    },
    openBodyFile: (resource, headers, options) => openBodyFile(state, { resource, headers, ...options }),
    remove({ domain, key }) {
      memory.delete(key);
      state.loading.delete(key);
      const place = disk === null ? null : disk.place(domain, key);
      if (place !== null) disk?.remove(place);
    },
    keys: () => [...memory.keys()],
    peek: (key) => entryOf(memory.peek(key) ?? null),
    discard(domain, key) {
      memory.delete(key);
      const place = disk === null ? null : disk.find(domain, key);
      if (place !== null) disk?.remove(place);
    },
  };
}

function get(state: StoreState, domain: CachedDomain, key: string): Stored | null | Promise<Stored | null> {
  return state.memory.get(key) ?? load(state, domain, key);
}

/** The value of a key, read from disk if memory does not have it; concurrent requests share one read. */
function load(state: StoreState, domain: CachedDomain, key: string): Promise<Stored | null> | null {
  const { memory, loading, disk, maxInMemory } = state;
  if (disk === null) return null;
  const place = disk.enter(domain, key);
  const placing = state.placing.get(place.path);
  if (placing !== undefined) return placing;
  if (!disk.mayHave(place)) return null;
  const before = loading.get(key);
  if (before !== undefined) return before;
  const loaded: Promise<Stored | null> = disk.read(place, maxInMemory).then((content) => {
    // Invalidated meanwhile: the value just read is outdated.
    if (loading.get(key) !== loaded) return memory.get(key) ?? null;
    loading.delete(key);
    const stored = content === null ? null : decode(content, key, place);
    if (stored !== null && !memory.has(key)) memory.set(key, stored, { size: sizeOf(key, stored) });
    return memory.get(key) ?? stored;
  });
  loading.set(key, loaded);
  return loaded;
}

interface Selection {
  readonly resource: Resource;
  readonly stored: Stored | null;
  readonly headers: RequestHeaders;
}

/** The entry for a request: the stored one, or the variant that its index leads to. */
function select(
  state: StoreState,
  { resource: { domain, key }, stored, headers }: Selection,
): CacheEntry | null | Promise<CacheEntry | null> {
  if (stored === null || !isIndex(stored)) return stored;
  const variant = variantKey(key, stored, headers);
  if (variant === null) return null;
  const entry = get(state, domain, variant);
  return entry instanceof Promise ? entry.then(entryOf) : entryOf(entry);
}

interface Writing {
  readonly resource: Resource;
  readonly stored: Stored;
  readonly body: Uint8Array;
}

/** Writes a value to disk, unless the domain's purge epoch has ended since its request. */
function write({ disk }: StoreState, { resource: { domain, key }, stored, body }: Writing): void {
  const place = disk === null ? null : disk.place(domain, key);
  if (place !== null) disk?.write(place, encode(key, stored), body);
}

/** The index after an entry that varies by `names`; `none`: it varies by nothing; `null`: by too many. */
function indexFor(
  state: StoreState,
  resource: Resource,
  names: readonly string[],
): VaryIndex | 'none' | null {
  const { key } = resource;
  const before = state.memory.get(key);
  const index = before !== undefined && isIndex(before) ? before : null;
  const all = index === null ? names : joinNames(index.names, names);
  if (all === null) return null;
  if (all.length === 0) return 'none';
  if (index !== null && all.length === index.names.length) return index;
  const next: VaryIndex = { names: all, generation: randomBytes(9).toString('base64url') };
  state.memory.set(key, next, { size: sizeOf(key, next) });
  write(state, { resource, stored: next, body: new Uint8Array(0) });
  return next;
}

interface Variant {
  readonly resource: Resource;
  readonly headers: RequestHeaders;
  readonly names: readonly string[];
}

/** The key to store an entry under; `null`: it varies by too much. */
function keyFor(state: StoreState, { resource, headers, names }: Variant): string | null {
  const index = indexFor(state, resource, names);
  if (index === null) return null;
  return index === 'none' ? resource.key : variantKey(resource.key, index, headers);
}

function openBodyFile(
  state: StoreState,
  variant: Variant & Pick<StreamedEntryOptions, 'onRest'>,
): StreamedEntry | null {
  const { memory, disk } = state;
  const key = disk === null ? null : keyFor(state, variant);
  if (disk === null || key === null) return null;
  const place = disk.place(variant.resource.domain, key);
  const file = place === null ? null : disk.openBodyFile(place, variant.onRest);
  if (place === null || file === null) return null;
  return {
    file,
    commit: (head) => {
      const entry: CacheEntry = { ...head, body: { place, sum: file.sum() } };
      const placing = file.commit(encode(key, entry)).then((isPlaced) => {
        state.placing.delete(place.path);
        if (!isPlaced) return null;
        memory.set(key, entry, { size: sizeOf(key, entry) });
        return entry;
      });
      // A disk may take a second for a large file; requests meanwhile wait for it rather than fetch the body again.
      state.placing.set(place.path, placing);
    },
  };
}

/** The head of a cache file. `life` is the lifetime's name in files of earlier releases too. */
type FileHead = { readonly kind: string; readonly key: string } & (
  | VaryIndex
  | (Pick<CacheEntry, 'status' | 'headers' | 'validators' | 'terms'> & {
      readonly life: Lifetime;
      /** Absent in files of earlier releases, whose headers have them. */
      readonly tags?: CacheEntry['tags'];
    })
);

function encode(key: string, stored: Stored): object {
  if (isIndex(stored)) return { kind: 'index', key, ...stored };
  const { status, headers, length, lifetime, validators, terms, tags } = stored;
  return { kind: 'entry', key, status, headers, length, life: lifetime, validators, terms, tags };
}

/**
 * The content of a file; `null`: it belongs to another key. Its checksums matched, so it is as it was
 * written.
 */
function decode({ head, body, foot }: FileContent, key: string, place: FilePlace): Stored | null {
  const noted = head as FileHead;
  if (noted.key !== key) return null;
  if (isIndex(noted)) return { names: noted.names, generation: noted.generation };
  const { status, headers, life: lifetime, validators, tags = tagsOf(headers) } = noted;
  // Earlier releases stored the cookies of the visitor whose request fetched the response.
  if (headerOf(headers, 'set-cookie') !== null) return null;
  const terms = { ...noted.terms, purgesThrough: noted.terms.purgesThrough ?? 0 };
  return {
    status,
    headers,
    length: foot.bodyOctets,
    body: body ?? { place, sum: foot.bodySum },
    lifetime,
    validators,
    terms,
    tags,
    judged: { position: terms.purgesThrough },
    prepared: { browserTtl: null, headers },
  };
}

/** Whether the fetch of an entry began before a purge that the stored one's began after. */
function isOutdated(stored: Stored | undefined, { terms }: CacheEntry): boolean {
  if (stored === undefined || isIndex(stored)) return false;
  const { epoch, purgesThrough } = stored.terms;
  return epoch > terms.epoch || (epoch === terms.epoch && purgesThrough > terms.purgesThrough);
}

function isIndex(stored: object): stored is VaryIndex {
  return 'generation' in stored;
}

function entryOf(stored: Stored | null): CacheEntry | null {
  return stored === null || isIndex(stored) ? null : stored;
}

function variantKey(key: string, { names, generation }: VaryIndex, headers: RequestHeaders): string | null {
  const variant = variantOf(names, headers);
  return variant === null ? null : `${key}\n${generation}\n${variant}`;
}

/** Octets of memory. A key has the URL of a request, which any client chooses: up to 16 KB around a body of one octet. */
function sizeOf(key: string, stored: Stored): number {
  let octets = ENTRY_OVERHEAD + key.length;
  if (isIndex(stored)) return octets;
  for (const text of stored.headers) octets += text.length;
  for (const tag of stored.tags ?? []) octets += tag.length;
  return stored.body instanceof Uint8Array ? octets + stored.body.length : octets;
}

/**
 * What is kept, by key: memory over disk, and over both the index of what a resource varies by. The lookup is synchronous
 * where memory has the answer.
 */
import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ServedDomain } from '../exchange.ts';
import type { Disk, FilePlace } from './disk.ts';
import type { Entry } from './entry.ts';
import type { FileContent } from './file.ts';
import { ENTRY_OVERHEAD } from './limits.ts';
import type { FileSpill } from './spill.ts';
import { joinNames, type RequestHeaders, variantOf } from './vary.ts';

/** What a resource varies by. A new generation makes every variant of before unreachable. */
interface VaryIndex {
  readonly names: readonly string[];
  readonly generation: string;
}

type Stored = Entry | VaryIndex;

/** One resource of one domain. */
export interface Resource {
  readonly domain: ServedDomain;
  /** Unique over all domains. */
  readonly key: string;
}

export interface Store {
  /** The variant for a request, or nothing. */
  find(resource: Resource, headers: RequestHeaders): Entry | null | Promise<Entry | null>;
  /** The key of a request's variant as far as memory knows what the resource varies by; `null`: it cannot be told. */
  keyOf(resource: Resource, headers: RequestHeaders): string | null;
  /** Keeps an entry for the variant of a request. */
  put(resource: Resource, headers: RequestHeaders, kept: Kept): void;
  /** A file for a large body of a request's variant; `null`: there is none to be had. */
  spill(resource: Resource, headers: RequestHeaders, options: SpillOptions): Spilling | null;
  /** Forgets a resource with all its variants. */
  remove(resource: Resource): void;
}

export interface Kept {
  readonly entry: Entry;
  /** What it varies by (`varyNames`). */
  readonly names: readonly string[];
}

export interface SpillOptions {
  readonly names: readonly string[];
  /** Called when the disk has caught up. */
  readonly onRest: () => void;
}

/** A large body on its way to its file. */
export interface Spilling {
  readonly file: FileSpill;
  /** Puts the file into place under an entry, whose body it is. */
  keep(entry: Omit<Entry, 'body'>): void;
}

export interface StoreOptions {
  readonly memoryOctets: number;
  /** Octets of a body held in memory. */
  readonly mostInMemory: number;
  readonly disk: Disk | null;
}

export function createStore({ memoryOctets, mostInMemory, disk }: StoreOptions): Store {
  const memory = new LRUCache<string, Stored>({ maxSize: memoryOctets });
  const loading = new Map<string, Promise<Stored | null>>();

  /** What a key holds, from the disk where memory has it not. */
  function load(domain: ServedDomain, key: string): Promise<Stored | null> | null {
    if (disk === null) return null;
    const place = disk.enter(domain, key);
    if (!disk.mayHave(place)) return null;
    const before = loading.get(key);
    if (before !== undefined) return before;
    const loaded: Promise<Stored | null> = disk.read(place, mostInMemory).then((content) => {
      // Invalidated meanwhile: what was read is what there was before.
      if (loading.get(key) !== loaded) return memory.get(key) ?? null;
      loading.delete(key);
      const stored = content === null ? null : decode(content, key, place);
      if (stored !== null && !memory.has(key)) memory.set(key, stored, { size: sizeOf(stored) });
      return memory.get(key) ?? stored;
    });
    loading.set(key, loaded);
    return loaded;
  }

  function get(domain: ServedDomain, key: string): Stored | null | Promise<Stored | null> {
    return memory.get(key) ?? load(domain, key);
  }

  function select(
    { domain, key }: Resource,
    stored: Stored | null,
    headers: RequestHeaders,
  ): Entry | null | Promise<Entry | null> {
    if (stored === null || !isIndex(stored)) return stored;
    const variant = variantKey(key, stored, headers);
    if (variant === null) return null;
    const found = get(domain, variant);
    return found instanceof Promise ? found.then(entryOf) : entryOf(found);
  }

  function write({ domain, key }: Resource, stored: Stored, body: Uint8Array): void {
    const place = disk === null ? null : disk.place(domain, key);
    if (place !== null) disk?.write(place, encode(key, stored), body);
  }

  /** The index after an entry that varies by `names`; `null`: by too much. */
  function indexFor({ domain, key }: Resource, names: readonly string[]): VaryIndex | 'none' | null {
    const before = memory.get(key);
    const index = before !== undefined && isIndex(before) ? before : null;
    const all = index === null ? names : joinNames(index.names, names);
    if (all === null) return null;
    if (all.length === 0) return 'none';
    if (index !== null && all.length === index.names.length) return index;
    const next: VaryIndex = { names: all, generation: randomBytes(9).toString('base64url') };
    memory.set(key, next, { size: sizeOf(next) });
    write({ domain, key }, next, new Uint8Array(0));
    return next;
  }

  function keyFor(resource: Resource, headers: RequestHeaders, names: readonly string[]): string | null {
    const index = indexFor(resource, names);
    return index === null || index === 'none'
      ? index && resource.key
      : variantKey(resource.key, index, headers);
  }

  return {
    find(resource, headers) {
      const first = get(resource.domain, resource.key);
      if (first instanceof Promise) return first.then((stored) => select(resource, stored, headers));
      return select(resource, first, headers);
    },
    keyOf({ key }, headers) {
      const stored = memory.get(key);
      return stored === undefined || !isIndex(stored) ? key : variantKey(key, stored, headers);
    },
    put(resource, headers, { entry, names }) {
      const key = keyFor(resource, headers, names);
      if (key === null) return;
      memory.set(key, entry, { size: sizeOf(entry) });
      if (entry.body instanceof Uint8Array) write({ domain: resource.domain, key }, entry, entry.body);
    },
    spill(resource, headers, { names, onRest }) {
      const key = disk === null ? null : keyFor(resource, headers, names);
      if (disk === null || key === null) return null;
      const place = disk.place(resource.domain, key);
      if (place === null) return null;
      const file = disk.spill(place, onRest);
      if (file === null) return null;
      return {
        file,
        keep: (head) => {
          const entry: Entry = { ...head, body: { place, sum: file.sum() } };
          void file.commit(encode(key, entry)).then((done) => {
            if (done) memory.set(key, entry, { size: sizeOf(entry) });
          });
        },
      };
    },
    remove({ domain, key }) {
      memory.delete(key);
      loading.delete(key);
      const place = disk === null ? null : disk.place(domain, key);
      if (place !== null) disk?.remove(place);
    },
  };
}

/** What a file's head says. */
function encode(key: string, stored: Stored): object {
  if (isIndex(stored)) return { kind: 'index', key, ...stored };
  const { status, headers, length, life, validators, terms } = stored;
  return { kind: 'entry', key, status, headers, length, life, validators, terms };
}

/** What a file holds; `null`: another key's. Its checksums were right, so it is as it was written. */
function decode({ head, body, foot }: FileContent, key: string, place: FilePlace): Stored | null {
  const noted = head as { readonly kind: string; readonly key: string } & Stored;
  if (noted.key !== key) return null;
  if (isIndex(noted)) return { names: noted.names, generation: noted.generation };
  const { status, headers, life, validators, terms } = noted;
  return {
    status,
    headers,
    length: foot.bodyOctets,
    body: body ?? { place, sum: foot.bodySum },
    life,
    validators,
    terms,
    prepared: { browserTtl: null, headers },
  };
}

function isIndex(stored: Stored): stored is VaryIndex {
  return 'generation' in stored;
}

function entryOf(stored: Stored | null): Entry | null {
  return stored === null || isIndex(stored) ? null : stored;
}

function variantKey(key: string, { names, generation }: VaryIndex, headers: RequestHeaders): string | null {
  const variant = variantOf(names, headers);
  return variant === null ? null : `${key}\n${generation}\n${variant}`;
}

function sizeOf(stored: Stored): number {
  if (isIndex(stored)) return ENTRY_OVERHEAD;
  let octets = ENTRY_OVERHEAD;
  for (const text of stored.headers) octets += text.length;
  return stored.body instanceof Uint8Array ? octets + stored.body.length : octets;
}

/**
 * The memory of the counters: pages of 32-bit words, each for entries of one shape, and the hash table that finds them.
 * A reference to an entry is the number of its page (15 bits) and its slot there (12 bits); pages are numbered from 1,
 * so that 0 refers to nothing.
 */
import {
  type Clock,
  COARSE,
  FINE,
  HASH,
  HOLDER_BORN,
  isBefore,
  type Layout,
  NEXT,
  NOW,
  newestHit,
} from './layout.ts';

const SLOT_BITS = 12;
const SLOT_MASK = (1 << SLOT_BITS) - 1;
const PLACES_SHIFT = 10;

/** The bits of a word that are a reference; the other five are an entry's idle class, or a link's check. */
export const REF_BITS = 27;
const REF_MASK = (1 << REF_BITS) - 1;
export const MAX_PAGES = 1 << (REF_BITS - SLOT_BITS);

/** All entries of one shape. */
export interface EntryShape {
  readonly layout: Layout;
  readonly pages: number[];
  /** Page that still has unused places, or 0, and how many of its places are used. */
  fresh: number;
  used: number;
  slots: number;
  /** The group that evicts next (a clock hand), and how many rounds the hand has made. */
  handPage: number;
  handSlot: number;
  rounds: number;
  /** How many searches for an idle entry were made elsewhere in the shape. */
  looks: number;
}

/** A run of entries of one shape; the entry of slot s begins at word s × stride. */
export interface CounterPage {
  readonly words: Uint32Array;
  readonly stride: number;
  readonly shape: EntryShape;
  /** Time of the newest hit on it, milliseconds >> 10. */
  newest: number;
}

/** By page number; `null` if a page was dropped. */
export type CounterPages = (CounterPage | null)[];

/** A shape without entries; it takes its first page with its first key. */
export function createShape(layout: Layout): EntryShape {
  return { layout, pages: [], fresh: 0, used: 0, slots: 0, handPage: 0, handSlot: 0, rounds: 0, looks: 0 };
}

export function refOf(page: number, slot: number): number {
  return (page << SLOT_BITS) | slot;
}

/** The page on which the entry lies. */
export function pageOf(pages: CounterPages, ref: number): CounterPage {
  return pages[ref >>> SLOT_BITS]!;
}

/** The place of the entry in its words. */
export function placeOf(page: CounterPage, ref: number): number {
  return (ref & SLOT_MASK) * page.stride;
}

/** Notes that an entry of the page was hit now, so that the page is not taken for stale. */
export function noteHit(page: CounterPage, clock: Clock): void {
  const coarse = Math.floor(clock[NOW]! / 1024);
  if (coarse > page.newest) page.newest = coarse;
}

/** Idle class of entries that go only when their memory is needed. */
export const NEVER_IDLE = 31;

/** Milliseconds after which a key of a class is idle. */
const IDLE_TIMES = Float64Array.from({ length: 32 }, (_, idle) =>
  idle === NEVER_IDLE ? Number.POSITIVE_INFINITY : 1000 * 2 ** idle,
);

/**
 * The class of windows: after its time a key without hits counts nothing and holds no place. Powers of two of a
 * second, since an entry has five bits for it.
 */
export function idleClass(windowMs: number): number {
  return 32 - Math.clz32(Math.ceil((windowMs * 17) / 16_000) - 1);
}

/** Whether the key's window has passed, and nothing is lost with it. */
export function isIdle(pages: CounterPages, ref: number, time: number): boolean {
  const page = pageOf(pages, ref);
  const at = placeOf(page, ref);
  if (!isSilent(page.words, at, time)) return false;
  const holder = holderOf(pages, ref);
  return holder === 0 || isIdle(pages, holder, time);
}

/** Whether the entry was not hit for the time of its class; a path's place may still count for its address. */
export function isSilent(words: Uint32Array, at: number, time: number): boolean {
  return time - newestHit(words, at, time) >= IDLE_TIMES[words[at + NEXT]! >>> REF_BITS]!;
}

/** The link of a per-path entry to its holder: the reference, and five bits that detect a new entry in the same place. */
export function linkTo(pages: CounterPages, holder: number): number {
  const page = pageOf(pages, holder);
  return holder | (page.words[placeOf(page, holder) + HASH]! << REF_BITS);
}

/** The holder in which the per-path entry has its place, or 0. */
export function holderOf(pages: CounterPages, ref: number): number {
  const page = pageOf(pages, ref);
  const { linkAt } = page.shape.layout;
  if (linkAt < 0) return 0;
  const at = placeOf(page, ref);
  const link = page.words[at + linkAt]!;
  const holder = link & REF_MASK;
  const holderPage = pages[holder >>> SLOT_BITS];
  if (holderPage?.shape.layout.kind !== 'holder') return 0;
  const holderAt = placeOf(holderPage, holder);
  if (holderAt >= holderPage.words.length) return 0;
  if ((holderPage.words[holderAt + HASH]! << REF_BITS) >>> REF_BITS !== link >>> REF_BITS) return 0;
  // A place of an earlier stay of the address is not one of this stay.
  return isBefore(page.words[at + COARSE]!, holderPage.words[holderAt + HOLDER_BORN]!) ? 0 : holder;
}

/** Places the holder has given to paths: in its word 3, above the 10 bits of time. */
export function placesTaken(pages: CounterPages, holder: number): number {
  const page = pageOf(pages, holder);
  return page.words[placeOf(page, holder) + FINE]! >>> PLACES_SHIFT;
}

/** Notes one more place given (1) or one less (-1). */
export function changePlaces(pages: CounterPages, holder: number, by: 1 | -1): void {
  const page = pageOf(pages, holder);
  const at = placeOf(page, holder) + FINE;
  if (by === 1) page.words[at]! += 1 << PLACES_SHIFT;
  else if (page.words[at]! >= 1 << PLACES_SHIFT) page.words[at]! -= 1 << PLACES_SHIFT;
}

/** Gives the place of a per-path entry back to its address, else its return would take a second one. */
export function freePlace(pages: CounterPages, ref: number): void {
  const holder = holderOf(pages, ref);
  if (holder !== 0) changePlaces(pages, holder, -1);
}

// The hash table of the counters: buckets of chained entries, the chain running through the entries themselves. It
// grows by one bucket at a time (linear hashing; Litwin, "Linear hashing: a new tool for file and table addressing",
// 1980), so that no request waits while a table is rebuilt.

const FIRST_BUCKETS = 64;

/** The fields of a hash table. */
export type BucketTable = readonly [
  heads: Uint32Array<ArrayBuffer>,
  count: number,
  level: number,
  keys: number,
];

export class Buckets {
  readonly #pages: CounterPages;
  #heads = new Uint32Array(FIRST_BUCKETS);
  /** Buckets in use, and the power of two at or below. */
  #count = FIRST_BUCKETS;
  #level = FIRST_BUCKETS;
  #keys = 0;

  constructor(pages: CounterPages) {
    this.#pages = pages;
  }

  /** Buckets there is memory for, four octets each. */
  get length(): number {
    return this.#heads.length;
  }

  /** The entry of this hash and shape, or 0. */
  find(shape: EntryShape, hash: Int32Array): number {
    const pages = this.#pages;
    const low = hash[0]!;
    const tag = hash[1]!;
    const { tagAt, tagMask } = shape.layout;
    let ref = this.#heads[this.#bucketOf(low)]!;
    while (ref !== 0) {
      const page = pageOf(pages, ref);
      const words = page.words;
      const at = placeOf(page, ref);
      if ((words[at + HASH]! | 0) === low && page.shape === shape) {
        if (((words[at + tagAt]! ^ tag) & tagMask) === 0) return ref;
      }
      ref = words[at + NEXT]! & REF_MASK;
    }
    return 0;
  }

  /** Puts an entry first in the bucket of its hash. */
  insert(ref: number): void {
    const page = pageOf(this.#pages, ref);
    const at = placeOf(page, ref);
    const bucket = this.#bucketOf(page.words[at + HASH]!);
    page.words[at + NEXT] = (page.words[at + NEXT]! & ~REF_MASK) | this.#heads[bucket]!;
    this.#heads[bucket] = ref;
    this.#keys++;
    if (this.#keys > this.#count && this.#count < this.#heads.length) this.#split();
  }

  /** Takes an entry out of its bucket. */
  remove(ref: number): void {
    const page = pageOf(this.#pages, ref);
    const at = placeOf(page, ref);
    const next = page.words[at + NEXT]! & REF_MASK;
    const bucket = this.#bucketOf(page.words[at + HASH]!);
    this.#keys--;
    let before = this.#heads[bucket]!;
    if (before === ref) {
      this.#heads[bucket] = next;
      return;
    }
    for (;;) {
      const other = pageOf(this.#pages, before);
      const link = placeOf(other, before) + NEXT;
      const after = other.words[link]! & REF_MASK;
      if (after === ref) {
        other.words[link] = (other.words[link]! & ~REF_MASK) | next;
        return;
      }
      before = after;
    }
  }

  /** Adds memory for more buckets; they come into use as keys come. */
  extend(more: number): void {
    const old = this.#heads;
    this.#heads = new Uint32Array(old.length + more);
    this.#heads.set(old);
  }

  /** The table for `saved.ts`: buckets, those in use, the power of two at or below, keys. */
  get table(): BucketTable {
    return [this.#heads, this.#count, this.#level, this.#keys];
  }

  set table([heads, count, level, keys]: BucketTable) {
    this.#heads = heads;
    this.#count = count;
    this.#level = level;
    this.#keys = keys;
  }

  #bucketOf(low: number): number {
    const bucket = low & (2 * this.#level - 1);
    return bucket < this.#count ? bucket : low & (this.#level - 1);
  }

  /** Divides the next bucket in two. */
  #split(): void {
    const from = this.#count - this.#level;
    let ref = this.#heads[from]!;
    let stay = 0;
    let move = 0;
    while (ref !== 0) {
      const page = pageOf(this.#pages, ref);
      const words = page.words;
      const at = placeOf(page, ref);
      const next = words[at + NEXT]! & REF_MASK;
      const moves = (words[at + HASH]! & this.#level) !== 0;
      words[at + NEXT] = (words[at + NEXT]! & ~REF_MASK) | (moves ? move : stay);
      if (moves) move = ref;
      else stay = ref;
      ref = next;
    }
    this.#heads[from] = stay;
    this.#heads[this.#count] = move;
    this.#count++;
    if (this.#count === 2 * this.#level) this.#level = this.#count;
  }
}

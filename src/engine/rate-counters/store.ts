/**
 * The store of counter keys: entries of several shapes in pages of typed arrays, found through a hash table with chains,
 * never more octets than the bound. In: a key's hash and shape. Out: a reference to its entry.
 *
 * No operation takes time that grows with the number of keys: the table grows a bucket at a time (linear hashing,
 * Litwin 1980), a full shape evicts the stalest of a group of sixteen entries, and the groups take turns. A key is
 * thus evicted only after about as many newer keys came as the shape has places, as with a true LRU list, which
 * would cost eight octets a key.
 */
import { type Clock, HASH, NEXT, NOW, nearestTime, newestHit, stamp } from './layout.ts';
import {
  Buckets,
  type CounterPages,
  type EntryShape,
  freePlace,
  isIdle,
  isSilent,
  MAX_PAGES,
  pageOf,
  placeOf,
  REF_BITS,
  refOf,
} from './pages.ts';

/** A page reaches 64 KiB: small compared with the bound, and dropped as a whole when another shape needs the room. */
const PAGE_WORDS = 16_384;
const GROUP = 16;
/** Buckets per place: one, or a half if the widest entries leave no room for more within 64 octets a key. */
const WIDE_STRIDE = 15;
/** Groups searched for an idle entry before a shape grows. */
const GROUPS_SEEN = 16;
/** Pages compared when a shape needs room and the bound is reached. */
const PAGES_SEEN = 16;
/** Octets counted for what a page costs besides its words. */
const PAGE_OVERHEAD = 64;

/** The smallest bound a store accepts, octets: room for one key of the largest shape and for its holder. */
export const MIN_BYTES = 4096;

/** The bound of a store, its evictions, and the page that is compared next when it is full. */
export interface StoreMarks {
  readonly maxBytes: number;
  readonly evictions: number;
  readonly pageHand: number;
}

export class EntryStore {
  readonly #maxBytes: number;
  #bytes: number;
  #evictions = 0;
  #slots = 0;
  /** Buckets that the places of all pages are worth. */
  #bucketShare = 0;
  readonly #pages: CounterPages = [null];
  readonly #buckets = new Buckets(this.#pages);
  readonly #freeNumbers: number[] = [];
  #pageHand = 0;

  /** @param maxBytes at least `MIN_BYTES`. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#bytes = this.#buckets.length * 4;
  }

  /** Octets in use, pages and buckets. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keys that were given up although their window had not passed. */
  get evictions(): number {
    return this.#evictions;
  }

  /** Where references lead. */
  get pages(): CounterPages {
    return this.#pages;
  }

  /** The entry of this hash and shape, or 0. */
  find(shape: EntryShape, hash: Int32Array): number {
    return this.#buckets.find(shape, hash);
  }

  /**
   * An entry of now without counts for a hash that `find` did not find. May give up any other entry, holders included.
   * @param idle idle class: how long after its newest hit the key is of no use (`idleClass`)
   * @param clock decides which entries are stale
   */
  // PERF: four parameters, since an options object would be one allocation for every new visitor of a flood.
  create(shape: EntryShape, hash: Int32Array, idle: number, clock: Clock): number {
    const ref = shape.fresh === 0 ? this.#vacant(shape, clock[NOW]!) : this.#takeFresh(shape);
    const { stride, tagAt, tagMask } = shape.layout;
    const page = pageOf(this.#pages, ref);
    const words = page.words;
    const at = placeOf(page, ref);
    words.fill(0, at, at + stride);
    words[at + HASH] = hash[0]!;
    words[at + tagAt] = hash[1]! & tagMask;
    words[at + NEXT] = idle << REF_BITS;
    // A time of 0 would be one of the year 2109 for now in the 69 years before it.
    stamp(words, at, clock);
    this.#buckets.insert(ref);
    return ref;
  }

  /** What `saved.ts` saves of the store besides its pages and buckets. */
  get marks(): StoreMarks {
    return { maxBytes: this.#maxBytes, evictions: this.#evictions, pageHand: this.#pageHand };
  }

  get buckets(): Buckets {
    return this.#buckets;
  }

  /** Counts what `saved.ts` has added to the pages and buckets of an empty store. */
  adopt({ evictions, pageHand }: StoreMarks): void {
    this.#evictions = evictions;
    this.#pageHand = pageHand;
    this.#bytes = this.#buckets.length * 4;
    for (const [number, page] of this.#pages.entries()) {
      if (number === 0) continue;
      if (page === null) {
        this.#freeNumbers.push(number);
        continue;
      }
      const slots = page.words.length / page.stride;
      page.shape.slots += slots;
      this.#slots += slots;
      this.#bucketShare += slots * bucketsPerPlace(page.stride);
      this.#bytes += page.words.byteLength + PAGE_OVERHEAD;
    }
  }

  /** A place in a full shape: left by a key past its window, else new memory, else taken from the stalest. */
  #vacant(shape: EntryShape, time: number): number {
    let victim = 0;
    if (shape.pages.length > 0) {
      victim = this.#stalest(shape, time);
      if (!isIdle(this.#pages, victim, time) && this.#pageSlots(shape) > 0) {
        victim = this.#lookAround(shape, time) || victim;
      }
      if (isIdle(this.#pages, victim, time)) {
        this.#buckets.remove(victim);
        return victim;
      }
    }
    if (this.#grow(shape)) return this.#takeFresh(shape);
    const atLeast = victim === 0 ? -1 : this.#distanceOf(victim, time);
    // A shape without pages must get one; a shape with pages takes only what is staler than its own stalest.
    while (this.#dropStalePage(shape, time, atLeast)) {
      if (this.#grow(shape)) return this.#takeFresh(shape);
      if (victim !== 0) break;
    }
    this.#giveUp(victim, time);
    return victim;
  }

  #takeFresh(shape: EntryShape): number {
    const page = this.#pages[shape.fresh]!;
    const ref = refOf(shape.fresh, shape.used++);
    if (shape.used * shape.layout.stride === page.words.length) {
      shape.fresh = 0;
      shape.used = 0;
    }
    return ref;
  }

  /** The entry to evict from the group at the clock hand, which moves on. Every place of the shape is in use. */
  #stalest(shape: EntryShape, time: number): number {
    if (shape.handPage >= shape.pages.length) {
      shape.handPage = 0;
      shape.rounds++;
    }
    const number = shape.pages[shape.handPage]!;
    const slots = this.#pages[number]!.words.length / shape.layout.stride;
    const first = shape.handSlot;
    const end = Math.min(first + GROUP, slots);
    shape.handSlot = end === slots ? 0 : end;
    if (end === slots) shape.handPage++;
    return this.#stalestBetween(refOf(number, first), end - first, time);
  }

  /** The first idle of `count` entries from `from` on, else the stalest. */
  #stalestBetween(from: number, count: number, time: number): number {
    const page = pageOf(this.#pages, from);
    const { words, stride } = page;
    const at = placeOf(page, from);
    let stalest = from;
    let most = -1;
    for (let i = 0; i < count; i++) {
      // Each round begins one further, so that among equals (a flood within a millisecond) the first come goes first.
      const index = (i + page.shape.rounds) % count;
      const entry = at + index * stride;
      if (isSilent(words, entry, time) && isIdle(this.#pages, from + index, time)) return from + index;
      const distance = distanceOf(words, entry, time);
      if (distance <= most) continue;
      stalest = from + index;
      most = distance;
    }
    return stalest;
  }

  /** An idle entry in one of some groups all over the shape, to which the turn then passes; or 0. */
  #lookAround(shape: EntryShape, time: number): number {
    for (let seen = 0; seen < GROUPS_SEEN; seen++) {
      const turn = ++shape.looks;
      const index = turn % shape.pages.length;
      const number = shape.pages[index]!;
      const groups = Math.ceil(this.#pages[number]!.words.length / shape.layout.stride / GROUP);
      // The golden section spreads the looks over groups in whatever order pages come.
      const slot = Math.floor(((turn * 0.6180339887498949) % 1) * groups) * GROUP;
      const count = Math.min(GROUP, this.#pages[number]!.words.length / shape.layout.stride - slot);
      const found = this.#stalestBetween(refOf(number, slot), count, time);
      if (!isIdle(this.#pages, found, time)) continue;
      shape.handPage = index;
      shape.handSlot = slot;
      return found;
    }
    return 0;
  }

  #distanceOf(ref: number, time: number): number {
    const page = pageOf(this.#pages, ref);
    return distanceOf(page.words, placeOf(page, ref), time);
  }

  /** Evicts a key. */
  #giveUp(ref: number, time: number): void {
    if (!isIdle(this.#pages, ref, time)) {
      this.#evictions++;
      freePlace(this.#pages, ref);
    }
    this.#buckets.remove(ref);
  }

  /** Places of the next page of the shape; 0 when the bound allows none. Places come with their share of buckets. */
  #pageSlots(shape: EntryShape): number {
    if (this.#freeNumbers.length === 0 && this.#pages.length === MAX_PAGES) return 0;
    const stride = shape.layout.stride;
    const room = this.#maxBytes - this.#bytes - PAGE_OVERHEAD - 4;
    const fitting = Math.max(0, Math.floor(room / (stride + bucketsPerPlace(stride)) / 4));
    const full = Math.max(GROUP, Math.floor(PAGE_WORDS / stride / GROUP) * GROUP);
    const slots = Math.min(full, Math.max(GROUP, shape.slots), Math.floor(fitting / GROUP) * GROUP);
    // Below a whole group only if nothing is left that could make room for one.
    return slots === 0 && this.#slots === 0 ? Math.min(GROUP, fitting) : slots;
  }

  /** Adds a page to the shape when the bound allows one. */
  #grow(shape: EntryShape): boolean {
    const slots = this.#pageSlots(shape);
    if (slots === 0) return false;
    const stride = shape.layout.stride;
    const number = this.#freeNumbers.pop() ?? this.#pages.length;
    this.#pages[number] = { words: new Uint32Array(slots * stride), stride, shape, newest: 0 };
    this.#bytes += slots * stride * 4 + PAGE_OVERHEAD;
    this.#slots += slots;
    this.#bucketShare += slots * bucketsPerPlace(stride);
    shape.slots += slots;
    shape.pages.push(number);
    shape.fresh = number;
    shape.used = 0;
    this.#extendBuckets();
    return true;
  }

  /** Extends the buckets to what the places need; an eighth more when there is room, so that copying stays rare. */
  #extendBuckets(): void {
    const length = this.#buckets.length;
    const needed = Math.ceil(this.#bucketShare);
    if (needed <= length) return;
    const room = Math.floor((this.#maxBytes - this.#bytes) / 4);
    const more = Math.min(Math.max(needed - length, length >>> 3), room);
    this.#buckets.extend(more);
    this.#bytes += more * 4;
  }

  /** Drops the stalest of the next pages of other shapes, if one is staler than `atLeast` milliseconds. */
  #dropStalePage(shape: EntryShape, time: number, atLeast: number): boolean {
    let chosen = 0;
    let most = atLeast;
    const count = Math.min(PAGES_SEEN, this.#pages.length);
    for (let seen = 0; seen < count || (atLeast < 0 && chosen === 0 && seen < this.#pages.length); seen++) {
      this.#pageHand = (this.#pageHand + 1) % this.#pages.length;
      const page = this.#pages[this.#pageHand];
      if (!page || page.shape === shape) continue;
      const distance = Math.abs(time - nearestTime((page.newest + 1) * 1024, time));
      if (distance <= most) continue;
      chosen = this.#pageHand;
      most = distance;
    }
    if (chosen === 0) return false;
    this.#dropPage(chosen, time);
    return true;
  }

  #dropPage(number: number, time: number): void {
    const { words, shape } = this.#pages[number]!;
    const slots = words.length / shape.layout.stride;
    const used = shape.fresh === number ? shape.used : slots;
    for (let slot = 0; slot < used; slot++) this.#giveUp(refOf(number, slot), time);
    if (shape.fresh === number) shape.fresh = 0;
    const index = shape.pages.indexOf(number);
    shape.pages.splice(index, 1);
    if (index === shape.handPage) shape.handSlot = 0;
    else if (index < shape.handPage) shape.handPage--;
    shape.slots -= slots;
    this.#slots -= slots;
    this.#bucketShare -= slots * bucketsPerPlace(shape.layout.stride);
    this.#bytes -= words.byteLength + PAGE_OVERHEAD;
    this.#pages[number] = null;
    this.#freeNumbers.push(number);
  }
}

function bucketsPerPlace(stride: number): number {
  return stride < WIDE_STRIDE ? 1 : 0.5;
}

/** How stale an entry is. A hit far ahead of now comes from a clock set back since: as stale as one far behind. */
function distanceOf(words: Uint32Array, at: number, time: number): number {
  return Math.abs(time - newestHit(words, at, time));
}

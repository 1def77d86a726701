/**
 * Where counter keys live: entries of several shapes in pages of typed arrays, found through a hash table with
 * chains, never more octets than the bound. In goes a key's hash and shape, out comes a reference to its entry.
 *
 * Nothing here takes time that grows with the number of keys: the table grows a bucket at a time (linear hashing,
 * Litwin 1980), a full shape gives up the stalest of a group of sixteen entries, and the groups take turns. A key
 * is thus given up only after about as many newer keys came as the shape has places, as with a true LRU list, which
 * would cost eight octets a key.
 */
import { type Clock, FINE, HASH, HOLDER_BORN, type Layout, NEXT, NOW, newestHit } from './layout.ts';

const SLOT_BITS = 12;
const SLOT_MASK = (1 << SLOT_BITS) - 1;
const REF_MASK = (1 << 27) - 1;
const MAX_PAGES = 1 << (27 - SLOT_BITS);

/** A page reaches 64 KiB: small beside the bound, and dropped as a whole when another shape needs the room. */
const PAGE_WORDS = 16_384;
const GROUP = 16;
const FIRST_BUCKETS = 64;
/** Buckets per place: one, or a half where the widest entries leave no room for more within 64 octets a key. */
const WIDE_STRIDE = 15;
/** Groups looked at for an idle entry before a shape grows. */
const GROUPS_SEEN = 16;
/** Pages looked at when a shape wants room and the bound is reached. */
const PAGES_SEEN = 16;
/** Octets counted for what a page costs beside its words. */
const PAGE_OVERHEAD = 64;

/** The smallest bound a store accepts, octets: room for one key of the largest shape and for its holder. */
export const MIN_BYTES = 4096;

/** All entries of one shape. */
export interface Shape {
  readonly layout: Layout;
  readonly pages: number[];
  /** Page that still has unused places, or 0, and how many of its places are used. */
  fresh: number;
  used: number;
  slots: number;
  /** The group whose turn it is to give up an entry, and how often the turn came round. */
  handPage: number;
  handSlot: number;
  rounds: number;
  /** How often an idle entry was looked for elsewhere. */
  looks: number;
}

/** A run of entries of one shape; the entry of slot s begins at word s × stride. */
export interface Page {
  readonly words: Uint32Array;
  readonly stride: number;
  readonly shape: Shape;
  /** Time of the newest hit on it, milliseconds >> 10. */
  newest: number;
}

export class EntryStore {
  readonly #maxBytes: number;
  #bytes: number;
  #evictions = 0;
  #keys = 0;
  #slots = 0;
  /** Buckets that the places of all pages are worth. */
  #bucketShare = 0;
  /** Buckets 0…#buckets-1 are in use; #level is the power of two at or below #buckets. */
  #heads = new Uint32Array(FIRST_BUCKETS);
  #buckets = FIRST_BUCKETS;
  #level = FIRST_BUCKETS;
  /** By page number; number 0 is never given, so that reference 0 means none. */
  readonly #pages: (Page | null)[] = [null];
  readonly #freeNumbers: number[] = [];
  #pageHand = 0;

  /** @param maxBytes at least `MIN_BYTES`. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#bytes = this.#heads.byteLength;
  }

  /** Octets in use, pages and buckets. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keys that were given up although their window had not passed. */
  get evictions(): number {
    return this.#evictions;
  }

  /** A shape without entries; it takes its first page with its first key. */
  createShape(layout: Layout): Shape {
    return { layout, pages: [], fresh: 0, used: 0, slots: 0, handPage: 0, handSlot: 0, rounds: 0, looks: 0 };
  }

  /** The page on which the entry lies. */
  page(ref: number): Page {
    return this.#pages[ref >>> SLOT_BITS]!;
  }

  /** The words in which the entry lies. */
  words(ref: number): Uint32Array {
    return this.#pages[ref >>> SLOT_BITS]!.words;
  }

  /** The place of the entry in its words. */
  at(ref: number): number {
    return (ref & SLOT_MASK) * this.#pages[ref >>> SLOT_BITS]!.stride;
  }

  /** The entry of this hash and shape, or 0. */
  find(shape: Shape, hash: Int32Array): number {
    const low = hash[0]!;
    const tag = hash[1]!;
    const { tagAt, tagMask } = shape.layout;
    let ref = this.#heads[this.#bucket(low)]!;
    while (ref !== 0) {
      const page = this.#pages[ref >>> SLOT_BITS]!;
      const words = page.words;
      const at = (ref & SLOT_MASK) * page.stride;
      if ((words[at + HASH]! | 0) === low && page.shape === shape) {
        if (((words[at + tagAt]! ^ tag) & tagMask) === 0) return ref;
      }
      ref = words[at + NEXT]! & REF_MASK;
    }
    return 0;
  }

  /**
   * A zeroed entry for a hash that `find` did not find. May give up any other entry, holders included.
   * @param idle idle class: how long after its newest hit the key is of no use (`idleClass`)
   * @param clock tells which entries are stale
   */
  // PERF: four parameters, since an options object would be one allocation for every new visitor of a flood.
  create(shape: Shape, hash: Int32Array, idle: number, clock: Clock): number {
    const ref = shape.fresh === 0 ? this.#vacant(shape, clock[NOW]!) : this.#takeFresh(shape);
    const { stride, tagAt, tagMask } = shape.layout;
    const words = this.words(ref);
    const at = this.at(ref);
    words.fill(0, at, at + stride);
    words[at + HASH] = hash[0]!;
    words[at + tagAt] = hash[1]! & tagMask;
    const bucket = this.#bucket(hash[0]!);
    words[at + NEXT] = this.#heads[bucket]! | (idle << 27);
    this.#heads[bucket] = ref;
    this.#keys++;
    if (this.#keys > this.#buckets && this.#buckets < this.#heads.length) this.#split();
    return ref;
  }

  /** The link a per-path entry keeps to its holder: the reference, and five bits to notice that another moved in. */
  link(holder: number): number {
    return holder | (this.words(holder)[this.at(holder) + HASH]! << 27);
  }

  #bucket(low: number): number {
    const bucket = low & (2 * this.#level - 1);
    return bucket < this.#buckets ? bucket : low & (this.#level - 1);
  }

  /** Divides the next bucket in two. */
  #split(): void {
    const from = this.#buckets - this.#level;
    let ref = this.#heads[from]!;
    let stay = 0;
    let move = 0;
    while (ref !== 0) {
      const words = this.words(ref);
      const at = this.at(ref);
      const next = words[at + NEXT]! & REF_MASK;
      const moves = (words[at + HASH]! & this.#level) !== 0;
      words[at + NEXT] = (words[at + NEXT]! & ~REF_MASK) | (moves ? move : stay);
      if (moves) move = ref;
      else stay = ref;
      ref = next;
    }
    this.#heads[from] = stay;
    this.#heads[this.#buckets] = move;
    this.#buckets++;
    if (this.#buckets === 2 * this.#level) this.#level = this.#buckets;
  }

  /** Takes the entry out of its bucket. */
  #unlink(ref: number): void {
    const next = this.words(ref)[this.at(ref) + NEXT]! & REF_MASK;
    const bucket = this.#bucket(this.words(ref)[this.at(ref) + HASH]!);
    let before = this.#heads[bucket]!;
    this.#keys--;
    if (before === ref) {
      this.#heads[bucket] = next;
      return;
    }
    for (;;) {
      const words = this.words(before);
      const at = this.at(before);
      const after = words[at + NEXT]! & REF_MASK;
      if (after === ref) {
        words[at + NEXT] = (words[at + NEXT]! & ~REF_MASK) | next;
        return;
      }
      before = after;
    }
  }

  /** A place in a full shape: left by a key past its window, else new memory, else taken from the stalest. */
  #vacant(shape: Shape, time: number): number {
    let victim = 0;
    if (shape.pages.length > 0) {
      victim = this.#stalest(shape, time);
      if (!this.#isIdle(victim, time) && this.#mayGrow(shape))
        victim = this.#lookAround(shape, time) || victim;
      if (this.#isIdle(victim, time)) {
        this.#unlink(victim);
        return victim;
      }
    }
    if (this.#grow(shape)) return this.#takeFresh(shape);
    const atLeast = victim === 0 ? -1 : Math.abs(time - newestHit(this.words(victim), this.at(victim)));
    // A shape without pages must get one; a shape with pages takes only what is staler than its own stalest.
    while (this.#dropStalePage(shape, { time, atLeast })) {
      if (this.#grow(shape)) return this.#takeFresh(shape);
      if (victim !== 0) break;
    }
    this.#giveUp(victim, time);
    return victim;
  }

  #takeFresh(shape: Shape): number {
    const page = this.#pages[shape.fresh]!;
    const ref = (shape.fresh << SLOT_BITS) | shape.used++;
    if (shape.used * shape.layout.stride === page.words.length) {
      shape.fresh = 0;
      shape.used = 0;
    }
    return ref;
  }

  /** The entry to give up in the group whose turn it is; the turn passes on. Every place of the shape is in use. */
  #stalest(shape: Shape, time: number): number {
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
    return this.#stalestBetween(shape, (number << SLOT_BITS) | first, end - first, time);
  }

  /** The first idle of `count` entries from `from` on, else the stalest. */
  #stalestBetween(shape: Shape, from: number, count: number, time: number): number {
    const words = this.words(from);
    const stride = shape.layout.stride;
    const at = this.at(from);
    let stalest = from;
    let most = -1;
    for (let i = 0; i < count; i++) {
      // Each round begins one further, so that among equals (a flood within a millisecond) the first come goes first.
      const index = (i + shape.rounds) % count;
      const entry = at + index * stride;
      const age = time - newestHit(words, entry);
      if (age >= IDLE_TIMES[words[entry + NEXT]! >>> 27]! && this.#isIdle(from + index, time))
        return from + index;
      // A hit far ahead of now comes from a clock that was set back since; it is as stale as one far behind.
      const distance = Math.abs(age);
      if (distance <= most) continue;
      stalest = from + index;
      most = distance;
    }
    return stalest;
  }

  /** An idle entry in one of some groups all over the shape, to which the turn then passes; or 0. */
  #lookAround(shape: Shape, time: number): number {
    for (let seen = 0; seen < GROUPS_SEEN; seen++) {
      const turn = ++shape.looks;
      const index = turn % shape.pages.length;
      const number = shape.pages[index]!;
      const groups = Math.ceil(this.#pages[number]!.words.length / shape.layout.stride / GROUP);
      // The golden section spreads the looks over groups in whatever order pages come.
      const slot = Math.floor(((turn * 0.6180339887498949) % 1) * groups) * GROUP;
      const count = Math.min(GROUP, this.#pages[number]!.words.length / shape.layout.stride - slot);
      const found = this.#stalestBetween(shape, (number << SLOT_BITS) | slot, count, time);
      if (!this.#isIdle(found, time)) continue;
      shape.handPage = index;
      shape.handSlot = slot;
      return found;
    }
    return 0;
  }

  /** Whether the key's window has passed, and nothing is lost with it. */
  #isIdle(ref: number, time: number): boolean {
    const words = this.words(ref);
    const at = this.at(ref);
    if (time - newestHit(words, at) < IDLE_TIMES[words[at + NEXT]! >>> 27]!) return false;
    const holder = this.#holderOf(ref);
    return holder === 0 || this.#isIdle(holder, time);
  }

  /** The holder in which the per-path entry has its place, or 0. */
  #holderOf(ref: number): number {
    const page = this.#pages[ref >>> SLOT_BITS]!;
    const { linkAt } = page.shape.layout;
    if (linkAt < 0) return 0;
    const at = (ref & SLOT_MASK) * page.stride;
    const link = page.words[at + linkAt]!;
    const holder = link & REF_MASK;
    const holderPage = this.#pages[holder >>> SLOT_BITS];
    if (holderPage?.shape.layout.kind !== 'holder') return 0;
    const holderAt = (holder & SLOT_MASK) * holderPage.stride;
    if (holderAt >= holderPage.words.length) return 0;
    if ((holderPage.words[holderAt + HASH]! << 27) >>> 27 !== link >>> 27) return 0;
    // A place of an earlier stay of the address is not one of this stay.
    return newestHit(page.words, at) < holderPage.words[holderAt + HOLDER_BORN]! * 1024 ? 0 : holder;
  }

  /** Gives up a key. A path's place goes back to its address, else its return would take a second one. */
  #giveUp(ref: number, time: number): void {
    if (!this.#isIdle(ref, time)) {
      this.#evictions++;
      const holder = this.#holderOf(ref);
      if (holder !== 0) {
        const words = this.words(holder);
        const at = this.at(holder) + FINE;
        if (words[at]! >= 1024) words[at] = words[at]! - 1024;
      }
    }
    this.#unlink(ref);
  }

  /** Whether the bound allows another page. */
  #mayGrow(shape: Shape): boolean {
    return this.#pageSlots(shape) > 0;
  }

  /** Places of the next page of the shape; 0 when the bound allows none. Places come with their share of buckets. */
  #pageSlots(shape: Shape): number {
    if (this.#freeNumbers.length === 0 && this.#pages.length === MAX_PAGES) return 0;
    const stride = shape.layout.stride;
    const room = this.#maxBytes - this.#bytes - PAGE_OVERHEAD - 4;
    const fitting = Math.max(0, Math.floor(room / (stride + bucketsPerPlace(stride)) / 4));
    const full = Math.max(GROUP, Math.floor(PAGE_WORDS / stride / GROUP) * GROUP);
    const slots = Math.min(full, Math.max(GROUP, shape.slots), Math.floor(fitting / GROUP) * GROUP);
    // Below a whole group only where nothing is left that could make room for one.
    return slots === 0 && this.#slots === 0 ? Math.min(GROUP, fitting) : slots;
  }

  /** Adds a page to the shape when the bound allows one. */
  #grow(shape: Shape): boolean {
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
    this.#growHeads();
    return true;
  }

  /** Keeps the buckets the places are worth; an eighth more when there is room, so that copying stays rare. */
  #growHeads(): void {
    const old = this.#heads;
    const needed = Math.ceil(this.#bucketShare);
    if (needed <= old.length) return;
    const room = Math.floor((this.#maxBytes - this.#bytes) / 4);
    const extra = Math.min(Math.max(needed - old.length, old.length >>> 3), room);
    this.#heads = new Uint32Array(old.length + extra);
    this.#heads.set(old);
    this.#bytes += extra * 4;
  }

  /** Drops the stalest of the next pages, if one is staler than `atLeast` milliseconds. */
  #dropStalePage(shape: Shape, { time, atLeast }: { time: number; atLeast: number }): boolean {
    let chosen = 0;
    let most = atLeast;
    const count = Math.min(PAGES_SEEN, this.#pages.length);
    for (let seen = 0; seen < count || (atLeast < 0 && chosen === 0 && seen < this.#pages.length); seen++) {
      this.#pageHand = (this.#pageHand + 1) % this.#pages.length;
      const page = this.#pages[this.#pageHand];
      if (!page || page.shape === shape) continue;
      const distance = Math.abs(time - (page.newest + 1) * 1024);
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
    for (let slot = 0; slot < used; slot++) this.#giveUp((number << SLOT_BITS) | slot, time);
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

/** Notes that an entry of the page was hit now, so that the page is not taken for stale. */
export function noteHit(page: Page, clock: Clock): void {
  const coarse = Math.floor(clock[NOW]! / 1024);
  if (coarse > page.newest) page.newest = coarse;
}

/** Idle class of entries that go only when their memory is needed. */
export const NEVER_IDLE = 31;

/**
 * The class of windows: after its time a key without hits counts nothing and holds no place. Powers of two of a
 * second, since an entry has five bits for it.
 */
export function idleClass(windowMs: number): number {
  return 32 - Math.clz32(Math.ceil((windowMs * 17) / 16_000) - 1);
}

/** Milliseconds after which a key of a class is idle. */
const IDLE_TIMES = Float64Array.from({ length: 32 }, (_, idle) =>
  idle === NEVER_IDLE ? Number.POSITIVE_INFINITY : 1000 * 2 ** idle,
);

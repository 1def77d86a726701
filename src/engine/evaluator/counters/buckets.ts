/**
 * The hash table of the counters: buckets of chained entries, the chain running through the entries themselves. It
 * grows by one bucket at a time (linear hashing; Litwin, "Linear hashing: a new tool for file and table addressing",
 * 1980), so that no request waits while a table is rebuilt.
 */
import { HASH, NEXT } from './layout.ts';
import { type CounterPages, type EntryShape, pageOf, placeOf, REF_MASK } from './pages.ts';

const FIRST_BUCKETS = 64;

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

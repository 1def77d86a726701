/**
 * Rate counters (semantics §5, rate_limit): how many requests a visitor has made in the window that ends now, and
 * whether this one is above the allowance. In: a rule's window and a visitor's key. Out: a result. The counts are in a
 * fixed amount of memory (`store.ts`), exact up to 128 requests a window, by sixteenths of the window
 * above (`logs.ts`).
 *
 * One set of counters serves any number of evaluators of one process. Two processes share nothing.
 */
import { MAX_RATE_PATHS } from '../../base/vocabulary/limits.ts';
import {
  absorb,
  absorbText,
  begin,
  COARSE,
  createClock,
  createHashState,
  FINE,
  finish,
  HOLDER_BORN,
  HOLDER_LAYOUT,
  isBefore,
  layoutId,
  layoutOf,
  NEWEST,
  NOW,
  readNewest,
  setNow,
  stamp,
} from './layout.ts';
import { type Judgement, judgeRing, judgeSlices, type MutableRateResult } from './logs.ts';
import {
  changePlaces,
  createShape,
  type EntryShape,
  idleClass,
  linkTo,
  NEVER_IDLE,
  noteHit,
  pageOf,
  placeOf,
  placesTaken,
} from './pages.ts';
import { createRequestSlots, type RequestSlots } from './slots.ts';
import { EntryStore, MIN_BYTES } from './store.ts';

export { counterSpace } from './layout.ts';
export type { MutableRateResult, RateResult } from './logs.ts';

/**
 * What a rule counts; one object per rule, immutable. A window with other numbers is another window, whose keys start
 * at zero.
 */
export interface RateWindow {
  /**
   * Separates evaluators that share one set of counters: `counterSpace(name)`, the same across reloads of one
   * domain's plan. Absent: 0.
   */
  readonly space?: number;
  /** Counter space of one rule within its evaluator, 32 bits. A rule's enforced and dry_run counts never share. */
  readonly slot: number;
  /** `limit + burst`, 1…2,000,000. */
  readonly capacity: number;
  /** Enough history is stored to compare with twice the capacity (a captcha rule, semantics §5). */
  readonly doubled: boolean;
  /** 1,000…86,400,000, whole milliseconds. */
  readonly windowMs: number;
  /** Each path (`RateKey.path`) of an address has a count of its own. */
  readonly perPath: boolean;
  /** Of keys that consist of parts: `counterSpace` of the names of the parts. Absent: the address, or the address and the path. */
  readonly parts?: number;
  /**
   * Of keys without an address among their parts: the path alone is the key, whatever the address. With `perPath` an address
   * adds at most `MAX_RATE_PATHS` new ones in 17/16 of a window, since visitors choose them; further ones share a key of the
   * address. Absent: the address is part of the key.
   */
  readonly shared?: boolean;
  /** A request that breaches does not count, which `retryAfter` is computed for; `hit` is not called for it. Absent: it counts. */
  readonly isFree?: boolean;
}

/** The key that a request counts under. */
export interface RateKey {
  /** 0: the address is unknown; all such visitors share one key. */
  readonly family: 0 | 4 | 6;
  /** Family 4: the address in `words[0]`. Family 6: its /64 in `words[0]`, `words[1]`. */
  readonly words: Uint32Array;
  /** The path that counts, or the parts of the key as one text; empty unless the window is per path or shared. */
  readonly path: string;
}

/** Counts requests of rate_limit rules. Synchronous; never throws. */
export interface Counters {
  /**
   * Counts a request and writes the result to `out`.
   * @param now milliseconds since the epoch; fractions are cut off, and before the key's newest hit it counts as that
   * @param allowance requests let through per window: the capacity, or twice it when the window is `doubled`
   */
  hit(window: RateWindow, key: RateKey, now: number, allowance: number, out: MutableRateResult): void;
  /** Writes to `out` what `hit` would, and stores nothing. */
  peek(window: RateWindow, key: RateKey, now: number, allowance: number, out: MutableRateResult): void;
  /** Slots of requests in flight. Absent: usage plans do not limit how many requests a consumer has in flight. */
  readonly slots?: RequestSlots;
}

/** Memory, clock and seed of a set of counters. */
export interface CountersOptions {
  /** Octets the counters may take, at least 4,096. Default 64 MiB; a process with many evaluators shares one set. */
  readonly maxBytes?: number;
  /**
   * A monotonic clock in milliseconds, which replaces the requests' own `now`: while a clock that was set back catches
   * up, no window would move. Absent: the requests' `now`.
   */
  readonly clock?: () => number;
  /** Two draws from [0, 1) seed the hash, at the first request. Default: the platform's secure source. */
  readonly random?: () => number;
}

/** Counters that report their memory. */
export interface BoundedCounters extends Counters {
  /** Octets of all arrays. */
  bytes(): number;
  /** Keys that were evicted before their window had passed. */
  evictions(): number;
  readonly slots: RequestSlots;
  /** What `saved.ts` saves and restores. */
  readonly parts: CounterParts;
}

/** The state of counters. */
export interface CounterParts {
  readonly store: EntryStore;
  /** The shape of holders, and all others by the id of their layout. */
  readonly holders: EntryShape;
  readonly shapes: Map<number, EntryShape>;
  /** Of the hash of keys; `null` before the first request. */
  seed: Int32Array | null;
}

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;

/** The last word of a hashed key, which separates the kinds of key. A path's own adds its length. */
const PLAIN_KEY = 0;
const HOLDER_KEY = 1;
const OVERFLOW_KEY = 2;
const PATH_KEY = 3;

/**
 * An empty set of counters.
 * @throws RangeError when `maxBytes` is below the least with which counting works
 */
export function createCounters(options: CountersOptions = {}): BoundedCounters {
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  if (!(maxBytes >= MIN_BYTES)) {
    throw new RangeError(`maxBytes is \`${maxBytes}\`; counters need at least ${MIN_BYTES} octets`);
  }
  const counters = new RateCounters(maxBytes, options);
  return {
    hit: (window, key, now, allowance, out) => counters.judge(window, key, now, allowance, true, out),
    peek: (window, key, now, allowance, out) => counters.judge(window, key, now, allowance, false, out),
    bytes: () => counters.store.bytes,
    evictions: () => counters.store.evictions,
    slots: createRequestSlots(),
    parts: counters,
  };
}

/** A draw from [0, 1) of the platform's secure source, if there is one. */
function secureRandom(): number {
  const { crypto } = globalThis as { crypto?: { getRandomValues(words: Uint32Array): Uint32Array } };
  return crypto === undefined ? Math.random() : crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32;
}

class RateCounters {
  readonly store: EntryStore;
  readonly #random: () => number;
  readonly #clock: (() => number) | null;
  readonly holders: EntryShape;
  readonly shapes = new Map<number, EntryShape>();
  // Drawn at the first request: some platforms give no random numbers while a module loads.
  seed: Int32Array | null = null;
  readonly #input = new Int32Array(8);
  /** The window of the last request, and what its keys have in common: their shape, the beginning of their hash. */
  #window: RateWindow | null = null;
  #shape: EntryShape;
  readonly #beginning = createHashState();
  readonly #state = createHashState();
  readonly #hash = new Int32Array(2);
  readonly #overflow = new Int32Array(2);
  readonly #by: Judgement = { clock: createClock(), windowMs: 0, allowance: 0, most: 0, isFree: false };
  /** Link to the holder for the entry that `#choosePath` chose; 0 when it has none. */
  #link = 0;

  constructor(maxBytes: number, options: CountersOptions) {
    this.store = new EntryStore(maxBytes);
    this.#clock = options.clock ?? null;
    this.#random = options.random ?? secureRandom;
    this.holders = createShape(HOLDER_LAYOUT);
    this.#shape = this.holders;
  }

  /** Writes the result of a request to `out`; counts it when `stores`. */
  // PERF: positional parameters on every step of a hit, since options objects would be garbage per request.
  judge(
    window: RateWindow,
    key: RateKey,
    now: number,
    allowance: number,
    stores: boolean,
    out: MutableRateResult,
  ): void {
    const by = this.#by;
    const clock = by.clock;
    setNow(clock, this.#clock === null ? now : this.#clock());
    if (window !== this.#window) this.#enter(window);
    this.#absorbKey(key);
    let shape = this.#shape;
    this.#link = 0;
    if (window.shared === true) this.#chooseShared(window, key.path, stores);
    else if (window.perPath) shape = this.#choosePath(window, key.path, stores);
    else finish(this.#state, PLAIN_KEY, this.#hash);
    let ref = this.store.find(shape, this.#hash);
    if (ref === 0) {
      if (!stores) {
        judgeUnseen(window, allowance, out);
        return;
      }
      ref = this.store.create(shape, this.#hash, this.#idleClass(window, shape), clock);
    }
    const layout = shape.layout;
    const page = pageOf(this.store.pages, ref);
    const words = page.words;
    const at = placeOf(page, ref);
    if (stores) {
      if (layout.linkAt >= 0) words[at + layout.linkAt] = this.#link;
      noteHit(page, clock);
    }
    by.windowMs = window.windowMs;
    by.allowance = allowance;
    by.isFree = window.isFree === true;
    by.most = window.doubled ? 2 * window.capacity : window.capacity;
    if (layout.kind === 'ring') judgeRing(words, at, layout, by, stores, out);
    else judgeSlices(words, at, layout, by, stores, out);
  }

  /** Prepares what all keys of the window have in common. */
  #enter(window: RateWindow): void {
    this.seed ??= Int32Array.of(this.#random() * 2 ** 32, this.#random() * 2 ** 32);
    const input = this.#input;
    const space = window.space ?? 0;
    input[0] = space;
    input[1] = space / 2 ** 32;
    input[2] = window.slot;
    input[3] = window.windowMs;
    input[4] = window.capacity * 4 + (window.doubled ? 2 : 0) + (window.perPath ? 1 : 0);
    begin(this.#beginning, this.seed);
    let count = 5;
    if (window.parts !== undefined) {
      input[count++] = window.parts;
      input[count++] = window.parts / 2 ** 32;
      input[count++] = window.shared === true ? 1 : 0;
    }
    absorb(this.#beginning, input, 0, count);
    this.#shape = this.#shapeOf(window, false);
    this.#window = window;
  }

  /** Sets the state to what all keys of the window have in common. */
  #absorbWindow(): void {
    const state = this.#state;
    const beginning = this.#beginning;
    state[0] = beginning[0]!;
    state[1] = beginning[1]!;
    state[2] = beginning[2]!;
    state[3] = beginning[3]!;
  }

  #absorbKey(key: RateKey): void {
    const input = this.#input;
    const state = this.#state;
    this.#absorbWindow();
    let count = 0;
    input[count++] = key.family;
    if (key.family !== 0) input[count++] = key.words[0]!;
    if (key.family === 6) input[count++] = key.words[1]!;
    absorb(state, input, 0, count);
  }

  #shapeOf(window: RateWindow, linked: boolean): EntryShape {
    const id = layoutId(window.capacity, window.doubled, linked);
    const known = this.shapes.get(id);
    if (known !== undefined) return known;
    const shape = createShape(layoutOf(window.capacity, window.doubled, linked));
    this.shapes.set(id, shape);
    return shape;
  }

  #idleClass(window: RateWindow, shape: EntryShape): number {
    // A path without room for a link has no reference to its address, so its place cannot be checked: it stays.
    const unlinked = window.perPath && this.#link !== 0 && shape.layout.linkAt < 0;
    return unlinked ? NEVER_IDLE : idleClass(window.windowMs);
  }

  /**
   * Sets `#hash` to the path's key, or to the overflow key if the address already has `MAX_RATE_PATHS` other paths;
   * returns the entry shape for that key. If `stores`, also records the request in the address's entry and, if the path
   * is new and does not overflow, adds one to the entry's count of paths.
   */
  #choosePath(window: RateWindow, path: string, stores: boolean): EntryShape {
    const { store } = this;
    const state = this.#state;
    finish(state, HOLDER_KEY, this.#hash);
    const holder = this.#holderOf(window, stores);
    const full = holder !== 0 && placesTaken(store.pages, holder) >= MAX_RATE_PATHS;
    if (full) finish(state, OVERFLOW_KEY, this.#overflow);
    absorbText(state, path);
    finish(state, path.length * 4 + PATH_KEY, this.#hash);
    const shape = this.#shapeOf(window, true);
    const member = this.#hasPlace(store.find(shape, this.#hash), holder);
    if (full && !member) {
      this.#hash.set(this.#overflow);
      return this.#shape;
    }
    if (stores) {
      this.#link = linkTo(store.pages, holder);
      if (!member) changePlaces(store.pages, holder, 1);
    }
    return shape;
  }

  /**
   * Sets `#hash` to the key of the text, or to the overflow key of the address if the text is new and the address has added
   * `MAX_RATE_PATHS` others. If `stores`, a new text takes a place of the address. A text that any address has sent within
   * 17/16 of a window is not new.
   */
  #chooseShared(window: RateWindow, text: string, stores: boolean): void {
    const { store } = this;
    const state = this.#state;
    let holder = 0;
    let full = false;
    if (window.perPath) {
      finish(state, HOLDER_KEY, this.#hash);
      holder = this.#holderOf(window, stores);
      full = holder !== 0 && placesTaken(store.pages, holder) >= MAX_RATE_PATHS;
      if (full) finish(state, OVERFLOW_KEY, this.#overflow);
    }
    this.#absorbWindow();
    absorbText(state, text);
    finish(state, text.length * 4 + PATH_KEY, this.#hash);
    if (holder === 0 || this.#isRecent(window, store.find(this.#shape, this.#hash))) return;
    if (full) this.#hash.set(this.#overflow);
    else if (stores) changePlaces(store.pages, holder, 1);
  }

  /** Whether the entry was hit within 17/16 of a window. */
  #isRecent(window: RateWindow, ref: number): boolean {
    if (ref === 0) return false;
    const page = pageOf(this.store.pages, ref);
    const { clock } = this.#by;
    readNewest(page.words, placeOf(page, ref), clock);
    return clock[NOW]! - clock[NEWEST]! < spanOf(window);
  }

  /**
   * The entry of the address of `#hash`, or 0 when a peek finds none. All its places are free once it made no
   * request for 17/16 of a window; those of shared keys also 17/16 of a window after the first was taken.
   */
  #holderOf(window: RateWindow, stores: boolean): number {
    const { store } = this;
    const { clock } = this.#by;
    let holder = store.find(this.holders, this.#hash);
    if (holder !== 0) {
      const page = pageOf(store.pages, holder);
      readNewest(page.words, placeOf(page, holder), clock);
    }
    const freed =
      holder === 0 || clock[NOW]! - clock[NEWEST]! >= spanOf(window) || this.#isOver(window, holder);
    if (!stores) return freed ? 0 : holder;
    if (holder === 0) holder = store.create(this.holders, this.#hash, idleClass(window.windowMs), clock);
    const page = pageOf(store.pages, holder);
    const at = placeOf(page, holder);
    if (freed) {
      page.words[at + FINE] = 0;
      page.words[at + HOLDER_BORN] = window.shared === true ? clock[NOW]! : clock[NOW]! / 1024;
    }
    if (freed || clock[NOW]! > clock[NEWEST]!) stamp(page.words, at, clock);
    noteHit(page, clock);
    return holder;
  }

  /** Whether the time is over for which an address of shared keys has its places: `HOLDER_BORN` is in milliseconds there. */
  #isOver(window: RateWindow, holder: number): boolean {
    if (window.shared !== true) return false;
    const { clock } = this.#by;
    const page = pageOf(this.store.pages, holder);
    const time = Math.max(clock[NOW]!, clock[NEWEST]!);
    return ((time >>> 0) - page.words[placeOf(page, holder) + HOLDER_BORN]!) >>> 0 >= spanOf(window);
  }

  /** Whether the path took its place after the address' entry was created: it was hit since then. */
  #hasPlace(ref: number, holder: number): boolean {
    if (ref === 0 || holder === 0) return false;
    const { pages } = this.store;
    const own = pageOf(pages, ref);
    const page = pageOf(pages, holder);
    return !isBefore(
      own.words[placeOf(own, ref) + COARSE]!,
      page.words[placeOf(page, holder) + HOLDER_BORN]!,
    );
  }
}

/** Milliseconds after which nothing of a key counts. */
function spanOf({ windowMs }: RateWindow): number {
  return (windowMs * 17) / 16;
}

/** A key without history: this request is its first. */
function judgeUnseen(window: RateWindow, allowance: number, out: MutableRateResult): void {
  out.count = 1;
  out.breached = allowance < 1;
  out.retryAfter = out.breached ? Math.ceil(window.windowMs / 1000) : 0;
}

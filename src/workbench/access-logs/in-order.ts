/**
 * Puts the requests of several logs in order of time. Each log is nearly in order: of those that have a next request, the
 * earliest is taken, and a window of the last `REORDERED_LINES` requests puts right what is out of order within a log.
 * Memory does not grow with the logs.
 */

/**
 * Requests that wait to be put in order of time, at most. A server logs a request at its end or its start, so lines are
 * out of order by the requests in progress; a batch of Cloudflare has some ten thousand lines in no order. Some 50 MB.
 */
export const REORDERED_LINES = 65_536;
/**
 * The same at the start of a replay: more wait once a request comes late by half as many. Objects that wait are moved by
 * the garbage collector, at 8,192 for a seventh of all time.
 */
export const FEWEST_REORDERED = 512;

/** What is put in order. */
export interface Timed {
  /** Milliseconds since the epoch; `NaN`: unknown, which is as late as the one before in its log. */
  time: number;
}

/** A log, or anything else that is nearly in order. */
export interface TimedSource<Item extends Timed> {
  /** The next item; `null`: more has to be read first. */
  next(): Item | null;
  /** Reads more; `false`: there is no more. */
  fill(): Promise<boolean>;
}

/** A source with its next item. */
interface Head<Item extends Timed> {
  readonly source: TimedSource<Item>;
  item: Item | null;
  /** The time of the item before. */
  time: number;
}

/** Takes the items of all sources in order of time. @returns how many are out of order beyond the window */
export async function inOrder<Item extends Timed>(
  sources: readonly TimedSource<Item>[],
  take: (item: Item) => void,
): Promise<number> {
  const window = createWindow(take);
  const heads: Head<Item>[] = [];
  for (const source of sources) {
    const head: Head<Item> = { source, item: null, time: Number.NEGATIVE_INFINITY };
    if (await advance(head)) heads.push(head);
  }
  while (heads.length > 0) {
    const earliest = earliestOf(heads);
    window.push(earliest.item!);
    // PERF: waiting happens once a chunk, not once a line.
    const ready = step(earliest) || (await advance(earliest));
    if (!ready) heads.splice(heads.indexOf(earliest), 1);
  }
  window.flush();
  return window.late();
}

/** The source whose next item is the earliest; of equal times, the first source. */
function earliestOf<Item extends Timed>(heads: readonly Head<Item>[]): Head<Item> {
  let earliest = heads[0]!;
  for (let index = 1; index < heads.length; index++) {
    if (heads[index]!.time < earliest.time) earliest = heads[index]!;
  }
  return earliest;
}

/** Takes the next item of a source that has it at hand. */
function step<Item extends Timed>(head: Head<Item>): boolean {
  const item = head.source.next();
  head.item = item;
  if (item === null) return false;
  if (Number.isNaN(item.time)) item.time = head.time;
  else head.time = item.time;
  return true;
}

/** Reads until a source has an item; `false`: it has ended. */
async function advance<Item extends Timed>(head: Head<Item>): Promise<boolean> {
  while (await head.source.fill()) if (step(head)) return true;
  return false;
}

/** The window. */
interface OrderWindow<Item extends Timed> {
  push(item: Item): void;
  flush(): void;
  /** Items that came after a later one had left the window. */
  late(): number;
}

/**
 * Items in order are a ring; the few that are earlier than the last of the ring are a heap. What leaves is the earlier
 * of the two ends, so that a log in order costs one comparison an item.
 */
function createWindow<Item extends Timed>(take: (item: Item) => void): OrderWindow<Item> {
  const ring = createRing<Item>();
  const stragglers = createHeap<Item>();
  let size = FEWEST_REORDERED;
  let newest = Number.NEGATIVE_INFINITY;
  let left = Number.NEGATIVE_INFINITY;
  let late = 0;

  function leave(): void {
    const head = ring.peek();
    const straggler = stragglers.peek();
    // Of equal times the one in the ring came first.
    const fromRing = head !== null && (straggler === null || head.time <= straggler.time);
    const item = fromRing ? ring.shift()! : stragglers.pop()!;
    if (item.time < left) late++;
    else left = item.time;
    take(item);
  }

  return {
    push(item) {
      if (item.time < newest) {
        stragglers.push(item);
        while (size < REORDERED_LINES && ring.countAfter(item.time) + stragglers.size() > size / 2) size *= 2;
      } else {
        newest = item.time;
        ring.push(item);
      }
      while (ring.size() + stragglers.size() > size) leave();
    },
    flush() {
      while (ring.size() + stragglers.size() > 0) leave();
    },
    late: () => late,
  };
}

/** Items in order of time, in memory that is reused. */
interface Ring<Item extends Timed> {
  push(item: Item): void;
  peek(): Item | null;
  shift(): Item | null;
  size(): number;
  /** How many are later than a time. */
  countAfter(time: number): number;
}

function createRing<Item extends Timed>(): Ring<Item> {
  // One more than the window has: an item is pushed before one leaves. A power of two, for the mask.
  const slots: (Item | null)[] = new Array(2 * REORDERED_LINES).fill(null);
  const mask = slots.length - 1;
  let first = 0;
  let count = 0;
  return {
    push(item) {
      slots[(first + count) & mask] = item;
      count++;
    },
    peek: () => (count === 0 ? null : slots[first]!),
    shift() {
      const item = slots[first]!;
      slots[first] = null;
      first = (first + 1) & mask;
      count--;
      return item;
    },
    size: () => count,
    countAfter(time) {
      let [low, high] = [0, count];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (slots[(first + middle) & mask]!.time > time) high = middle;
        else low = middle + 1;
      }
      return count - low;
    },
  };
}

/** A binary heap by time; of equal times the first that came. */
interface Heap<Item extends Timed> {
  push(item: Item): void;
  peek(): Item | null;
  pop(): Item | null;
  size(): number;
}

/** An item with its place among those that came. */
interface HeapEntry<Item extends Timed> {
  readonly item: Item;
  readonly order: number;
}

function isBefore<Item extends Timed>(left: HeapEntry<Item>, right: HeapEntry<Item>): boolean {
  const difference = left.item.time - right.item.time;
  return difference < 0 || (difference === 0 && left.order < right.order);
}

function createHeap<Item extends Timed>(): Heap<Item> {
  const entries: HeapEntry<Item>[] = [];
  let order = 0;

  /** Moves an entry down from the top until none below is before it. */
  function sink(entry: HeapEntry<Item>): void {
    const { length } = entries;
    let at = 0;
    for (let child = 1; child < length; child = 2 * at + 1) {
      if (child + 1 < length && isBefore(entries[child + 1]!, entries[child]!)) child++;
      if (!isBefore(entries[child]!, entry)) break;
      entries[at] = entries[child]!;
      at = child;
    }
    entries[at] = entry;
  }

  return {
    push(item) {
      const entry = { item, order: order++ };
      let at = entries.push(entry) - 1;
      for (; at > 0; at = (at - 1) >> 1) {
        const above = entries[(at - 1) >> 1]!;
        if (!isBefore(entry, above)) break;
        entries[at] = above;
      }
      entries[at] = entry;
    },
    peek: () => entries[0]?.item ?? null,
    pop() {
      const top = entries[0];
      const last = entries.pop();
      if (top === undefined || last === undefined) return null;
      if (entries.length > 0) sink(last);
      return top.item;
    },
    size: () => entries.length,
  };
}

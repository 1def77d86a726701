/** The postings that one request touches, each once. Sized at load, so that a request allocates nothing. */
export interface Touched {
  readonly postings: Uint32Array;
  count: number;
  /** Slots in all of them together, duplicates counted. */
  slots: number;
  /** By posting, the number of the last request that touched it. */
  readonly seen: Uint32Array;
  request: number;
  /** Offset and count of each posting: the plan's section. */
  readonly rows: Uint32Array;
}

/** Memory for every posting of a plan, from its section of rows. */
export function createTouched(rows: Uint32Array): Touched {
  const count = rows.length / 2;
  return {
    postings: new Uint32Array(count),
    count: 0,
    slots: 0,
    seen: new Uint32Array(count),
    request: 0,
    rows,
  };
}

/** Starts the next request. */
export function resetTouched(touched: Touched): void {
  touched.count = 0;
  touched.slots = 0;
  touched.request++;
  if (touched.request > 0xffffffff) {
    touched.seen.fill(0);
    touched.request = 1;
  }
}

/** Adds a posting unless this request has touched it before. */
export function touch(touched: Touched, posting: number): void {
  if (touched.seen[posting] === touched.request) return;
  touched.seen[posting] = touched.request;
  touched.postings[touched.count++] = posting;
  touched.slots += touched.rows[posting * 2 + 1]!;
}

/**
 * A histogram with logarithmic buckets: every quantile has a bounded relative error, and histograms can be added (C. Masson,
 * J. E. Rim, H. K. Lee 2019, "DDSketch: a fast and fully-mergeable quantile sketch with relative-error guarantees"). In:
 * durations in milliseconds. Out: quantiles.
 */

/** The ratio of the bounds of a bucket; the middle of a bucket is within (1.1 - 1) / (1.1 + 1) = 4.8 % of its values. */
const RATIO = 1.1;
const LOG_RATIO = Math.log(RATIO);
/** Milliseconds: shorter durations are in the first bucket. The clock of a process is not finer. */
const SHORTEST = 0.001;
/** The number of buckets; the last one contains longer durations than 2.8 hours, which no request takes. */
export const BUCKETS = 242;
const FIRST_SIZE = 16;

/** Numbers of durations by bucket. */
export interface LogHistogram {
  /** The bucket of the first element of `counts`. */
  first: number;
  /** Numbers of durations from bucket `first` on; a range that contains all buckets in use. */
  counts: Float64Array;
}

const NO_COUNTS = new Float64Array(0);

/** A histogram of nothing. */
export function createLogHistogram(): LogHistogram {
  return { first: 0, counts: NO_COUNTS };
}

/** Adds a duration in milliseconds, `weight` times. */
export function record(histogram: LogHistogram, ms: number, weight = 1): void {
  addToBucket(histogram, bucketOf(ms), weight);
}

/** The bucket of a duration; what is not a number is in the first. */
function bucketOf(ms: number): number {
  if (!(ms > SHORTEST)) return 0;
  return Math.min(BUCKETS - 1, Math.ceil(Math.log(ms / SHORTEST) / LOG_RATIO));
}

/** Adds to the number of a bucket. */
export function addToBucket(histogram: LogHistogram, bucket: number, weight: number): void {
  const at = bucket - histogram.first;
  if (at < 0 || at >= histogram.counts.length) {
    widen(histogram, bucket);
    histogram.counts[bucket - histogram.first]! += weight;
  } else histogram.counts[at]! += weight;
}

/** Makes the range contain a bucket, and some around it, since durations spread. */
function widen(histogram: LogHistogram, bucket: number): void {
  const { first, counts } = histogram;
  const isEmpty = counts.length === 0;
  const from = isEmpty ? bucket - FIRST_SIZE / 2 : Math.min(first, bucket - FIRST_SIZE / 2);
  const to = isEmpty ? bucket + FIRST_SIZE / 2 : Math.max(first + counts.length, bucket + FIRST_SIZE / 2);
  const start = Math.max(0, from);
  const wider = new Float64Array(Math.min(BUCKETS, to) - start);
  if (!isEmpty) wider.set(counts, first - start);
  histogram.first = start;
  histogram.counts = wider;
}

/** Adds the durations of another histogram. */
export function mergeLogHistogram(to: LogHistogram, from: LogHistogram): void {
  from.counts.forEach((some, at) => {
    if (some > 0) addToBucket(to, from.first + at, some);
  });
}

/** The number of durations. */
export function count({ counts }: LogHistogram): number {
  return counts.reduce((sum, some) => sum + some, 0);
}

/**
 * The duration in milliseconds that a share `q` (0 to 1) of all durations does not exceed, within 5 %; `null` without
 * any. By the nearest rank: of n durations the one at position max(1, ceil(q × n)).
 */
export function quantile(histogram: LogHistogram, q: number): number | null {
  const total = count(histogram);
  if (total === 0) return null;
  const rank = Math.min(total, Math.max(1, Math.ceil(q * total)));
  let below = 0;
  let at = 0;
  for (; at < histogram.counts.length - 1; at++) {
    below += histogram.counts[at]!;
    if (below >= rank) break;
  }
  const bucket = histogram.first + at;
  return bucket === 0 ? SHORTEST : (SHORTEST * RATIO ** bucket * 2) / (1 + RATIO);
}

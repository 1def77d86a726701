/** Prometheus counters by account: how many pieces of work it requested, and how many seconds they took. */
import type { Registry } from 'prom-client';
import { addMetric, type MetricValue } from './add-metric.ts';
import { declared } from './declared.ts';

/**
 * Maximum number of accounts with a series of their own, in the order of their first request; each takes two lines of a
 * scrape.
 */
export const MAX_ACCOUNT_SERIES = 1_000;
/** The label shared by all accounts beyond the first `MAX_ACCOUNT_SERIES`. */
const OTHERS = 'other';

export interface AccountTimesOptions {
  /** The counter of pieces of work. */
  readonly count: 'edgeplan_api_account_requests_total' | 'edgeplan_compute_account_computations_total';
  /** The counter of their seconds. */
  readonly seconds: 'edgeplan_api_account_seconds_total' | 'edgeplan_compute_account_seconds_total';
}

interface Tally {
  count: number;
  seconds: number;
}

/** Adds the two metrics to a registry. Returns the function that records one piece of work, in seconds. */
export function addAccountTimes(
  registry: Registry,
  { count, seconds: secondsName }: AccountTimesOptions,
): (account: number, seconds: number) => void {
  const accounts = new Map<number, Tally>();
  const others: Tally = { count: 0, seconds: 0 };
  const values = (of: keyof Tally): readonly MetricValue[] => {
    const own = [...accounts].map(
      ([account, tally]): MetricValue => ({ labels: { account }, value: tally[of] }),
    );
    return others.count === 0 ? own : [...own, { labels: { account: OTHERS }, value: others[of] }];
  };
  addMetric(registry, {
    ...declared(count),
    type: 'counter',
    values: () => values('count'),
  });
  addMetric(registry, {
    ...declared(secondsName),
    type: 'counter',
    values: () => values('seconds'),
  });
  return (account, seconds) => {
    const tally = tallyOf(accounts, account) ?? others;
    tally.count += 1;
    tally.seconds += seconds;
  };
}

function tallyOf(accounts: Map<number, Tally>, account: number): Tally | null {
  const known = accounts.get(account);
  if (known !== undefined) return known;
  if (accounts.size >= MAX_ACCOUNT_SERIES) return null;
  const made: Tally = { count: 0, seconds: 0 };
  accounts.set(account, made);
  return made;
}

/** Prometheus counters by account: how many pieces of work it requested, and how many seconds they took. */
import type { Registry } from 'prom-client';
import { addMetric, type MetricValue } from './add-metric.ts';

/**
 * Maximum number of accounts with a series of their own, in the order of their first request; each takes two lines of a
 * scrape.
 */
export const MAX_ACCOUNT_SERIES = 1_000;
/** The label shared by all accounts beyond the first `MAX_ACCOUNT_SERIES`. */
const OTHERS = 'other';

export interface AccountTimesOptions {
  /** `edgeplan_api_account`: the metrics are `<prefix>_<what>_total` and `<prefix>_seconds_total`. */
  readonly prefix: string;
  /** The noun of what is counted, in the plural. */
  readonly what: string;
}

interface Tally {
  count: number;
  seconds: number;
}

/** Adds the two metrics to a registry. Returns the function that records one piece of work, in seconds. */
export function addAccountTimes(
  registry: Registry,
  { prefix, what }: AccountTimesOptions,
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
    name: `${prefix}_${what}_total`,
    help: `The ${what} of an account, by its id; \`${OTHERS}\`: all beyond the first ${MAX_ACCOUNT_SERIES} accounts`,
    type: 'counter',
    values: () => values('count'),
  });
  addMetric(registry, {
    name: `${prefix}_seconds_total`,
    help: `Seconds that the ${what} of an account took, by its id`,
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

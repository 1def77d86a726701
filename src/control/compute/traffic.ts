/**
 * Reads stored counts of a domain's traffic, merges them and writes the answer as JSON text: a period has up to 1,500
 * steps, and each is opened and merged here, not on the thread of the API.
 */
import type { Snapshots } from '../store/database/snapshots.ts';
import type { TrafficPeriod } from '../traffic/period.ts';
import { readTop, readTraffic } from '../traffic/read-traffic.ts';
import { inEvaluationOrder, removedRules, showRuleHits, sumHits } from '../traffic/show-hits.ts';
import { showTop } from '../traffic/show-top.ts';
import { QUANTILE_ERROR, showTraffic, VISITORS_ERROR } from '../traffic/show-traffic.ts';
import type { HitsJob, ListPage, TopJob, TrafficJob } from './job.ts';
import { MAX_RESULT_PAGE_OCTETS } from './limits.ts';

/** The period as answers show it. */
function head({ step, from, to }: TrafficPeriod) {
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString(), step };
}

/** Rules from index `from` on, at most `limit` and `MAX_RESULT_PAGE_OCTETS`. @throws StoreFault, CountsFault */
export async function hitsPage(
  { domainId, period, series, limit, from }: HitsJob,
  snapshots: Snapshots,
): Promise<ListPage> {
  const { rows, steps } = await snapshots.read(async (tx) => ({
    rows: await tx.rules.listAll(domainId),
    steps: await readTraffic(tx, domainId, period),
  }));
  const sums = sumHits(steps);
  const rules: unknown[] = [];
  let octets = 0;
  for (const row of inEvaluationOrder(rows).slice(from, from + limit)) {
    const rule = showRuleHits(row, sums, { series });
    octets += Buffer.byteLength(JSON.stringify(rule)) + 1;
    // A page has at least one rule, so that paging always ends.
    if (octets > MAX_RESULT_PAGE_OCTETS && rules.length > 0) break;
    rules.push(rule);
  }
  const removed = removedRules(sums, rows);
  const text = JSON.stringify({ ...head(period), rules, removed, uncounted: sums.uncounted });
  return { text, of: rows.length, shown: rules.length };
}

/** Totals, points and the division of a period. @throws StoreFault, CountsFault */
export async function trafficText(
  { domainId, period, by }: TrafficJob,
  snapshots: Snapshots,
): Promise<string> {
  const steps = await snapshots.read((tx) => readTraffic(tx, domainId, period));
  const precision = { visitors: VISITORS_ERROR, milliseconds: QUANTILE_ERROR };
  return JSON.stringify({ ...head(period), by, precision, ...showTraffic(steps, period, { by }) });
}

/** The most frequent values of a period. @throws StoreFault, CountsFault */
export async function topText(
  { domainId, period, of, limit }: TopJob,
  snapshots: Snapshots,
): Promise<string> {
  const list = await snapshots.read((tx) => readTop(tx, domainId, { ...period, of }));
  const { from, to } = head(period);
  return JSON.stringify({ from, to, of, ...showTop(list, limit) });
}

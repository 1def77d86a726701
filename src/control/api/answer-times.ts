/**
 * Prometheus metrics of answered requests: their number and their seconds. PERF: prom-client's own counters and histograms
 * look up their labels at every observation, a microsecond a request; here the caller has the series at hand.
 */
import type { Registry } from 'prom-client';
import {
  addHistogram,
  addMetric,
  createSeries,
  observe,
  type Series,
} from '../../base/telemetry/metrics/computed.ts';
import { declared } from '../../base/telemetry/metrics/declared.ts';

/** The labels of one series. */
export interface AnswerKind {
  readonly method: string;
  /** The route's path; empty: no route matched. */
  readonly path: string;
  readonly status: number;
}

/** Records one answer of a kind, and the seconds it took. */
export type NoteAnswer = (seconds: number) => void;

/** Upper bounds of the histogram's buckets, in seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 20] as const;

/** The counter of one kind. */
interface Count {
  readonly labels: { readonly method: string; readonly path: string; readonly status: string };
  answers: number;
}

/** Adds the metrics to a registry. Returns the function that returns the recorder of a kind, the same at each call. */
export function addAnswerTimes(registry: Registry): (kind: AnswerKind) => NoteAnswer {
  const counts: Count[] = [];
  const times = new Map<string, Series>();
  const known = new Map<string, NoteAnswer>();
  addMetric(registry, {
    ...declared('edgeplan_api_requests_total'),
    type: 'counter',
    values: () => counts.map(({ labels, answers }) => ({ labels, value: answers })),
  });
  addHistogram(registry, {
    ...declared('edgeplan_api_request_duration_seconds'),
    bounds: BOUNDS,
    series: () => times.values(),
  });
  function timesOf({ method, path }: AnswerKind): Series {
    const name = `${method} ${path}`;
    const found = times.get(name) ?? createSeries(BOUNDS, { method, path });
    times.set(name, found);
    return found;
  }
  function make(kind: AnswerKind): NoteAnswer {
    const { method, path, status } = kind;
    const count: Count = { labels: { method, path, status: String(status) }, answers: 0 };
    counts.push(count);
    const time = timesOf(kind);
    return (seconds) => {
      observe(time, BOUNDS, seconds);
      count.answers += 1;
    };
  }
  return (kind) => {
    const name = `${kind.status} ${kind.method} ${kind.path}`;
    const found = known.get(name) ?? make(kind);
    known.set(name, found);
    return found;
  };
}

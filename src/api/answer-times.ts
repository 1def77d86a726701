/**
 * How many requests were answered and how long each took, as Prometheus metrics. prom-client's own counters and
 * histograms look their labels up with every observation, a microsecond a request; here whoever answers holds the series.
 */
import type { Metric, MetricObject, Registry } from 'prom-client';

/** What one series is about. */
export interface AnswerKind {
  readonly method: string;
  /** The route's path; empty when there is none. */
  readonly path: string;
  readonly status: number;
}

/** Notes one answer of a kind, and the seconds it took. */
export type NoteAnswer = (seconds: number) => void;

const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 20] as const;

interface Count {
  readonly labels: { readonly method: string; readonly path: string; readonly status: string };
  answers: number;
}

interface Times {
  readonly labels: { readonly method: string; readonly path: string };
  /** Answers up to each bound and above the one before it; the last ones are above all. */
  readonly buckets: number[];
  seconds: number;
}

/** Adds the metrics to a registry; answers how the series of a kind is found. */
export function addAnswerTimes(registry: Registry): (kind: AnswerKind) => NoteAnswer {
  const counts: Count[] = [];
  const times = new Map<string, Times>();
  const known = new Map<string, NoteAnswer>();
  add(registry, {
    name: 'edgeplan_api_requests_total',
    help: 'Answered requests of the management API',
    type: 'counter',
    values: () => counts.map(({ labels, answers }) => ({ labels, value: answers })),
  });
  add(registry, {
    name: 'edgeplan_api_request_seconds',
    help: 'Seconds from the first octet of a request to the last of its answer',
    type: 'histogram',
    values: () => [...times.values()].flatMap(linesOf),
  });
  function timesOf({ method, path }: AnswerKind): Times {
    const name = `${method} ${path}`;
    const found = times.get(name) ?? {
      labels: { method, path },
      buckets: Array<number>(BOUNDS.length + 1).fill(0),
      seconds: 0,
    };
    times.set(name, found);
    return found;
  }
  function make(kind: AnswerKind): NoteAnswer {
    const { method, path, status } = kind;
    const count: Count = { labels: { method, path, status: String(status) }, answers: 0 };
    counts.push(count);
    const time = timesOf(kind);
    return (seconds) => {
      let at = 0;
      while (at < BOUNDS.length && seconds > BOUNDS[at]!) at++;
      time.buckets[at]! += 1;
      time.seconds += seconds;
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

interface Value {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

/** A histogram's lines for one set of labels: each bucket counts those below it too. */
function linesOf({ labels, buckets, seconds }: Times): readonly Value[] {
  const name = 'edgeplan_api_request_seconds';
  let below = 0;
  const lines: Value[] = buckets.map((answers, at) => {
    below += answers;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: BOUNDS[at] ?? '+Inf' }, value: below };
  });
  return [
    ...lines,
    { metricName: `${name}_sum`, labels, value: seconds },
    { metricName: `${name}_count`, labels, value: below },
  ];
}

interface Added {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'histogram';
  readonly values: () => readonly Value[];
}

function add(registry: Registry, { name, help, type, values }: Added): void {
  // What a registry asks of a metric is its name and `get`; the types name prom-client's classes only.
  const metric = {
    name,
    get: async () => ({ name, help, type, values: values(), aggregator: 'sum' }) as unknown as MetricObject,
  };
  registry.registerMetric(metric as unknown as Metric);
}

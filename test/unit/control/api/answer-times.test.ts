/** What is told of answers is what prom-client's own counter and histogram would tell. */
import { Counter, Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { declared } from '../../../../src/base/telemetry/metrics/declared.ts';
import { addAnswerTimes } from '../../../../src/control/api/health-listener.ts';

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 20];

it('the text of the metrics equals that of prom-client', async () => {
  const ours = new Registry();
  const answersOf = addAnswerTimes(ours);
  const theirs = new Registry();
  const count = new Counter({
    ...declared('edgeplan_api_requests_total'),
    registers: [theirs],
  });
  const times = new Histogram({
    ...declared('edgeplan_api_request_duration_seconds'),
    buckets: BUCKETS,
    registers: [theirs],
  });
  const kinds = [
    { method: 'GET', path: '/domains/', status: 200 },
    { method: 'GET', path: '/domains/', status: 401 },
    { method: 'POST', path: '/domains/', status: 200 },
    { method: 'GET', path: '', status: 404 },
  ];
  for (const kind of kinds) {
    for (const seconds of [0, 0.0009, 0.001, 0.0011, 0.3, 20, 21, ...BUCKETS]) {
      answersOf(kind)(seconds);
      const { method, path, status } = kind;
      count.inc({ method, path, status: String(status) });
      times.observe({ method, path }, seconds);
    }
  }
  expect(linesOf(await ours.metrics())).toEqual(linesOf(await theirs.metrics()));
});

it('the metrics have no series before the first answer', async () => {
  const registry = new Registry();
  addAnswerTimes(registry);
  expect(await registry.metrics()).not.toMatch(/^[^#\n]/m);
});

/** Without their order, and with labels in theirs. */
function linesOf(text: string): readonly string[] {
  const inOrder = (_: string, labels: string): string =>
    `{${labels
      .split(/,(?=\w+=)/)
      .sort()
      .join(',')}}`;
  return text
    .split('\n')
    .map((line) => line.replace(/\{(.*)\}/, inOrder))
    .sort();
}

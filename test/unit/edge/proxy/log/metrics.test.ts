import { afterEach, describe, expect, it } from 'vitest';
import { type RunningHealthListener, startHealthListener } from '../../../../../src/edge/proxy/health.ts';
import { createNodeMetrics, type NodeMetricsOptions } from '../../../../../src/edge/proxy/log/metrics.ts';
import { DOMAIN, journalSubject, RECORDS } from '../../../../support/edge-journal.ts';

const subject = journalSubject({
  domain: DOMAIN,
  records: RECORDS,
  rules: [{ id: 1, type: 'drop', path_includes: ['/blocked'] }],
});

const STATE: NodeMetricsOptions = {
  plans: () => ({ installed: 12, opened: 3 }),
  originsDown: () => 2,
  log: () => ({ written: 10, dropped: 4, queued: 1, failures: 5 }),
};

const open: RunningHealthListener[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

async function listen(options: Partial<Parameters<typeof startHealthListener>[0]> = {}) {
  const metrics = createNodeMetrics(STATE);
  const operations = await startHealthListener({
    registry: () => metrics.registry,
    unready: () => null,
    port: 0,
    ...options,
  });
  open.push(operations);
  const get = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${operations.url}${path}`, init);
    return { status: answer.status, text: await answer.text() };
  };
  return { metrics, get };
}

describe('/metrics', () => {
  it('counts requests by action, status, cache result, Markdown outcome and fault', async () => {
    const { metrics, get } = await listen();
    for (let at = 0; at < 3; at++) metrics.done(subject.entry({}, { cache: 'hit', durationMs: 3 }));
    metrics.done(subject.entry({}, { status: 504, fault: 'timeout', markdown: 'late', durationMs: 61_000 }));
    metrics.done(subject.entry({ target: '/blocked' }));
    metrics.done({ ...subject.entry({}), exchange: null, status: 421 });
    metrics.done(subject.entry({}, { status: 101, durationMs: 3_600_000 }));
    const { text } = await get('/metrics');
    for (const line of [
      'edgeplan_node_requests_total{action="forward",status="2xx"} 3',
      'edgeplan_node_requests_total{action="forward",status="5xx"} 1',
      'edgeplan_node_requests_total{action="forward",status="1xx"} 1',
      'edgeplan_node_requests_total{action="block",status="4xx"} 1',
      'edgeplan_node_requests_total{action="none",status="4xx"} 1',
      'edgeplan_node_cache_requests_total{result="hit"} 3',
      'edgeplan_node_markdown_requests_total{result="late"} 1',
      'edgeplan_node_faults_total{fault="timeout"} 1',
      'edgeplan_node_response_bytes_total 462',
      'edgeplan_node_request_duration_seconds_bucket{le="0.0025"} 2',
      'edgeplan_node_request_duration_seconds_bucket{le="0.005"} 5',
      'edgeplan_node_request_duration_seconds_bucket{le="60"} 5',
      'edgeplan_node_request_duration_seconds_bucket{le="+Inf"} 6',
      'edgeplan_node_request_duration_seconds_count 6',
      'edgeplan_node_plans_installed 12',
      'edgeplan_node_plans_opened 3',
      'edgeplan_node_origins_down 2',
      'edgeplan_node_log_lines_total 10',
      'edgeplan_node_log_lines_dropped_total 4',
      'edgeplan_node_log_failures_total 5',
      'edgeplan_node_log_lines_waiting 1',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
  });

  it('has each series of a known label value from the start, with 0', async () => {
    const { get } = await listen();
    const { text } = await get('/metrics');
    expect(text.split('\n')).toEqual(
      expect.arrayContaining([
        'edgeplan_node_requests_total{action="forward",status="5xx"} 0',
        'edgeplan_node_cache_requests_total{result="revalidated"} 0',
        'edgeplan_node_markdown_requests_total{result="no-transform"} 0',
      ]),
    );
  });

  it('returns the same counts when it is scraped twice', async () => {
    const { metrics, get } = await listen();
    metrics.done(subject.entry({}));
    await get('/metrics');
    expect((await get('/metrics')).text).toContain('{action="forward",status="2xx"} 1\n');
  });

  it('bounds the number of series for any number of label values and statuses', async () => {
    const { metrics, get } = await listen();
    for (let at = 0; at < 5_000; at++) {
      metrics.done(subject.entry({ target: `/${at}` }, { status: at, cache: `word ${at}` }));
    }
    const { text } = await get('/metrics');
    const requests = text.split('\n').filter((line) => line.startsWith('edgeplan_node_requests_total'));
    // 7 actions with 5 classes of status, and `0xx`.
    expect(requests).toHaveLength(36);
    const caches = text.split('\n').filter((line) => line.startsWith('edgeplan_node_cache_requests_total{'));
    // 8 results, 32 words, and `other`.
    expect(caches).toHaveLength(41);
    expect(caches.at(-1)).toBe('edgeplan_node_cache_requests_total{result="other"} 4968');
  });

  it('answers 503 when the metrics cannot be collected', async () => {
    const { get } = await listen({ registry: () => Promise.reject(new Error('no worker answers')) });
    expect(await get('/metrics')).toEqual({
      status: 503,
      text: 'the metrics cannot be gathered: no worker answers\n',
    });
  });
});

describe('the other paths of the health listener', () => {
  it.each([
    ['/healthz', {}, 200, 'ok\n'],
    ['/readyz?verbose', {}, 200, 'ready\n'],
    ['/', {}, 404, 'not found\n'],
    ['/metrics', { method: 'POST' }, 405, 'only GET and HEAD\n'],
    ['/healthz', { method: 'HEAD' }, 200, ''],
  ] as const)('%s %o', async (path, init, status, text) => {
    const { get } = await listen();
    expect(await get(path, init)).toEqual({ status, text });
  });

  it('answers `/readyz` with the reason why the node is not ready', async () => {
    const { get } = await listen({ unready: () => 'draining' });
    expect(await get('/readyz')).toEqual({ status: 503, text: 'draining\n' });
  });
});

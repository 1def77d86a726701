import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  combineRequestLogs,
  createDecisionLog,
  type DecisionLogOptions,
} from '../../../../../src/edge/proxy/log/decision-log.ts';
import type { DecisionLine } from '../../../../../src/edge/proxy/log/line.ts';
import type { RequestLogEntry } from '../../../../../src/edge/proxy/log/request-log.ts';
import { requestMistake } from '../../../../../src/workbench/simulation/requests.ts';
import { DOMAIN, journalSubject, RECORDS } from '../../../../support/edge-journal.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-log-'));
afterAll(() => rmSync(folder, { recursive: true }));

const subject = journalSubject({
  domain: DOMAIN,
  records: RECORDS,
  rules: [
    { id: 1, type: 'drop', path_includes: ['/blocked'] },
    { id: 2, type: 'drop', path_includes: ['/tried'], action_mode: 'dry_run' },
    { id: 3, type: 'captcha', path_includes: ['/asked'] },
    { id: 4, type: 'redirect', path_includes: ['/old'], target: 'https://example.com/new?token=abc' },
    {
      id: 5,
      type: 'rate_limit',
      path_includes: ['/counted'],
      limit: 100,
      window_sec: 60,
      action_mode: 'dry_run',
    },
  ],
});
const plain = (): RequestLogEntry => subject.entry({ target: '/plain' });

let files = 0;
function open(more: Partial<DecisionLogOptions> = {}) {
  const file = join(folder, `${++files}.jsonl`);
  const faults: unknown[] = [];
  const log = createDecisionLog({ file, rate: 0, onFault: (error) => faults.push(error), ...more });
  const lines = (path = file): DecisionLine[] =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  return { file, log, lines, faults };
}

describe('the selection of requests', () => {
  const cases: readonly (readonly [string, () => RequestLogEntry, boolean])[] = [
    ['a plain forward', plain, false],
    ['a redirect', () => subject.entry({ target: '/old' }), false],
    ['a client that left', () => ({ ...plain(), fault: 'aborted' }), false],
    ['a block', () => subject.entry({ target: '/blocked' }), true],
    ['a challenge', () => subject.entry({ target: '/asked' }), true],
    ['a dry_run rule that changes nothing', () => subject.entry({ target: '/counted' }), false],
    ['a would-have', () => subject.entry({ target: '/tried' }), true],
    ['a refusal of the gate', () => subject.entry({ target: '/%zz' }), true],
    ['a fault', () => ({ ...plain(), fault: 'timeout' }), true],
    ['a refusal before a domain is known', () => ({ ...plain(), exchange: null, status: 421 }), true],
  ];
  it.each(cases)('logs without sampling: %s', async (_, entry, told) => {
    const { log, lines } = open();
    log.done(entry());
    if (told) {
      await log.close();
      expect(lines()).toHaveLength(1);
      expect(lines()[0]!.sampled).toBeNull();
    } else {
      expect(log.stats()).toEqual({ written: 0, dropped: 0, queued: 0, failures: 0 });
      await log.close();
    }
  });

  it('logs plain requests at the sampling rate', async () => {
    const { log, lines } = open({ rate: 0.1 });
    for (let at = 0; at < 20_000; at++) log.done(plain());
    await log.close();
    const { length } = lines();
    // Six standard deviations of a binomial of 20,000 and 0.1.
    expect(Math.abs(length - 2_000)).toBeLessThan(6 * Math.sqrt(20_000 * 0.1 * 0.9));
    expect(lines()[0]!.sampled).toBe(0.1);
  });

  it.each([
    [1, 50],
    [0, 0],
  ])('takes rate %d', async (rate, expected) => {
    const { log } = open({ rate, random: () => 0 });
    for (let at = 0; at < 50; at++) log.done(plain());
    await log.close();
    expect(log.stats()).toMatchObject({ written: expected, dropped: 0 });
  });

  it.each([-0.1, 1.1, Number.NaN])('refuses the sampling rate %d', (rate) => {
    expect(() => open({ rate })).toThrow(/a rate is a number from 0 to 1/);
  });
});

describe('a line of the decision log', () => {
  it('contains the request, the decision and the response', async () => {
    const { log, lines } = open();
    const entry = subject.entry({
      target: '/blocked?a=1',
      headers: { 'user-agent': 'curl/8', referer: 'https://x.test/?token=1' },
      country: 'DE',
      asn: 64_496,
      ja4: 't13d',
    });
    log.done({ ...entry, octets: 12, durationMs: 0.123456, cache: 'miss', markdown: 'rendered' });
    await log.close();
    expect(lines()[0]).toMatchObject({
      format: 'edgeplan.decision/v1',
      time: '2026-01-31T12:00:00.000Z',
      id: entry.id,
      domain: 'example.com',
      revision: 7,
      digest: subject.digest,
      request: {
        method: 'GET',
        host: 'example.com',
        target: '/blocked?a=1',
        ip: '203.0.113.7',
        country: 'DE',
        asn: 64_496,
        ja4: 't13d',
        headers: { 'user-agent': 'curl/8', referer: 'https://x.test/?token=REDACTED' },
      },
      withheld: ['referer'],
      decision: { action: 'block', status: 403, rule: 'drop/1' },
      matches: [{ rule: 'drop/1', mode: 'enforce', effect: 'block' }],
      shadow: null,
      status: 403,
      octets: 12,
      duration_ms: 0.123,
      cache: 'miss',
      markdown: 'rendered',
      fault: null,
    });
    expect(requestMistake(lines()[0]!.request as never)).toBeNull();
  });

  it('has an autonomous system only if it is known', async () => {
    const { log, lines } = open({ rate: 1 });
    for (const asn of [undefined, null, 0, Number.NaN, 4_294_967_295]) log.done(subject.entry({ asn }));
    await log.close();
    expect(lines().map(({ request }) => request!.asn)).toEqual([...Array(4).fill(undefined), 4_294_967_295]);
    for (const { request } of lines()) expect(requestMistake(request as never)).toBeNull();
  });

  it('redacts each of several Referer headers', async () => {
    const { log, lines, file } = open({ rate: 1 });
    const referer = [
      'https://x.test/?token=first-secret',
      'https://x.test/',
      'https://x.test/?token=second-secret',
    ];
    log.done(subject.entry({ target: '/', headers: { referer } }));
    await log.close();
    expect(lines()[0]).toMatchObject({
      request: {
        headers: {
          referer: ['https://x.test/?token=REDACTED', 'https://x.test/', 'https://x.test/?token=REDACTED'],
        },
      },
      withheld: ['referer'],
    });
    expect(readFileSync(file, 'utf8')).not.toContain('secret');
  });

  it('contains the shadow decision of rules under dry_run', async () => {
    const { log, lines } = open();
    log.done(subject.entry({ target: '/tried' }));
    await log.close();
    expect(lines()[0]).toMatchObject({
      decision: { action: 'forward', rule: null, origin: 'https://192.0.2.1:443' },
      shadow: { action: 'block', rule: 'drop/2' },
    });
  });

  it('contains no secret and no body', async () => {
    const { log, file, lines } = open({ rate: 1 });
    const secret = 'S3CRET';
    const names = ['cookie', 'authorization', 'proxy-authorization', 'x-api-key', 'x-anything', 'set-cookie'];
    const headers = Object.fromEntries(names.map((name) => [name, secret]));
    log.done(subject.entry({ headers, body: secret, target: `/blocked?password=${secret}` }));
    log.done(subject.entry({ headers, body: Buffer.from(secret), target: `/p?api_key=${secret}` }));
    log.done(subject.entry({ target: '/old' }));
    await log.close();
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain(secret);
    expect(text).toContain('new?token=REDACTED');
    expect(lines()[0]!.withheld).toEqual(['target', 'body', ...names]);
  });

  it('has a bounded length for any request', async () => {
    const { log, file, lines } = open();
    const long = 'x'.repeat(100_000);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`x-${at}-${long}`, long]));
    const headers = { ...many, 'user-agent': long, via: Array.from({ length: 500 }, () => long) };
    log.done(subject.entry({ target: `/blocked?${long}`, headers, host: [long, long, long], method: long }));
    await log.close();
    expect(readFileSync(file).length).toBeLessThan(64 * 1024);
    expect(lines()[0]!.withheld).toContain('target');
  });
});

describe('the file of the decision log', () => {
  it('continues in a new file after a rename, without a lost line', async () => {
    const { log, lines, file } = open({ rate: 1 });
    for (let at = 0; at < 10; at++) log.done(plain());
    await expect.poll(() => log.stats().written).toBe(10);
    renameSync(file, `${file}.1`);
    log.reopen();
    await expect.poll(() => existsSync(file)).toBe(true);
    for (let at = 0; at < 5; at++) log.done(plain());
    await log.close();
    expect(lines(`${file}.1`)).toHaveLength(10);
    expect(lines()).toHaveLength(5);
  });

  it('queues lines on a full disk, then drops and counts them, and delays no request', async () => {
    const { log, faults } = open({ file: '/dev/full', rate: 1, maxQueued: 10_000, retryMs: 50 });
    for (let at = 0; at < 200; at++) log.done(plain());
    // Nothing was written yet: no request waits for the disk.
    expect(log.stats().failures).toBe(0);
    await expect.poll(() => log.stats().failures).toBeGreaterThan(1);
    const { written, dropped, queued } = log.stats();
    expect({ written, all: dropped + queued }).toEqual({ written: 0, all: 200 });
    expect(dropped).toBeGreaterThan(150);
    expect(faults).toHaveLength(1);
    await log.close();
  });

  it('states the number of missing lines once it can be written again', async () => {
    const file = join(folder, 'pipe');
    expect(spawnSync('mkfifo', [file]).status).toBe(0);
    // Nobody reads.
    const { log } = open({ file, rate: 1, maxQueued: 5_000 });
    for (let at = 0; at < 50; at++) log.done(plain());
    await expect.poll(() => log.stats().dropped).toBeGreaterThan(10);
    const { dropped } = log.stats();
    const reader = spawn('cat', [file], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    reader.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    const ended = once(reader, 'close');
    await log.close();
    await ended;
    const told = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(told.filter(({ format }) => format === 'edgeplan.decision/v1')).toHaveLength(50 - dropped);
    expect(told.filter(({ format }) => format === 'edgeplan.gap/v1')).toMatchObject([{ dropped }]);
  });

  it('reports a missing folder, and writes once the folder exists', async () => {
    const { log, faults } = open({ file: join(folder, 'none', 'log'), rate: 1, retryMs: 20 });
    log.done(plain());
    await expect.poll(() => faults.length).toBe(1);
    expect(log.stats()).toMatchObject({ written: 0, queued: 1 });
    await log.close();
  });
});

it('a combined request log calls every log, also after one of them throws', () => {
  const told: string[] = [];
  const faults: unknown[] = [];
  const all = combineRequestLogs(
    [
      { done: () => void told.push('first') },
      {
        done: () => {
          throw new Error('broken');
        },
      },
      { done: () => void told.push('last') },
    ],
    (error) => faults.push(error),
  );
  all.done(plain());
  expect(told).toEqual(['first', 'last']);
  expect(faults).toMatchObject([{ message: 'broken' }]);
});

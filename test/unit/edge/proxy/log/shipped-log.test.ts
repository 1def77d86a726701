/** Which decisions are shipped to the control plane, how many of each domain, and what their lines must not contain. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createRequestTable } from '../../../../../src/edge/following/counted-requests.ts';
import {
  LOG_MANY_FILES,
  LOG_MANY_TURNS,
  MAX_COUNTED_ROWS,
  MAX_COUNTED_ROWS_OF_DOMAIN,
} from '../../../../../src/edge/following/limits.ts';
import {
  LOG_QUEUE_ENDING,
  type LogQueueOptions,
  openLogQueue,
} from '../../../../../src/edge/following/log-queue.ts';
import { createShippedLog } from '../../../../../src/edge/proxy/log/decision-log.ts';
import type { RequestLogEntry } from '../../../../../src/edge/proxy/log/request-log.ts';
import { until } from '../../../../support/until.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-shipped-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

interface EntryParts {
  readonly domain?: string;
  readonly action?: string;
  readonly fault?: string | null;
  readonly shadow?: boolean;
  readonly id?: string;
  readonly waf?: object | null;
  readonly target?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly rule?: { readonly type: string; readonly id: number } | null;
  readonly ip?: string | null;
  readonly at?: number;
}

const COUNTED = 'edgeplan.counted/v1';

let ids = 0;

function entryOf(parts: EntryParts = {}): RequestLogEntry {
  const { domain = 'shop.test', action = 'block', fault = null, shadow = false, waf = null } = parts;
  const plain = {
    status: 403,
    origin: null,
    cache: null,
    location: null,
    path: null,
    query: null,
    rule: parts.rule ?? null,
    tags: [],
  };
  const dry = { type: 'waf', id: 7, mode: 'dry_run', effect: 'block', ...(waf === null ? {} : { waf }) };
  const decision = { ...plain, action, waf: null, matches: waf === null ? [] : [dry], shadow: null };
  const request = {
    scheme: 'https',
    method: 'GET',
    host: domain,
    target: parts.target ?? '/',
    headers: parts.headers ?? {},
    ip: parts.ip === undefined ? '192.0.2.1' : parts.ip,
    body: null,
  };
  return {
    exchange: {
      startedAt: parts.at ?? Date.now(),
      domain: {
        name: domain,
        revision: 1,
        digest: 'a'.repeat(64),
        evaluator: { credentialParameters: () => new Set() },
      },
      request,
      decision: { ...decision, shadow: shadow ? { ...decision, action: 'block' } : null },
    },
    id: parts.id ?? `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`,
    status: 403,
    octets: 1,
    durationMs: 1,
    cache: null,
    markdown: null,
    fault,
  } as unknown as RequestLogEntry;
}

interface Line {
  readonly format: string;
  readonly id: string;
  readonly domain: string;
  readonly dropped?: number;
  readonly time: string;
  readonly until?: string;
  readonly action?: string;
  readonly rule?: string | null;
  readonly network?: string | null;
  readonly requests?: number;
}

function requestsOf(lines: readonly Line[]): number {
  return lines.reduce((sum, { requests = 0 }) => sum + requests, 0);
}

/** The lines of all files, without the first of each. */
function shippedLines(): readonly Line[] {
  // A file that is being written has another ending until it is whole.
  return readdirSync(folder)
    .filter((name) => name.endsWith(LOG_QUEUE_ENDING))
    .sort()
    .flatMap((name) =>
      gunzipSync(readFileSync(join(folder, name)))
        .toString('utf8')
        .trimEnd()
        .split('\n')
        .slice(1),
    )
    .map((line) => JSON.parse(line) as Line);
}

interface OpenOptions extends Partial<LogQueueOptions> {
  readonly rate?: number;
  readonly linesPerSec?: number;
}

function open(options: OpenOptions = {}) {
  let now = 0;
  const { rate = 0, share = 1, linesPerSec = 50 } = options;
  const counted = createRequestTable(share);
  const queue = openLogQueue({ folder, process: 0, share, log, counted, everyMs: 3_600_000, ...options });
  const shipped = createShippedLog({
    ...{ queue, counted, rate, linesPerSec, share },
    random: () => 0.5,
    clock: () => now,
  });
  return {
    queue,
    shipped,
    pass: (ms: number): void => {
      now += ms;
    },
  };
}

/** A signature that matched, as a verdict has it. */
function signature(variable: string, value: string) {
  return { id: 942_100, message: 'SQL', severity: 2, category: 'sqli', score: 5, variable, value };
}

describe('the shipped part of the decision log', () => {
  test('has blocks, challenges, refusals, faults and shadows of domains always, and of the rest the share of the rate', async () => {
    const { shipped, queue } = open({ rate: 0 });
    for (const action of ['block', 'challenge', 'refuse']) shipped.done(entryOf({ action, id: action }));
    shipped.done(entryOf({ action: 'forward', fault: 'timeout', id: 'fault' }));
    shipped.done(entryOf({ action: 'forward', shadow: true, id: 'shadow' }));
    shipped.done(entryOf({ action: 'forward', id: 'plain' }));
    shipped.done(entryOf({ action: 'forward', fault: 'aborted', id: 'left' }));
    shipped.done({ ...entryOf({ id: 'nobody' }), exchange: null });
    await queue.close();
    expect(shippedLines().map(({ id }) => id)).toEqual(['block', 'challenge', 'refuse', 'fault', 'shadow']);
  });

  test('has every plain decision at the rate 1', async () => {
    const { shipped, queue } = open({ rate: 1 });
    for (let round = 0; round < 20; round++) shipped.done(entryOf({ action: 'forward' }));
    await queue.close();
    expect(shippedLines()).toHaveLength(20);
  });

  test('has no secret of the request, and the ids, targets, parts and score of signatures under dry_run', async () => {
    const { shipped, queue } = open();
    const waf = {
      score: 5,
      ids: [942_100],
      truncated: false,
      exhausted: false,
      bodyError: null,
      uninspected: null,
      matches: [signature('ARGS:token', 'SECRET-PIECE'), signature('ARGS:q', '1 or 1')],
    };
    const headers = {
      cookie: 'session=SECRET-COOKIE',
      authorization: 'Bearer SECRET-KEY',
      'user-agent': 'x',
    };
    shipped.done(entryOf({ waf, headers, target: '/?token=SECRET-TOKEN&q=1' }));
    await queue.close();
    const [line] = shippedLines();
    expect(JSON.stringify(line)).not.toContain('SECRET');
    expect(line).toMatchObject({
      matches: [
        {
          rule: 'waf/7',
          mode: 'dry_run',
          waf: {
            score: 5,
            ids: [942_100],
            targets: ['ARGS:token', 'ARGS:q'],
            matches: [
              { target: 'ARGS:token', part: '(not shown)' },
              { target: 'ARGS:q', part: '1 or 1' },
            ],
          },
        },
      ],
      withheld: expect.arrayContaining(['target', 'cookie', 'authorization']),
    });
  });

  test('has all entries of a quiet domain beside one that is attacked, and counts the rest of it', async () => {
    const { shipped, queue, pass } = open();
    for (let second = 0; second < 10; second++) {
      for (let hit = 0; hit < 2_000; hit++) shipped.done(entryOf({ domain: 'attacked.test' }));
      for (let hit = 0; hit < 20; hit++) shipped.done(entryOf({ domain: 'quiet.test' }));
      pass(1_000);
    }
    await queue.close();
    const lines = shippedLines();
    const of = (domain: string): readonly Line[] => lines.filter((line) => line.domain === domain);
    expect(of('quiet.test')).toHaveLength(200);
    const counted = of('attacked.test').filter(({ format }) => format === COUNTED);
    const stored = of('attacked.test').length - counted.length;
    // The burst, and the rate of nine seconds.
    expect(stored).toBe(500 + 9 * 50);
    expect(requestsOf(counted)).toBe(20_000 - stored);
    expect(queue.dropped()).toBe(0);
  });

  test('counts by action, rule and network what exceeds the rate, each request once', async () => {
    const { shipped, queue } = open({ linesPerSec: 0 });
    const drop = { type: 'drop', id: 7 };
    const at = Date.UTC(2026, 10, 25, 12);
    for (let hit = 0; hit < 3; hit++)
      shipped.done(entryOf({ rule: drop, ip: `192.0.2.${hit}`, at: at + 1_000 * hit }));
    const parts: readonly EntryParts[] = [
      { rule: drop, ip: '::ffff:192.0.2.9', at },
      { rule: drop, ip: '192.0.3.1', at },
      { rule: drop, ip: '255.255.255.255', at },
      { rule: { type: 'captcha', id: 7 }, action: 'challenge', ip: '2001:db8:1:ffff::1', at },
      { rule: { type: 'captcha', id: 7 }, action: 'challenge', ip: '2001:db8:1::2', at },
      { rule: { type: 'captcha', id: 7 }, action: 'challenge', ip: 'ffff:ffff:ffff::1', at },
      { rule: { type: 'waf', id: 7 }, action: 'forward', shadow: true, ip: null, at },
      { action: 'forward', fault: 'timeout', ip: 'unknown', at },
      // What the visitor noticed counts: the block, not the shadow or the fault beside it.
      { rule: drop, shadow: true, fault: 'timeout', ip: '192.0.3.2', at },
      { action: 'forward', at },
    ];
    for (const one of parts) shipped.done(entryOf(one));
    await queue.close();
    const lines = shippedLines();
    expect(lines.map(({ action, rule, network, requests }) => [action, rule, network, requests])).toEqual([
      ['block', 'drop/7', '192.0.2.0/24', 4],
      ['block', 'drop/7', '192.0.3.0/24', 2],
      ['block', 'drop/7', '255.255.255.0/24', 1],
      ['challenge', 'captcha/7', '2001:db8:1::/48', 2],
      ['challenge', 'captcha/7', 'ffff:ffff:ffff::/48', 1],
      ['would-block', 'waf/7', null, 1],
      ['fault', null, null, 1],
    ]);
    expect(lines[0]).toMatchObject({
      format: COUNTED,
      domain: 'shop.test',
      time: '2026-11-25T12:00:00.000Z',
      until: '2026-11-25T12:00:02.000Z',
    });
    expect(new Set(lines.map(({ id }) => id)).size).toBe(lines.length);
  });

  test('counts 100,000 networks in a bounded number of lines with an exact sum', async () => {
    const { shipped, queue } = open({ linesPerSec: 0 });
    const rule = { type: 'drop', id: 7 };
    for (let hit = 0; hit < 100_000; hit++)
      shipped.done(entryOf({ rule, ip: `${1 + (hit & 127)}.${(hit >> 7) & 255}.${hit >> 15}.1` }));
    await queue.close();
    const lines = shippedLines();
    expect(lines).toHaveLength(MAX_COUNTED_ROWS_OF_DOMAIN / 2);
    expect(lines.filter(({ network }) => network === null)).toMatchObject([{ rule: 'drop/7' }]);
    expect(requestsOf(lines)).toBe(100_000);
  });

  test('counts more rules than the bound with an exact sum for each action', async () => {
    const { shipped, queue } = open({ linesPerSec: 0 });
    for (let hit = 0; hit < 3_000; hit++) {
      const action = hit % 3 === 0 ? 'challenge' : 'block';
      shipped.done(entryOf({ rule: { type: 'drop', id: hit % 1_000 }, action, ip: `10.0.${hit % 250}.1` }));
    }
    await queue.close();
    const lines = shippedLines();
    expect(lines.length).toBeLessThanOrEqual(MAX_COUNTED_ROWS_OF_DOMAIN + 2);
    expect(requestsOf(lines.filter(({ action }) => action === 'challenge'))).toBe(1_000);
    expect(requestsOf(lines.filter(({ action }) => action === 'block'))).toBe(2_000);
    expect(lines.filter(({ rule }) => rule === null)).toHaveLength(2);
  });

  test('counts the requests of many domains in a bounded number of lines with the exact sum of each', async () => {
    const { shipped, queue } = open({ linesPerSec: 0 });
    for (let hit = 0; hit < 60_000; hit++) {
      const domain = `shop-${hit % 300}.test`;
      shipped.done(entryOf({ domain, rule: { type: 'drop', id: 7 }, ip: `10.${hit % 200}.${hit % 7}.1` }));
    }
    await queue.close();
    const sums = new Map<string, number>();
    for (const { domain, requests = 0 } of shippedLines())
      sums.set(domain, (sums.get(domain) ?? 0) + requests);
    expect([...sums.values()]).toEqual(Array(300).fill(200));
    expect(shippedLines().length).toBeLessThanOrEqual(MAX_COUNTED_ROWS + 300);
  });

  test('counts an always logged line that is too long for the control plane', async () => {
    const { shipped, queue } = open();
    const targets = Array.from({ length: 64 }, (_, number) =>
      signature(`ARGS:${'é'.repeat(240)}${number}`, 'x'),
    );
    const waf = { score: 5, ids: [], bodyError: null, uninspected: null, matches: targets };
    const entry = entryOf({ waf: waf, rule: { type: 'drop', id: 7 } });
    const { decision } = entry.exchange as unknown as { decision: { matches: unknown[] } };
    decision.matches = Array(64).fill(decision.matches[0]);
    shipped.done(entry);
    await queue.close();
    expect(shippedLines()).toMatchObject([{ format: COUNTED, rule: 'drop/7', requests: 1 }]);
  });

  test('leaves half of the burst to what is always logged, also where every plain request is logged', async () => {
    const { shipped, queue } = open({ rate: 1 });
    for (let hit = 0; hit < 1_000; hit++) shipped.done(entryOf({ action: 'forward' }));
    await queue.close();
    const gaps = shippedLines().filter(({ format }) => format === 'edgeplan.gap/v1');
    expect(gaps).toMatchObject([{ dropped: 750 }]);
    expect(requestsOf(shippedLines())).toBe(0);
  });

  test('has blocks of a domain whose plain requests exceed its rate', async () => {
    const { shipped, queue, pass } = open({ rate: 0.999 });
    for (let second = 0; second < 5; second++) {
      for (let hit = 0; hit < 2_000; hit++) shipped.done(entryOf({ action: 'forward', id: 'plain' }));
      for (let hit = 0; hit < 40; hit++) shipped.done(entryOf({ id: 'blocked' }));
      pass(1_000);
    }
    await queue.close();
    expect(shippedLines().filter(({ id }) => id === 'blocked')).toHaveLength(200);
  });

  test('has the rate of a node divided among its processes', async () => {
    const { shipped, queue } = open({ share: 1 / 4 });
    for (let hit = 0; hit < 2_000; hit++) shipped.done(entryOf());
    await queue.close();
    expect(shippedLines().filter(({ format }) => format !== COUNTED)).toHaveLength(125);
    expect(requestsOf(shippedLines())).toBe(2_000 - 125);
  });
});

describe('the queue on the disk', () => {
  test('writes counts of a full domain once there is room, with all requests since the last write', async () => {
    const { shipped, queue } = open({ linesPerSec: 0, everyMs: 5, maxOctets: 2_000 });
    for (let number = 0; number < 200; number++) queue.add('shop.test', lineAt('shop.test', number));
    await until(() => queue.full('shop.test'), 'the queue to be full');
    const files = readdirSync(folder).length;
    for (let hit = 0; hit < 700; hit++) shipped.done(entryOf({ ip: `10.0.${hit % 3}.1` }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(readdirSync(folder)).toHaveLength(files);
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    await until(() => readdirSync(folder).length > 0, 'the counts');
    await queue.close();
    expect(shippedLines()).toHaveLength(3);
    expect(requestsOf(shippedLines())).toBe(700);
  });

  test('counts again what a failing disk did not take', async () => {
    const { shipped, queue } = open({ linesPerSec: 0, everyMs: 5 });
    rmSync(folder, { recursive: true });
    for (let hit = 0; hit < 900; hit++) {
      shipped.done(entryOf({ rule: { type: 'drop', id: hit % 2 }, ip: `10.0.${hit % 3}.1` }));
      if (hit % 300 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    mkdirSync(folder);
    await queue.close();
    // A write that was under way may succeed now, with the counts of its time; the rest follows in another.
    const counted = shippedLines().map(({ rule, network }) => `${rule} ${network}`);
    expect(new Set(counted).size).toBe(6);
    expect(requestsOf(shippedLines())).toBe(900);
    expect(queue.dropped()).toBe(0);
  });

  /** A line that gzip cannot shorten much. */
  function lineAt(domain: string, number: number): string {
    const noise = Array.from({ length: 20 }, (_, part) =>
      ((number + 1) * (part + 7) * 2_654_435_761).toString(36),
    ).join('');
    return JSON.stringify({ id: `${domain} ${number}`, domain, noise });
  }

  test('gives one domain at most its share while nothing is shipped, so that others still have room', async () => {
    const queue = openLogQueue({ folder, process: 0, share: 1, log, everyMs: 5, maxOctets: 200_000 });
    for (let round = 0; round < 60; round++) {
      for (let number = 0; number < 50; number++) {
        if (queue.add('attacked.test', lineAt('attacked.test', round * 50 + number))) continue;
        queue.drop('attacked.test');
      }
      if (round >= 50) queue.add('quiet.test', lineAt('quiet.test', round));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await queue.close();
    const lines = shippedLines();
    expect(lines.filter(({ domain }) => domain === 'quiet.test')).toHaveLength(10);
    expect(queue.dropped()).toBeGreaterThan(1_000);
    const octets = readdirSync(folder).reduce(
      (sum, name) => sum + readFileSync(join(folder, name)).length,
      0,
    );
    expect(octets).toBeLessThan(100_000);
  });

  test('counts every line of a disk that fails, and states the number once it works', async () => {
    const queue = openLogQueue({ folder, process: 0, share: 1, log, everyMs: 5 });
    rmSync(folder, { recursive: true });
    // Several batches, and after the first write a gap that cannot be written either.
    for (let number = 0; number < 1_200; number++) queue.add('shop.test', lineAt('shop.test', number));
    await until(() => queue.dropped() === 1_200, 'the lines to be dropped');
    queue.add('shop.test', lineAt('shop.test', 1_200));
    await until(() => queue.dropped() === 1_201, 'the next line to be dropped');
    mkdirSync(folder);
    await until(() => shippedLines().length > 0, 'the gap');
    await queue.close();
    expect(shippedLines()).toMatchObject([
      { format: 'edgeplan.gap/v1', domain: 'shop.test', dropped: 1_201 },
    ]);
    expect(queue.dropped()).toBe(1_201);
  });

  test('has no gap for a full domain before there is room, and then one with all of its lines', async () => {
    const queue = openLogQueue({ folder, process: 0, share: 1, log, everyMs: 5, maxOctets: 2_000 });
    for (let number = 0; number < 200; number++) queue.add('shop.test', lineAt('shop.test', number));
    await until(() => queue.full('shop.test'), 'the queue to be full');
    const files = readdirSync(folder).length;
    for (let number = 0; number < 5; number++) queue.drop('shop.test');
    expect(queue.add('blog.test', 'unused')).toBe(false);
    queue.drop('blog.test');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(readdirSync(folder)).toHaveLength(files);
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    await until(() => readdirSync(folder).length > 0, 'the gaps');
    await queue.close();
    expect(shippedLines()).toMatchObject([
      { domain: 'shop.test', dropped: 5 },
      { domain: 'blog.test', dropped: 1 },
    ]);
  });

  test('takes no line that the control plane would refuse with its whole batch', async () => {
    const queue = openLogQueue({ folder, process: 0, share: 1, log, everyMs: 3_600_000 });
    const long = JSON.stringify({ id: 'long', domain: 'shop.test', text: 'é'.repeat(70_000) });
    expect(queue.add('shop.test', long)).toBe(false);
    expect(queue.add('shop.test', lineAt('shop.test', 1))).toBe(true);
    await queue.close();
    expect(shippedLines()).toMatchObject([{ id: 'shop.test 1' }]);
  });

  test('has no unfinished file of an earlier run, and those of other processes', async () => {
    const [own, other] = [0, 1].map(
      (process) => `0000000000001-000000000000${process}-0000000000001.jsonl.gz.tmp`,
    );
    for (const name of [own!, other!]) writeFileSync(join(folder, name), 'half');
    await openLogQueue({ folder, process: 0, share: 1, log, everyMs: 3_600_000 }).close();
    expect(readdirSync(folder)).toEqual([other]);
  });

  test('writes few files while many wait', async () => {
    for (let number = 0; number < LOG_MANY_FILES; number++) {
      const name = `0000000000001-0000000000000-${String(number).padStart(13, '0')}.jsonl.gz`;
      writeFileSync(join(folder, name), '');
    }
    const queue = openLogQueue({ folder, process: 0, share: 1, log, everyMs: 5 });
    const times = 4 * LOG_MANY_TURNS;
    for (let number = 0; number < times; number++) {
      queue.add('shop.test', lineAt('shop.test', number));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await queue.close();
    const written = readdirSync(folder).length - LOG_MANY_FILES;
    expect(written).toBeGreaterThan(0);
    expect(written).toBeLessThan(times / 2);
  });

  test('has room again once its files are shipped, and counts those of an earlier run', async () => {
    const first = openLogQueue({ folder, process: 0, share: 1, log, everyMs: 3_600_000, maxOctets: 2_000 });
    for (let number = 0; number < 200; number++) first.add('shop.test', lineAt('shop.test', number));
    await first.close();
    const second = openLogQueue({ folder, process: 0, share: 1, log, everyMs: 5, maxOctets: 2_000 });
    expect(second.full('other.test')).toBe(true);
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    for (let tries = 0; tries < 6_000 && second.full('other.test'); tries++)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(second.full('other.test')).toBe(false);
    await second.close();
  });
});

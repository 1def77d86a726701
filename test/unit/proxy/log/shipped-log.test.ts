/** Which decisions are shipped to the control plane, how many of each domain, and what their lines must not contain. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RequestLogEntry } from '../../../../src/proxy/log/request-log.ts';
import { createShippedLog } from '../../../../src/proxy/log/shipped-log.ts';
import { LOG_MANY_FILES, LOG_MANY_TURNS } from '../../../../src/sync/limits.ts';
import { LOG_QUEUE_ENDING, type LogQueueOptions, openLogQueue } from '../../../../src/sync/log-queue.ts';
import { until } from '../../../support/until.ts';

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
}

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
    rule: null,
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
    ip: '192.0.2.1',
    body: null,
  };
  return {
    exchange: {
      startedAt: Date.now(),
      domain: { name: domain, revision: 1, digest: 'a'.repeat(64) },
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

function open(options: Partial<LogQueueOptions> & { readonly rate?: number; readonly share?: number } = {}) {
  let now = 0;
  const { rate = 0, share = 1 } = options;
  const queue = openLogQueue({ folder, process: 0, share, log, everyMs: 3_600_000, ...options });
  const shipped = createShippedLog({ queue, rate, share, random: () => 0.5, clock: () => now });
  return {
    queue,
    shipped,
    pass: (ms: number): void => {
      now += ms;
    },
  };
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

  test('has no secret of the request, and the ids, targets and score of signatures under dry_run', async () => {
    const { shipped, queue } = open();
    const waf = {
      score: 5,
      ids: [942_100],
      truncated: false,
      exhausted: false,
      bodyError: null,
      uninspected: null,
      matches: [{ id: 942_100, variable: 'ARGS:q', value: 'SECRET-PIECE' }],
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
      matches: [{ rule: 'waf/7', mode: 'dry_run', waf: { score: 5, ids: [942_100], targets: ['ARGS:q'] } }],
      withheld: expect.arrayContaining(['target', 'cookie', 'authorization']),
    });
  });

  test('has all entries of a quiet domain beside one that is attacked, and a gap with the number of its dropped ones', async () => {
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
    const gaps = of('attacked.test').filter(({ format }) => format === 'edgeplan.gap/v1');
    const stored = of('attacked.test').length - gaps.length;
    // The burst, and the rate of nine seconds.
    expect(stored).toBe(500 + 9 * 50);
    expect(gaps.reduce((sum, { dropped = 0 }) => sum + dropped, 0)).toBe(20_000 - stored);
    expect(queue.dropped()).toBe(20_000 - stored);
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
    expect(shippedLines().filter(({ format }) => format !== 'edgeplan.gap/v1')).toHaveLength(125);
  });
});

describe('the queue on the disk', () => {
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
      for (let number = 0; number < 50; number++)
        queue.add('attacked.test', lineAt('attacked.test', round * 50 + number));
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
    queue.add('blog.test', 'unused');
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
    queue.add('shop.test', JSON.stringify({ id: 'long', domain: 'shop.test', text: 'é'.repeat(70_000) }));
    queue.add('shop.test', lineAt('shop.test', 1));
    await queue.close();
    expect(shippedLines()).toMatchObject([{ format: 'edgeplan.gap/v1', dropped: 1 }, { id: 'shop.test 1' }]);
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

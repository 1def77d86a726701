/** What a node counts arrives at the control plane once, whatever the control plane, the network and the disk do meanwhile. */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ControlPlaneClient, createControl } from '../../src/edge/following/control-plane.ts';
import { ANSWER_MS, UNWRITTEN_RETRY_MS } from '../../src/edge/following/limits.ts';
import {
  type NodeTraffic,
  openTraffic,
  type TrafficBounds,
} from '../../src/edge/following/traffic/traffic.ts';
import { countedSecond } from '../support/counted-seconds.ts';
import { requires } from '../support/requires.ts';
import { NO_SMALL_DISK, smallDisk } from '../support/small-disk.ts';
import { startTaker, type TrafficTaker, type Treatment } from '../support/traffic-taker.ts';
import { until } from '../support/until.ts';

const MINUTE_MS = 60_000;

let folder: string;
let taker: TrafficTaker;
let control: ControlPlaneClient;
let now: number;
let lines: string[];
const opened: NodeTraffic[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-traffic-'));
  taker = await startTaker();
  control = createControl({ url: taker.url, token: () => 'token' });
  now = Date.now();
  lines = [];
});
afterEach(async () => {
  for (const traffic of opened.splice(0)) await traffic.stop();
  await control.close();
  await taker.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(bounds: Partial<TrafficBounds> = {}): Promise<NodeTraffic> {
  const note =
    (level: string) =>
    (fields: object, message: string): void => {
      lines.push(`${level}: ${message} ${JSON.stringify(fields)}`);
    };
  const log = { info: note('info'), warn: note('warn'), error: note('error') };
  const quick = { tickMs: 5, spreadMs: 0, lastRetryMs: 20, ...bounds };
  const traffic = await openTraffic({ control, directory: folder, log, clock: () => now, bounds: quick });
  opened.push(traffic);
  return traffic;
}

/** Counts requests of domains, then lets their minute be over. */
async function countMinute(traffic: NodeTraffic, domains: readonly string[], requests = 1): Promise<void> {
  const [first, ...others] = domains.map((domain) => ({ domain, requests, at: now }));
  await traffic.add({ seconds: [countedSecond(first!, ...others)], droppedTops: 0 });
  now += 2 * MINUTE_MS;
}

const sent = (traffic: NodeTraffic): Promise<unknown> =>
  until(() => traffic.state().files === 0 && readdirSync(join(folder, 'traffic')).length === 0, 'all files');

const losses = (traffic: NodeTraffic): readonly number[] => {
  const { droppedTops, droppedBatches, lostSpans } = traffic.state();
  return [droppedTops, droppedBatches, lostSpans];
};

/** Treats the first arrivals so, one after the other, and counts all later ones. */
function treatFirst(...treatments: readonly Treatment[]): void {
  const left = [...treatments];
  taker.treat = () => left.shift() ?? 'count';
}

describe('a batch', () => {
  test.each<readonly [string, Treatment]>([
    ['a node token that is refused for a while', { status: 401 }],
    ['a forbidden node', { status: 403 }],
    ['a missing route, as of a server that is older than the node', { status: 404 }],
    ['a method that a proxy does not pass', { status: 405, by: 'proxy' }],
    ['a content type that is not accepted', { status: 415 }],
    ['too many requests', { status: 429 }],
    ['a failure', { status: 500 }],
    ['an overload', { status: 503 }],
    ['a 400 of a proxy', { status: 400, by: 'proxy' }],
    ['a redirect', { status: 302, by: 'proxy' }],
    ['a page of a proxy with 200', { status: 200, by: 'proxy' }],
    ['a 413 of a proxy', { status: 413, by: 'proxy' }],
    ['a connection that is cut before', 'cut'],
    ['a response that is lost', 'count and cut'],
  ])('is repeated after %s, in its order, and counted once', async (_, treatment) => {
    treatFirst(treatment, treatment, treatment);
    const traffic = await open();
    await countMinute(traffic, ['a.test'], 3);
    await countMinute(traffic, ['a.test'], 40);
    await sent(traffic);
    expect(taker.requests()).toBe(43);
    expect(losses(traffic).slice(1)).toEqual([0, 0]);
    expect(taker.arrivals.length).toBeGreaterThanOrEqual(4);
    const numbers = taker.arrivals.map(({ batch }) => batch);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(lines.filter((line) => line.startsWith('error'))).toEqual([]);
  });

  test('that the control plane refuses as wrong is dropped with an error and counted as a loss, no other one is', async () => {
    const traffic = await open();
    taker.treat = ({ entries }) => (entries[0]!.domain === 'wrong.test' ? { status: 400 } : 'count');
    await countMinute(traffic, ['a.test']);
    await countMinute(traffic, ['wrong.test'], 7);
    await countMinute(traffic, ['a.test'], 20);
    await sent(traffic);
    expect(taker.requests()).toBe(21);
    expect(losses(traffic)).toEqual([0, 1, 0]);
    expect(taker.arrivals.filter(({ entries }) => entries[0]!.domain === 'wrong.test')).toHaveLength(1);
    const errors = lines.filter((line) => line.startsWith('error'));
    expect(errors).toEqual([expect.stringContaining('refuses a batch of traffic counts; it is dropped')]);
    expect(errors[0]).toContain('refused with 400');
  });

  test('that is too large for a proxy arrives in parts', async () => {
    // Names that do not compress.
    const names = Array.from(
      { length: 40 },
      (_, at) => `${createHash('sha256').update(String(at)).digest('hex').slice(0, 40)}.test`,
    );
    taker.treat = ({ body }) => (body.length > 250 ? { status: 413, by: 'proxy' } : 'count');
    const traffic = await open();
    await countMinute(traffic, names, 3);
    await countMinute(traffic, ['a.test']);
    await sent(traffic);
    expect(taker.requests()).toBe(121);
    expect(losses(traffic)).toEqual([0, 0, 0]);
    expect(taker.counted.size).toBeGreaterThan(2);
    for (const name of names) expect([name, taker.requests(name)]).toEqual([name, 3]);
    expect(lines.filter((line) => line.includes('it is divided')).length).toBeGreaterThan(0);
  });

  test('without a response is repeated after the time limit', async () => {
    treatFirst('hang');
    const traffic = await open();
    await countMinute(traffic, ['a.test']);
    await until(() => taker.arrivals.length === 1, 'the first attempt');
    const began = performance.now();
    await until(() => taker.arrivals.length === 2, 'the second attempt', 4 * ANSWER_MS);
    expect(performance.now() - began).toBeGreaterThan(ANSWER_MS / 2);
    await sent(traffic);
    expect([taker.requests(), taker.counted.size]).toEqual([1, 1]);
  });
});

describe('a restart', () => {
  test('takes up what is not accepted, with the same numbers for the same contents', async () => {
    taker.treat = ({ entries }) => (entries[0]!.domain === 'b.test' ? 'cut' : 'count and cut');
    const first = await open();
    for (const domain of ['a.test', 'b.test', 'c.test']) await countMinute(first, [domain]);
    await until(() => first.state().files === 3 && taker.arrivals.length > 1, 'attempts');
    await first.stop();
    expect(first.state().files).toBe(3);
    taker.treat = () => 'count';
    now -= 86_400_000;
    const second = await open();
    await countMinute(second, ['d.test']);
    await sent(second);
    expect(taker.requests()).toBe(4);
    const bodies = new Map<number, Buffer>();
    for (const { batch, body } of taker.arrivals) {
      expect(body).toEqual(bodies.get(batch) ?? body);
      bodies.set(batch, body);
    }
    expect(bodies.size).toBe(4);
    expect(losses(second)).toEqual([0, 0, 0]);
  });

  test('after a file was removed or torn sends the others, and counts one loss for it', async () => {
    taker.treat = () => ({ status: 503 });
    const first = await open();
    for (const domain of ['a.test', 'b.test', 'c.test']) await countMinute(first, [domain]);
    await until(() => first.state().files === 3, 'three files');
    await first.stop();
    const [one, two] = readdirSync(join(folder, 'traffic')).sort();
    writeFileSync(join(folder, 'traffic', one!), 'torn');
    const second = await open();
    rmSync(join(folder, 'traffic', two!));
    await until(
      () => taker.arrivals.length > 0 && lines.some((line) => line.includes('is missing')),
      'the loss',
    );
    treatFirst({ status: 503 }, { status: 503 }, { status: 503 });
    await sent(second);
    expect([taker.requests('a.test'), taker.requests('b.test'), taker.requests('c.test')]).toEqual([0, 0, 1]);
    expect(losses(second)).toEqual([0, 2, 0]);
    expect(lines.filter((line) => line.startsWith('error'))).toHaveLength(2);
  });
});

describe('without a control plane', () => {
  test('files are merged within their bounds, and all counts arrive later', async () => {
    taker.treat = () => 'cut';
    const traffic = await open({ maxFiles: 6 });
    for (let minute = 0; minute < 40; minute++) {
      await countMinute(traffic, ['a.test', `d${minute}.test`]);
      await until(() => traffic.state().files > 0 && traffic.state().files <= 7, 'the bound');
    }
    const attempts = taker.arrivals.length;
    await until(() => taker.arrivals.length > attempts + 2, 'further attempts');
    // A file more than the bound is merged beside the attempts.
    await until(() => traffic.state().files <= 6, 'the bound at rest');
    taker.treat = () => 'count';
    await sent(traffic);
    expect([taker.requests('a.test'), taker.requests()]).toEqual([40, 80]);
    expect(losses(traffic)).toEqual([0, 0, 0]);
  });

  test('beyond the bound of octets lists are lost first, then counts, and every loss is counted', async () => {
    taker.treat = () => 'cut';
    const traffic = await open({ maxFilesOctets: 1_500 });
    for (let minute = 0; minute < 30; minute++) {
      const domains = Array.from({ length: 10 }, (_, at) => `m${minute}d${at}.test`);
      await countMinute(traffic, domains);
      await until(() => traffic.state().files > 0, 'a file');
    }
    await until(() => traffic.state().octets <= 1_500 && traffic.state().droppedBatches > 0, 'the bound');
    taker.treat = () => 'count';
    await sent(traffic);
    const { droppedTops, droppedBatches } = traffic.state();
    expect(droppedTops).toBeGreaterThan(0);
    expect(droppedBatches).toBeGreaterThan(0);
    expect(taker.requests()).toBeLessThan(300);
    expect(taker.requests()).toBeGreaterThanOrEqual(10);
    expect(lines.join('\n')).toContain('the oldest traffic counts are lost');
  });
});

describe('the end of a node', () => {
  test('sends the minute that is not over, and two ends send it once', async () => {
    const traffic = await open();
    await traffic.add({
      seconds: [countedSecond({ domain: 'a.test', requests: 5, at: now })],
      droppedTops: 0,
    });
    await Promise.all([traffic.stop(), traffic.stop()]);
    expect([taker.requests(), taker.arrivals.length]).toEqual([5, 1]);
  });

  test('without a control plane leaves the counts to the next start', async () => {
    taker.treat = () => 'cut';
    const first = await open();
    await first.add({ seconds: [countedSecond({ domain: 'a.test', requests: 5, at: now })], droppedTops: 0 });
    await first.stop();
    taker.treat = () => 'count';
    await sent(await open());
    expect(taker.requests()).toBe(5);
  });
});

/** Lets the time of retries pass until so many requests have arrived: a write that fails late puts off the next retry. */
async function retried(requests: number): Promise<void> {
  await until(() => {
    now += UNWRITTEN_RETRY_MS;
    return taker.requests() === requests;
  }, 'what was counted meanwhile');
}

describe('a disk', () => {
  test('that fills up and empties again costs no count', requires(NO_SMALL_DISK), async () => {
    const disk = smallDisk(folder, '512k');
    try {
      const traffic = await open();
      await countMinute(traffic, ['a.test'], 1);
      await until(() => taker.requests() === 1, 'the first minute');
      writeFileSync(join(folder, 'filler'), Buffer.alloc(2 ** 19 - 8 * 4_096));
      let filled = 0;
      const fill = (): void => {
        try {
          for (; ; filled++) writeFileSync(join(folder, `filler-${filled}`), Buffer.alloc(1));
        } catch {
          // Not a page is left.
        }
      };
      fill();
      for (let minute = 0; minute < 5; minute++) await countMinute(traffic, ['a.test'], 10);
      await until(() => traffic.state().disk !== null, 'the trouble');
      expect(traffic.state().disk).toMatch(/ENOSPC/);
      expect(taker.requests()).toBe(1);
      for (const name of readdirSync(folder)) if (name.startsWith('filler')) rmSync(join(folder, name));
      await retried(51);
      await sent(traffic);
      expect([traffic.state().disk, ...losses(traffic)]).toEqual([null, 0, 0, 0]);
    } finally {
      await opened.shift()?.stop();
      disk.unmount();
    }
  });

  test('whose folder cannot be made delays all counts and loses none', async () => {
    writeFileSync(join(folder, 'traffic'), 'in the way');
    const traffic = await open();
    await countMinute(traffic, ['a.test'], 10);
    await until(() => traffic.state().disk !== null, 'the trouble');
    expect(taker.requests()).toBe(0);
    rmSync(join(folder, 'traffic'));
    await retried(10);
    await until(() => traffic.state().disk === null, 'the end of the trouble');
    expect(existsSync(join(folder, 'traffic'))).toBe(true);
  });
});

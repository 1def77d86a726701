/** Answers that nobody reads, taken in turns. The drains here are timers that count, in place of sockets. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import {
  createDrainQueue,
  type DrainOrigin,
  type DrainPlace,
  type DrainQueue,
} from '../../../../src/base/buffers/drain-queue.ts';
import { until } from '../../../support/until.ts';

const CHUNK = 64 * 1024;
const MB = 1024 * 1024;

interface Answer {
  readonly name: string;
  /** Octets that came. */
  octets: number;
  stops: number;
  isRunning: boolean;
  isOver: boolean;
}

describe('the queue of responses whose clients read nothing', () => {
  const ends: (() => void)[] = [];
  /** Names in the order of their first start. */
  const begun: string[] = [];
  afterEach(() => {
    begun.length = 0;
    for (const end of ends.splice(0)) end();
  });

  /** An answer of some octets, which come in chunks as long as they are taken; `silent`: none ever comes. */
  function begin(
    queue: DrainQueue,
    {
      name,
      origin,
      size,
    }: { readonly name: string; readonly origin: DrainOrigin; readonly size: number | 'silent' },
  ): Answer {
    const answer: Answer = { name, octets: 0, stops: 0, isRunning: false, isOver: false };
    let place: DrainPlace | null = null;
    const send = (): void => {
      if (!answer.isRunning || answer.isOver || size === 'silent') return;
      answer.octets += CHUNK;
      place?.took(CHUNK);
      if (answer.octets >= size) {
        answer.isOver = true;
        place?.leave();
      } else setImmediate(send);
    };
    place = queue.join(origin, {
      start() {
        expect(answer.isRunning, `${name} starts once`).toBe(false);
        answer.isRunning = true;
        if (!begun.includes(name)) begun.push(name);
        setImmediate(send);
      },
      stop() {
        expect(answer.isRunning, `${name} runs when it is stopped`).toBe(true);
        answer.isRunning = false;
        answer.stops++;
      },
    });
    ends.push(() => {
      answer.isOver = true;
      place.leave();
    });
    return answer;
  }

  const idle = (): DrainOrigin => ({ counts: () => ({ waiting: 0 }) });

  test('responses of one origin start in the order of their arrival', async () => {
    const queue = createDrainQueue();
    const origin = idle();
    const names = ['a', 'b', 'c', 'd'];
    const answers = names.map((name) => begin(queue, { name, origin, size: 2 * MB }));
    await until(() => answers.every(({ isOver }) => isOver), 'all are whole');
    expect(begun).toEqual(names);
  });

  test('origins get turns by round robin, for any number of responses of one of them', async () => {
    const queue = createDrainQueue();
    const [many, one] = [idle(), idle()];
    const crowd = Array.from({ length: 20 }, (_, index) =>
      begin(queue, { name: `crowd ${index}`, origin: many, size: 2 * MB }),
    );
    const other = begin(queue, { name: 'other', origin: one, size: 2 * MB });
    await until(() => other.isOver, 'the other is whole');
    expect(crowd.some(({ isOver }) => !isOver)).toBe(true);
    expect(begun.indexOf('other')).toBe(1);
  });

  test('an origin that sends nothing does not delay others', async () => {
    const queue = createDrainQueue();
    const origin = idle();
    const silent = Array.from({ length: 50 }, (_, index) =>
      begin(queue, { name: `silent ${index}`, origin, size: 'silent' }),
    );
    const answer = begin(queue, { name: 'answer', origin, size: 2 * MB });
    await until(() => answer.isOver, 'the answer is whole');
    expect(silent.some(({ isRunning }) => isRunning)).toBe(true);
  });

  test('all responses together are read at most at 64 MiB/s', async () => {
    const queue = createDrainQueue();
    const began = performance.now();
    const answers = [0, 1, 2, 3].map((index) =>
      begin(queue, { name: `${index}`, origin: idle(), size: 1024 * MB }),
    );
    await sleep(500);
    const octets = answers.reduce((sum, one) => sum + one.octets, 0);
    expect(octets).toBeGreaterThan(0);
    // A timer may be a millisecond early, and the chunk that spends what is left may be over, once for each look.
    const looks = 1 + (performance.now() - began) / 4;
    expect(octets).toBeLessThanOrEqual(looks * (320 * 1024 + CHUNK));
  });

  test('responses are read without a rate limit while requests wait for the connections', async () => {
    const queue = createDrainQueue();
    const origin: DrainOrigin = { counts: () => ({ waiting: 1 }) };
    const answer = begin(queue, { name: 'answer', origin, size: 1024 * MB });
    await until(() => answer.stops > 0 || answer.octets > MB, 'it runs');
    await sleep(20);
    const { stops } = answer;
    await until(() => answer.octets > 20 * MB, 'octets come');
    expect(answer.stops).toBe(stops);
  });

  test('a response that leaves makes room for the next', async () => {
    const queue = createDrainQueue();
    const origin = idle();
    const place = queue.join(origin, { start: () => undefined, stop: () => undefined });
    const next = begin(queue, { name: 'next', origin, size: MB });
    place.leave();
    await until(() => next.isOver, 'it is whole');
  });
});

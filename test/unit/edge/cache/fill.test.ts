import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { answerSpools } from '../../../../src/base/buffers/answer-buffer.ts';
import { type BufferSpace, createBudget, createBufferSpace } from '../../../../src/base/buffers/space.ts';
import type { ResponseSink } from '../../../../src/base/http/response.ts';
import { createFill, type FillOptions, type FillReader } from '../../../../src/edge/cache/fill.ts';
import { LIVE_WINDOW } from '../../../../src/edge/cache/limits.ts';
import { until } from '../../../support/until.ts';

interface Client {
  readonly sink: ResponseSink;
  text: string;
  octets: number;
  over: string;
  /** Called after every piece. */
  onData: () => void;
}

function client(): Client {
  const one: Client = {
    text: '',
    octets: 0,
    over: '',
    onData: () => undefined,
    sink: {
      informational: () => undefined,
      head: () => undefined,
      data: (chunk) => {
        one.octets += chunk.length;
        if (one.octets < 1_000) one.text += Buffer.from(chunk).toString('latin1');
        one.onData();
      },
      end: () => {
        one.over = 'end';
      },
      fail: ({ code }) => {
        one.over = code;
      },
    },
  };
  return one;
}

const NO_DISK = createBufferSpace({
  folder: null,
  diskOctets: 0,
  onFault: (error) => {
    throw error;
  },
});

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-fill-'));
afterAll(() => rmSync(folder, { recursive: true }));
const DISK = createBufferSpace({
  folder,
  diskOctets: 1e9,
  onFault: (error) => {
    throw error;
  },
});

function setUp({
  space = NO_DISK,
  ...options
}: Partial<FillOptions> & { readonly space?: BufferSpace } = {}) {
  const source = { paused: false, aborted: false };
  const kept: unknown[] = [];
  const spilled: string[] = [];
  const fill = createFill({
    source: {
      pause: () => {
        source.paused = true;
      },
      resume: () => {
        source.paused = false;
      },
      abort: () => {
        source.aborted = true;
      },
    },
    budget: createBudget(1_000),
    maxInMemory: 100,
    maxOctets: 10_000_000,
    openBodyFile: () => null,
    done: (body) => kept.push(body instanceof Uint8Array ? Buffer.from(body).toString('latin1') : body),
    ...options,
  });
  const attach = (one: Client, from = 0, to = Number.POSITIVE_INFINITY): FillReader => {
    const reader = fill.attach({ sink: one.sink, from, to, openSpool: answerSpools(space, 'n') });
    reader.start();
    return reader;
  };
  return { fill, source, kept, spilled, attach };
}

const octets = (text: string): Uint8Array => Buffer.from(text, 'latin1');

describe('a response being recorded', () => {
  test('every reader gets all octets at its own pace, and the whole body is stored', () => {
    const { fill, source, kept, attach } = setUp();
    const [fast, slow, late] = [client(), client(), client()];
    attach(fast);
    const slowly = attach(slow);
    slowly.pause();
    fill.data(octets('abc'));
    fill.data(octets('defg'));
    expect([fast.text, slow.text]).toEqual(['abcdefg', '']);
    attach(late);
    expect(late.text).toBe('abcdefg');
    fill.end([]);
    expect([fast.over, slow.over, late.over]).toEqual(['end', '', 'end']);
    expect(kept).toEqual(['abcdefg']);
    slowly.resume();
    expect([slow.text, slow.over]).toEqual(['abcdefg', 'end']);
    expect(source.paused).toBe(false);
  });

  test('a reader of a range gets only that range', () => {
    const { fill, attach } = setUp();
    const [middle, none] = [client(), client()];
    attach(middle, 2, 5);
    attach(none, 0, 0);
    expect(none.over).toBe('end');
    for (const text of ['a', 'bc', 'defg']) fill.data(octets(text));
    expect([middle.text, middle.over]).toEqual(['cde', 'end']);
  });

  test('a reader that pauses within a chunk gets no further chunk', () => {
    const { fill, attach } = setUp();
    const one = client();
    const reader = attach(one);
    one.onData = () => reader.pause();
    fill.data(octets('ab'));
    fill.data(octets('cd'));
    expect(one.text).toBe('ab');
    one.onData = () => reader.abort();
    reader.resume();
    expect(one.text).toBe('abcd');
    fill.end([]);
    expect(one.over).toBe('');
  });

  test('recording continues without readers, and a failure reaches all readers', () => {
    const { fill, kept, attach } = setUp();
    const [left, stays] = [client(), client()];
    attach(left).abort();
    attach(stays);
    fill.data(octets('a'));
    fill.fail({ code: 'cut', reason: '' });
    expect([left.over, stays.over]).toEqual(['', 'cut']);
    expect(kept).toEqual([null]);
  });

  test('the budget is given back, and a body above the budget is not stored', () => {
    const budget = createBudget(10);
    const first = setUp({ budget });
    first.attach(client());
    first.fill.data(octets('12345678'));
    const second = setUp({ budget });
    const one = client();
    second.attach(one);
    second.fill.data(octets('abcd'));
    expect(second.fill.isRecording()).toBe(false);
    second.fill.data(octets('efgh'));
    second.fill.end([]);
    expect([one.text, one.over, second.kept]).toEqual(['abcdefgh', 'end', [null]]);
    first.fill.end([]);
    expect(first.kept).toEqual(['12345678']);
    expect(budget.take(10)).toBe(true);
  });
});

describe('a response that exceeds memory with several readers', () => {
  test('octets are buffered for slow readers, and the origin is not paused', async () => {
    const { fill, source, attach } = setUp({ maxInMemory: 10, space: DISK });
    const [fast, slow] = [client(), client()];
    attach(fast);
    const slowly = attach(slow);
    slowly.pause();
    const piece = new Uint8Array(LIVE_WINDOW);
    let paused = 0;
    for (let sent = 0; sent < 20; sent++) {
      fill.data(piece);
      if (source.paused) paused++;
      await until(() => !source.paused, 'the source goes on');
    }
    fill.end([]);
    expect([fast.octets, fast.over, slow.octets]).toEqual([20 * LIVE_WINDOW, 'end', 0]);
    expect(paused).toBeGreaterThan(0);
    slowly.resume();
    await until(() => slow.over === 'end', 'the slow one has it');
    expect(slow.octets).toBe(20 * LIVE_WINDOW);
    expect(DISK.diskOctets()).toBe(0);
  });
});

describe('a live stream', () => {
  test('the slowest reader pauses the origin, and chunks that all readers have are released', () => {
    const { fill, source, attach } = setUp({ maxInMemory: 0 });
    const [fast, slow] = [client(), client()];
    attach(fast);
    const slowly = attach(slow);
    slowly.pause();
    const piece = new Uint8Array(LIVE_WINDOW / 2);
    for (let sent = 0; sent < 3; sent++) fill.data(piece);
    expect(source.paused).toBe(true);
    expect(fast.octets).toBe(3 * piece.length);
    slowly.resume();
    expect(source.paused).toBe(false);
    expect(slow.octets).toBe(3 * piece.length);
    fill.end([]);
    expect([fast.over, slow.over]).toEqual(['end', 'end']);
  });

  test('a live stream ends with its last reader', () => {
    const { fill, source, kept, attach } = setUp({ maxInMemory: 0 });
    const [one, other] = [attach(client()), attach(client())];
    fill.data(octets('a'));
    one.abort();
    expect(source.aborted).toBe(false);
    other.abort();
    expect(source.aborted).toBe(true);
    expect(kept).toEqual([null]);
  });

  test('a live stream is written to its file from the first octet, up to the size limit', () => {
    const written: string[] = [];
    let abandoned = 0;
    const spill = {
      write: (chunk: Uint8Array) => written.push(Buffer.from(chunk).toString('latin1')) > 0,
      isBehind: () => false,
      abandon: () => {
        abandoned++;
      },
    };
    const whole = setUp({ maxInMemory: 3, openBodyFile: () => spill });
    whole.attach(client());
    for (const text of ['ab', 'cd', 'ef']) whole.fill.data(octets(text));
    whole.fill.end([]);
    expect([written.join(''), whole.kept]).toEqual(['abcdef', [spill]]);
    const long = setUp({ maxInMemory: 3, maxOctets: 5, openBodyFile: () => spill });
    long.attach(client());
    for (const text of ['ab', 'cd', 'ef']) long.fill.data(octets(text));
    long.fill.end([]);
    expect([abandoned, long.kept]).toEqual([1, [null]]);
  });
});

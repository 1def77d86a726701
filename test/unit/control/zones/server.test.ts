import { describe, expect, it } from 'vitest';
import {
  CONNECTIONS_PER_OTHER,
  CONNECTIONS_PER_SECONDARY,
  LINE_EVERY_MS,
  MAX_LINE_SUBJECTS,
  OTHER_CONNECTIONS,
} from '../../../../src/control/zones/limits.ts';
import { createCountedLines } from '../../../../src/control/zones/log.ts';
import { createConnectionPlaces } from '../../../../src/control/zones/server.ts';
import { createMemoryLog } from '../../../support/zone-memory.ts';

describe('places of connections', () => {
  it('strangers take their own places alone, and get them back', () => {
    const places = createConnectionPlaces(new Set(['192.0.2.1', '192.0.2.2']));
    const enter = (address: string, times: number): number =>
      Array.from({ length: times }, () => places.enter(address)).filter(Boolean).length;
    expect(enter('198.51.100.1', 100)).toBe(CONNECTIONS_PER_OTHER);
    for (let index = 2; index < 50; index++) enter(`198.51.100.${index}`, 100);
    expect(places.enter('203.0.113.1')).toBe(false);
    expect(enter('192.0.2.1', 1_000)).toBe(CONNECTIONS_PER_SECONDARY);
    expect(enter('192.0.2.2', 1_000)).toBe(CONNECTIONS_PER_SECONDARY);
    places.leave('192.0.2.1');
    expect(places.enter('203.0.113.1')).toBe(false);
    places.leave('198.51.100.1');
    expect(enter('203.0.113.1', 2)).toBe(1);
    expect(OTHER_CONNECTIONS).toBeGreaterThanOrEqual(CONNECTIONS_PER_OTHER);
  });
});

describe('counted lines', () => {
  it('a subject has a line a minute, with what happened since', () => {
    let now = 1_000_000;
    const log = createMemoryLog();
    const lines = createCountedLines(log, () => now);
    for (let index = 0; index < 150; index++) {
      lines.warn('a', { index }, 'refused');
      now += LINE_EVERY_MS / 50;
    }
    lines.flush();
    lines.flush();
    expect(log.entries.map(({ fields }) => fields['count'])).toEqual([1, 49, 50, 50]);
    expect(log.entries.at(-1)!.fields).toEqual({ subject: 'a', index: 149, count: 50 });
  });

  it('many subjects share one line, and leave the table', () => {
    let now = 0;
    const log = createMemoryLog();
    const lines = createCountedLines(log, () => now);
    for (let index = 0; index < 5_000; index++) lines.warn(`s${index}`, {}, 'refused');
    expect(log.entries.length).toBe(MAX_LINE_SUBJECTS + 1);
    now += LINE_EVERY_MS;
    lines.warn('new', {}, 'refused');
    expect(log.entries.slice(-2).map(({ fields }) => [fields['subject'], fields['count']])).toEqual([
      ['others', 5_000 - MAX_LINE_SUBJECTS - 1],
      ['new', 1],
    ]);
  });

  it('a clock that is set back does not silence a subject', () => {
    let now = 1_000_000_000;
    const log = createMemoryLog();
    const lines = createCountedLines(log, () => now);
    lines.warn('a', {}, 'refused');
    now -= 500_000_000;
    lines.warn('a', {}, 'refused');
    lines.warn('a', {}, 'refused');
    expect(log.entries.length).toBe(2);
  });
});

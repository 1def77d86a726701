/** Which log entries are read for recommendations, from a real log store, and where the reading ends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LogStore } from '../../../../src/control/logs/log-store.ts';
import { openLogs } from '../../../../src/control/logs/open-logs.ts';
import {
  ENTRIES_OF_PART,
  ENTRY_DAYS,
  ENTRY_PARTS,
  NEWEST_ENTRIES,
  READ_ENTRIES_MS,
} from '../../../../src/control/recommendations/limits.ts';
import { type EntriesAsked, readEntries } from '../../../../src/control/recommendations/read-facts.ts';
import type { RuleRow } from '../../../../src/control/store/tables/rules.ts';
import { batchOf, lineOf } from '../../../support/log-lines.ts';
import { DAY, HOUR, NOW } from '../../../support/stored-facts.ts';

const DOMAIN = { id: 1, name: 'shop.example', since: 0 };

function row(type: 'waf' | 'cache', id: number, parts: Partial<RuleRow> = {}): RuleRow {
  const times = { created_at: 0, updated_at: 0 };
  return { id, domain_id: 1, type, priority: 100, body: '{}', ...times, ...parts };
}

describe('entries for recommendations', () => {
  let folder: string;
  let logs: LogStore;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'edgeplan-entries-'));
    logs = openLogs({ place: { kind: 'sqlite', folder, days: 7 }, file: null });
    const line = (at: number, parts: object) => lineOf({ domain: DOMAIN.name, at, ...parts });
    const lines = [
      ...Array.from({ length: ENTRIES_OF_PART + 50 }, (_, index) =>
        line(NOW - HOUR - index, { matches: ['waf/7'], rule: 'waf/7' }),
      ),
      // A busy rule: 20 entries in each hour of the week, 3 minutes apart.
      ...Array.from({ length: 20 * 24 * ENTRY_DAYS }, (_, index) =>
        line(NOW - index * 180_000, { action: 'forward', matches: ['cache/30'] }),
      ),
      line(NOW - 5 * DAY, { matches: ['waf/7'], rule: 'waf/7' }),
      line(NOW - 2 * HOUR, { action: 'forward', shadow: 'block', matches: ['waf/8'] }),
      line(NOW - 2 * HOUR, { action: 'forward', matches: ['waf/7', 'cache/9'] }),
    ];
    for (let from = 0; from < lines.length; from += 500) {
      const bytes = batchOf(lines.slice(from, from + 500));
      await logs.append({ nodeId: 1, bytes, domains: [DOMAIN], now: NOW });
    }
  });
  afterAll(async () => {
    await logs.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Reads for these rules; `clock` is that of the server. */
  const read = (rows: readonly RuleRow[], parts: Partial<EntriesAsked> = {}) => {
    const page: EntriesAsked['tx']['rules']['page'] = async (_, { type, limit }) =>
      rows.filter((one) => one.type === type).slice(0, limit);
    const tx = { rules: { page } } as unknown as EntriesAsked['tx'];
    return readEntries({
      logs,
      tx,
      domain: { id: 1, created_at: 0 },
      account: 1,
      clock: () => NOW,
      ...parts,
    });
  };
  const counts = async (...asked: Parameters<typeof read>) =>
    (await read(...asked))!.rules.map(({ rule, lines }) => [rule, lines.length]);
  /** The times of the lines of the first rule. */
  const times = async (...asked: Parameters<typeof read>): Promise<readonly number[]> =>
    (await read(...asked))!.rules[0]!.lines.map((text) => Date.parse(JSON.parse(text).time));

  test('of each part of the week the newest of a rule are read, so that a burst does not hide the other days', async () => {
    expect(await counts([row('waf', 7)])).toEqual([['waf/7', ENTRIES_OF_PART + 1]]);
  });

  test('of a busy rule every part of the week is read, newest first', async () => {
    const found = await times([row('cache', 30)]);
    expect(found).toHaveLength(ENTRY_PARTS * ENTRIES_OF_PART);
    expect(found).toEqual([...found].sort((left, right) => right - left));
    const hours = new Set(found.map((at) => Math.floor(at / HOUR)));
    expect(hours.size).toBeGreaterThanOrEqual(ENTRY_PARTS);
    expect(Math.min(...found)).toBeLessThan(NOW - 6.9 * DAY);
  });

  test('of a busy rule that was changed lately the shorter time is divided', async () => {
    const found = await times([row('cache', 30, { updated_at: NOW - DAY })]);
    expect(new Set(found.map((at) => Math.floor(at / HOUR))).size).toBeGreaterThanOrEqual(24);
    expect(Math.min(...found)).toBeGreaterThanOrEqual(NOW - DAY);
  });

  test('the newest entries of the domain are read beside those of rules', async () => {
    expect((await read([]))!.newest).toHaveLength(NEWEST_ENTRIES);
    expect((await read([], { domain: { id: 2, created_at: 0 } }))!.newest).toEqual([]);
  });

  test('of a waf rule what it blocked, of a dry_run one what it would have, of a cache rule all', async () => {
    const dry = row('waf', 8, { body: JSON.stringify({ action_mode: 'dry_run' }) });
    expect(await counts([dry, row('cache', 9)])).toEqual([
      ['waf/8', 1],
      ['cache/9', 1],
    ]);
  });

  test('entries from before the last change of the rule, or from before the domain, are not read', async () => {
    expect(await counts([row('waf', 7, { updated_at: NOW - DAY })])).toEqual([['waf/7', ENTRIES_OF_PART]]);
    const domain = { id: 1, created_at: NOW - DAY };
    expect(await counts([row('waf', 7)], { domain })).toEqual([['waf/7', ENTRIES_OF_PART]]);
  });

  test('no search is begun after the time of all searches, and what is read until then is spread over the week', async () => {
    let calls = 0;
    const clock = () => NOW + (++calls > 14 ? READ_ENTRIES_MS + 1 : 0);
    const found = await times([row('cache', 30)], { clock });
    expect(found).toHaveLength(12 * ENTRIES_OF_PART);
    const days = new Set(found.map((at) => Math.floor((NOW - at) / DAY)));
    expect(days.size).toBe(ENTRY_DAYS);
  });

  test('at most four rules of a type are read', async () => {
    const many = Array.from({ length: 6 }, (_, index) => row('cache', 20 + index));
    expect((await read(many))!.rules.map(({ rule }) => rule)).toEqual([
      'cache/20',
      'cache/21',
      'cache/22',
      'cache/23',
    ]);
  });

  test('a server that stores no entries has none to read', async () => {
    const lines = openLogs({ place: { kind: 'lines', file: join(folder, 'log'), days: 7 }, file: null });
    expect(await read([row('waf', 7)], { logs: lines })).toBe(null);
  });
});

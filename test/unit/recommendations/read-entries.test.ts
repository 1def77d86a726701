/** Which log entries are read for recommendations, from a real log store, and where the reading ends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LogStore } from '../../../src/logs/log-store.ts';
import { openLogs } from '../../../src/logs/open-logs.ts';
import { ENTRIES_OF_DAY, READ_ENTRIES_MS } from '../../../src/recommendations/limits.ts';
import { type EntriesAsked, readEntries } from '../../../src/recommendations/read-entries.ts';
import type { RuleRow } from '../../../src/store/rows.ts';
import { batchOf, lineOf } from '../../support/log-lines.ts';
import { DAY, HOUR, NOW } from '../../support/stored-facts.ts';

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
      ...Array.from({ length: ENTRIES_OF_DAY + 50 }, (_, index) =>
        line(NOW - HOUR - index, { matches: ['waf/7'], rule: 'waf/7' }),
      ),
      line(NOW - 5 * DAY, { matches: ['waf/7'], rule: 'waf/7' }),
      line(NOW - 2 * HOUR, { action: 'forward', shadow: 'block', matches: ['waf/8'] }),
      line(NOW - 2 * HOUR, { action: 'forward', matches: ['waf/7', 'cache/9'] }),
    ];
    await logs.append({ nodeId: 1, bytes: batchOf(lines), domains: [DOMAIN], now: NOW });
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
    (await read(...asked))!.map(({ rule, lines }) => [rule, lines.length]);

  test('of each day the newest of a rule are read, so that a burst does not hide the other days', async () => {
    expect(await counts([row('waf', 7)])).toEqual([['waf/7', ENTRIES_OF_DAY + 1]]);
  });

  test('of a waf rule what it blocked, of a dry_run one what it would have, of a cache rule all', async () => {
    const dry = row('waf', 8, { body: JSON.stringify({ action_mode: 'dry_run' }) });
    expect(await counts([dry, row('cache', 9)])).toEqual([
      ['waf/8', 1],
      ['cache/9', 1],
    ]);
  });

  test('entries from before the last change of the rule, or from before the domain, are not read', async () => {
    expect(await counts([row('waf', 7, { updated_at: NOW - DAY })])).toEqual([['waf/7', ENTRIES_OF_DAY]]);
    const domain = { id: 1, created_at: NOW - DAY };
    expect(await counts([row('waf', 7)], { domain })).toEqual([['waf/7', ENTRIES_OF_DAY]]);
  });

  test('no search is begun after the time of all searches', async () => {
    let now = NOW;
    const clock = () => {
      now += READ_ENTRIES_MS;
      return now;
    };
    expect(await counts([row('waf', 7), row('cache', 9)], { clock })).toEqual([
      ['waf/7', ENTRIES_OF_DAY],
      ['cache/9', 0],
    ]);
  });

  test('at most four rules of a type are read', async () => {
    const many = Array.from({ length: 6 }, (_, index) => row('cache', 20 + index));
    expect((await read(many))!.map(({ rule }) => rule)).toEqual([
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

/** The table of hits: what a terminal of 80 columns shows. */
import { describe, expect, test } from 'vitest';
import { type HitsReport, hitsLines, ofType } from '../../../../src/cli/print/hits.ts';
import type { ShownRule } from '../../../../src/control/traffic/show-hits.ts';
import { paint } from '../../../../src/workbench/simulation/paint.ts';
import { columns } from '../../../../src/workbench/simulation/render-text.ts';

const NOW = Date.parse('2026-11-25T04:37:12Z');
const DAY = Array.from({ length: 24 }, (_, hour) => ({
  at: new Date(Date.parse('2026-11-24T05:00:00Z') + hour * 3_600_000).toISOString(),
  hits: 100 * (1 + (hour % 12)),
}));

const UNUSED: ShownRule = {
  type: 'drop',
  id: 3,
  about: '/admin/* · all but 3 addresses',
  enabled: true,
  action_mode: 'enforce',
  priority: 10,
  hits: 0,
  by_effect: { enforce: {}, dry_run: {} },
  last_at: null,
  would_change: 0,
  changes: [],
  series: [],
};
const USED: ShownRule = {
  ...UNUSED,
  hits: 15_600,
  by_effect: { enforce: { block: 15_600 }, dry_run: {} },
  last_at: '2026-11-25T04:35:00.000Z',
  series: DAY,
};
const RULES: readonly ShownRule[] = [
  USED,
  {
    ...USED,
    id: 12,
    about: 'KP',
    action_mode: 'dry_run',
    priority: 100,
    hits: 1_209,
    by_effect: { enforce: {}, dry_run: { block: 1_209 } },
    last_at: '2026-11-25T01:00:00.000Z',
    would_change: 1_209,
    changes: [
      { from: 'forward', to: 'block 403', instead: null, requests: 1_192 },
      { from: 'forward', to: 'block 403', instead: 'cache/21', requests: 12 },
      { from: 'redirect 301', to: 'block 403', instead: 'redirect/7', requests: 5 },
    ],
  },
  { ...UNUSED, type: 'redirect', id: 7, about: '/old/*' },
  { ...UNUSED, type: 'redirect', id: 9, about: '', enabled: false },
  {
    ...USED,
    type: 'waf',
    id: 1,
    about: '',
    action_mode: 'dry_run',
    by_effect: { enforce: {}, dry_run: { passed: 15_600 } },
  },
];
const REPORT: HitsReport = {
  domain: 'shop.example',
  from: '2026-11-24T05:00:00.000Z',
  to: '2026-11-25T05:00:00.000Z',
  step: 'hour',
  rules: RULES,
  removed: [
    {
      type: 'drop',
      id: 2,
      hits: 27,
      by_effect: { enforce: { block: 27 }, dry_run: {} },
      last_at: '2026-11-24T08:00:00.000Z',
    },
  ],
  uncounted: { hits: 0, changes: 0 },
};

/** The text in a terminal of so many columns. */
function shown(report: HitsReport, width = 80, words = '24 h'): string {
  return paint(hitsLines(report, { width, words, now: NOW }), false);
}

describe('hits in a terminal', () => {
  test('are a table in evaluation order, with a chart, effects, and what dry_run rules would have changed', () => {
    expect(shown(REPORT)).toMatchInlineSnapshot(`
      "shop.example  2026-11-24 05:00 to 2026-11-25 05:00 UTC, by hour

      rule        mode     prio    hits   last  24 h                      effect
      drop/3      enforce    10  15,600  2 min  ▁▂▃▃▄▅▅▆▇▇██▁▂▃▃▄▅▅▆▇▇██  block
        /admin/* · all but 3 addresses
      drop/12     dry_run   100   1,209    3 h  ▁▂▃▃▄▅▅▆▇▇██▁▂▃▃▄▅▅▆▇▇██  would block
        KP
        would have: 1,204 forward → block 403 (12 instead of cache/21)
                    5 redirect 301 → block 403 (instead of redirect/7)
      redirect/7  enforce    10       0  never in 24 h · /old/*
      redirect/9  off        10       0  never in 24 h
      waf/1       dry_run    10  15,600  2 min  ▁▂▃▃▄▅▅▆▇▇██▁▂▃▃▄▅▅▆▇▇██  passed
        would have changed nothing
      drop/2      removed            27   20 h

      5 rules · 2 without a hit · 1 removed with hits
      "
    `);
  });

  test.each([80, 100, 200])('of %i columns have no wider line', (width) => {
    for (const line of shown(REPORT, width).split('\n')) expect(columns(line)).toBeLessThanOrEqual(width);
  });

  test('cut the filters of a rule off at the edge of the terminal, with an ellipsis', () => {
    const about = '/a/long/path/* · shop.example.com +3 · all but 3 addresses · 4 origins';
    const [, , , unused, , used] = shown(
      {
        ...REPORT,
        rules: [
          { ...RULES[2]!, about },
          { ...RULES[0]!, about },
        ],
        removed: [],
      },
      60,
    ).split('\n');
    expect(unused).toMatch(/never in 24 h · \S.*…$/);
    expect(used).toMatch(/^ {2}\/a\/long.*…$/);
  });

  test('of one type leave out all others', () => {
    const text = shown(ofType(REPORT, 'redirect'));
    expect(text).toContain('2 rules · 2 without a hit');
    expect(text).not.toContain('drop/');
  });

  test('of a period that has ended do not say how long it was', () => {
    expect(shown(REPORT, 80, 'this period')).toContain('never in this period · /old/*');
  });

  test('of a domain without rules say so', () => {
    expect(shown({ ...REPORT, rules: [], removed: [] })).toContain('\nno rules\n');
  });
});

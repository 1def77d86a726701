import { describe, expect, test } from 'vitest';
import { type UptimeReport, uptimeLines } from '../../../../src/cli/print/uptime.ts';
import { paint } from '../../../../src/workbench/simulation/paint.ts';

const NOW = Date.parse('2026-11-25T05:04:00.000Z');
const HOURS: UptimeReport['hours'] = [1, 0.995, 0.5, 0, null, 1].map((availability, at) => ({
  at: new Date(NOW - (6 - at) * 3_600_000).toISOString(),
  requests: availability === null ? 0 : 200,
  errors: availability === null ? 0 : Math.round((1 - availability) * 200),
  availability,
}));
const REPORT: UptimeReport = {
  domain: 'shop.example',
  status: 'down',
  reasons: [
    'every minute with requests of 5 minutes had 90 % errors or more',
    'it resolves after 5 minutes in a row with requests and not down, 2 so far',
  ],
  judged_through: '2026-11-25T05:00:00.000Z',
  incident: null,
  availability: 0.99999,
  requests: 1_000,
  errors: 301,
  hours: HOURS,
  incidents: [
    {
      id: 12,
      began_at: '2026-11-25T04:40:00.000Z',
      opened_at: '2026-11-25T04:45:00.000Z',
      resolved_at: null,
      resolution: null,
      requests: 1_200,
      errors: 1_187,
    },
    {
      id: 9,
      began_at: '2026-11-20T04:40:00.000Z',
      opened_at: '2026-11-20T04:45:00.000Z',
      resolved_at: '2026-11-21T06:40:00.000Z',
      resolution: 'no_traffic',
      requests: 20,
      errors: 20,
    },
  ],
};

const shown = (report: UptimeReport, width = 80): string =>
  paint(uptimeLines(report, { width, now: NOW }), false);

describe('uptime in a terminal', () => {
  test('is the state with its reasons, a bar for each hour, and the incidents', () => {
    expect(shown(REPORT)).toMatchInlineSnapshot(`
      "shop.example  down

      why           every minute with requests of 5 minutes had 90 % errors or more
                    it resolves after 5 minutes in a row with requests and not down, 2
                    so far
      judged        minutes up to 4 min ago
      answered      99.99 %  of 1,000 requests
      errors        301
      6 h           █▇▄▁·█

      incident  began                 lasted  errors  requests  end
            12  2026-11-25 04:40 UTC  24 min   1,187     1,200  open
             9  2026-11-20 04:40 UTC    26 h      20        20  no request for 24 h
      "
    `);
  });

  test('of a domain without monitored requests has neither a share nor incidents', () => {
    const text = shown({
      ...REPORT,
      status: 'unknown',
      availability: null,
      judged_through: null,
      incidents: [],
    });
    expect(text).toMatch(/^answered +– {2}of 1,000 requests$/m);
    expect(text).toMatch(/^judged +never$/m);
    expect(text).toContain('\nno incidents\n');
  });

  test.each([40, 80, 200])('of %i columns wraps its reasons', (width) => {
    for (const line of shown({ ...REPORT, incidents: [] }, width).split('\n'))
      expect([...line].length).toBeLessThanOrEqual(width);
  });
});

/** The explanation of an uptime state names what opens, prevents or ends an incident. */
import { describe, expect, test } from 'vitest';
import {
  createUptimeState,
  explainUptime,
  judgeMinutes,
  type UptimeMinute,
} from '../../../../../src/control/traffic/uptime/state.ts';
import { DEFAULT_SETTINGS } from '../../../../../src/rules/model/domain.ts';

/** The state after minutes of requests and errors, one after the other; `null`: an empty minute. */
function judged(...series: readonly (readonly [number, number] | null)[]) {
  const minutes = series.flatMap((one, minute): UptimeMinute[] =>
    one === null ? [] : [{ minute, requests: one[0], errors: one[1] }],
  );
  return judgeMinutes(createUptimeState(-1), { minutes, through: series.length - 1 }, DEFAULT_SETTINGS).state;
}

describe('explainUptime', () => {
  test('a domain without a judged minute is unknown, with the remedy', () => {
    const { status, reasons } = explainUptime(null, DEFAULT_SETTINGS);
    expect(status).toBe('unknown');
    expect(reasons[0]).toContain('`monitor: true` on a proxied record counts its requests');
  });

  test('a window without requests is unknown', () => {
    const state = judged([10, 0], null, null, null, null, null);
    expect(explainUptime(state, DEFAULT_SETTINGS)).toEqual({
      status: 'unknown',
      reasons: ['no monitored request in the last 5 minutes'],
    });
  });

  test('minutes that are not down prevent an incident', () => {
    expect(explainUptime(judged([30, 30], [30, 0], [30, 30]), DEFAULT_SETTINGS)).toEqual({
      status: 'up',
      reasons: ['1 of 3 minutes with requests in the last 5 minutes were not down'],
    });
  });

  test('too few minutes and requests prevent an incident', () => {
    expect(explainUptime(judged([3, 3]), DEFAULT_SETTINGS).reasons).toEqual([
      'minutes with requests in the last 5 minutes: 1, an incident needs 2',
      'requests in the last 5 minutes: 3, an incident needs 20',
    ]);
  });

  test('an open incident names what resolves it and how far that is', () => {
    const state = judged([30, 30], [30, 30], [30, 0], [30, 1]);
    expect(explainUptime(state, DEFAULT_SETTINGS)).toEqual({
      status: 'down',
      reasons: [
        'every minute with requests of 5 minutes had 90 % errors or more',
        'it resolves after 5 minutes in a row with requests and not down, 2 so far',
        'the last minute with requests was not down',
      ],
    });
  });
});

/** What a week of would-haves says of a dry_run rule. */
import { describe, expect, test } from 'vitest';
import { dryRun } from '../../../../src/control/recommendations/dry-run.ts';
import type { TrafficCounts } from '../../../../src/engine/counts/counts.ts';
import {
  DAY,
  type FactParts,
  factsOf,
  NOW,
  periodOf,
  wouldChange,
  wouldHave,
} from '../../../support/stored-facts.ts';

const RULE = { id: 7, type: 'drop', countries: ['KP'], action_mode: 'dry_run' };
/** 80,000 requests, with what a test adds. */
const week = (yesterday: (counts: TrafficCounts) => void) =>
  periodOf({ days: 7, requests: 10_000, yesterday });
const found = (parts: FactParts) => dryRun(factsOf({ rules: [RULE], ...parts }));
/** The rule would have blocked so many. */
const blocked = (requests: number) =>
  week((counts) => {
    wouldHave(counts, 7, { effect: 'block', hits: requests });
    wouldChange(counts, 7, { requests });
  });

describe('dry_run rules', () => {
  test('a rule that would block few of all requests is ready, and the change enforces it', () => {
    const [one, ...others] = found({ week: blocked(400) });
    expect(others).toEqual([]);
    expect(one).toMatchObject({
      kind: 'dry_run_ready',
      severity: 'info',
      evidence: {
        rule: 'drop/7',
        requests: 80_000,
        hits: 400,
        would_change: 400,
        share: 0.005,
        changes: [{ from: 'forward', to: 'block 403', instead: null, requests: 400 }],
      },
      change: { rules: [{ id: 7, action_mode: 'enforce', enabled: true }] },
    });
  });

  test('the share of requests decides: 5 % is ready, 20 % is too broad, between them there is no advice', () => {
    expect(found({ week: blocked(4_000) }).map(({ kind }) => kind)).toEqual(['dry_run_ready']);
    expect(found({ week: blocked(4_001) })).toEqual([]);
    expect(found({ week: blocked(15_999) })).toEqual([]);
    const [broad] = found({ week: blocked(16_000) });
    expect(broad).toMatchObject({
      kind: 'dry_run_too_broad',
      severity: 'warning',
      change: { rules: [{ id: 7, enabled: false, action_mode: 'dry_run' }] },
    });
  });

  test('a rule that would let something through that is refused now is not ready', () => {
    const released = week((counts) => {
      wouldHave(counts, 7, { effect: 'block', hits: 400 });
      wouldChange(counts, 7, { requests: 399 });
      wouldChange(counts, 7, { from: 'block 403', to: 'forward', requests: 1, instead: 'waf/9' });
    });
    expect(found({ week: released })).toEqual([]);
  });

  test('a redirect may change most requests and be ready', () => {
    const rules = [{ id: 7, type: 'redirect', target: 'https://www.shop.example/', action_mode: 'dry_run' }];
    const moved = week((counts) => {
      wouldHave(counts, 7, { type: 'redirect', effect: 'redirect', hits: 60_000 });
      counts.changes.set('redirect', {
        ...{ type: 'redirect', id: 7, from: 'forward', to: 'redirect 301', instead: '', requests: 60_000 },
      });
    });
    expect(found({ rules, week: moved }).map(({ kind }) => kind)).toEqual(['dry_run_ready']);
  });

  describe('a rule whose matches change no decision', () => {
    const idle = (counts: TrafficCounts) => wouldHave(counts, 7, { effect: 'block', hits: 100 });
    const OTHER = { ...RULE, id: 8, priority: 50 };
    /** The kinds by rule, where rule 8 would have changed so many decisions. */
    const beside = (other: object, requests = 400, parts: FactParts = {}) =>
      found({
        rules: [RULE, other],
        week: week((counts) => {
          idle(counts);
          wouldHave(counts, 8, { effect: 'block', hits: requests });
          wouldChange(counts, 8, { requests });
        }),
        ...parts,
      }).map(({ kind, subject }) => `${kind} ${subject}`);
    const IDLE = 'dry_run_without_effect drop/7';
    const READY = 'dry_run_ready drop/8';

    test('is named, and the change disables it', () => {
      const [one] = found({ week: week(idle) });
      expect(one).toMatchObject({
        kind: 'dry_run_without_effect',
        evidence: { hits: 100, would_change: 0, changes: [], hidden_at_most: 0 },
        change: { rules: [{ id: 7, enabled: false }] },
      });
    });

    test('is named beside others without effect, each by itself', () => {
      const both = week((counts) => {
        idle(counts);
        wouldHave(counts, 8, { effect: 'block', hits: 200 });
      });
      const subjects = found({ rules: [RULE, OTHER], week: both }).map(({ subject }) => subject);
      expect(subjects.sort()).toEqual(['drop/7', 'drop/8']);
    });

    test('is named beside one that changes decisions and comes later, or passes no request of it', () => {
      expect(beside({ ...OTHER, priority: 500 })).toEqual([IDLE, READY]);
      expect(beside({ ...OTHER, countries: ['SE'] })).toEqual([READY, IDLE]);
      const rules = [
        { ...RULE, path_includes: ['/a/*'] },
        { ...OTHER, path_includes: ['/b/*'] },
      ];
      expect(beside(OTHER, 400, { rules })).toEqual([READY, IDLE]);
    });

    test('is not named where an earlier one may hide it, unless that changed few of them', () => {
      expect(beside(OTHER)).toEqual([READY]);
      expect(beside({ ...OTHER, path_includes: ['/a/*'] })).toEqual([READY]);
      const many = week((counts) => {
        wouldHave(counts, 7, { effect: 'block', hits: 2_000 });
        wouldChange(counts, 8, { requests: 100 });
      });
      const [one] = found({ rules: [RULE, OTHER], week: many }).filter(({ subject }) => subject === 'drop/7');
      expect(one).toMatchObject({ kind: 'dry_run_without_effect', evidence: { hidden_at_most: 100 } });
      expect(one!.message).toContain('but for 100 at most that other dry_run rules would have changed');
    });

    test('is not named where one that is deleted since, or changed, may have hidden it', () => {
      expect(beside(OTHER, 400, { rules: [RULE] })).toEqual([]);
    });

    test('is not named where it would have let the request go on, and a later one changed decisions', () => {
      const tags = { id: 7, type: 'bot_route', bot_kinds: ['*'], action: 'tag', action_mode: 'dry_run' };
      const later = { id: 8, type: 'captcha', ttl_sec: 600, action_mode: 'dry_run' };
      const tagged = (requests: number) =>
        week((counts) => {
          wouldHave(counts, 7, { type: 'bot_route', effect: 'tag', hits: 500 });
          const change = { from: 'forward', to: 'challenge 403', instead: '', requests };
          if (requests > 0) counts.changes.set('captcha', { type: 'captcha', id: 8, ...change });
        });
      const kinds = (requests: number) =>
        found({ rules: [tags, later], week: tagged(requests) }).map(({ kind }) => kind);
      expect(kinds(400)).toEqual(['dry_run_ready']);
      expect(kinds(0)).toEqual(['dry_run_without_effect']);
    });
  });

  test('a rate limit that nobody exceeded has not acted', () => {
    const rules = [{ id: 7, type: 'rate_limit', limit: 100, window_sec: 60, action_mode: 'dry_run' }];
    const counted = week((counts) =>
      wouldHave(counts, 7, { type: 'rate_limit', effect: 'counted', hits: 50_000 }),
    );
    expect(found({ rules, week: counted })).toEqual([]);
  });

  test('an error page does not show in the shadow, and is not judged', () => {
    const rules = [{ id: 7, type: 'error_page', codes: [502], mode: 'svc', action_mode: 'dry_run' }];
    const shown = week((counts) =>
      wouldHave(counts, 7, { type: 'error_page', effect: 'error_page', hits: 500 }),
    );
    expect(found({ rules, week: shown })).toEqual([]);
  });

  test.each<[string, FactParts]>([
    ['the rule was changed within the week', { week: blocked(400), updatedAt: NOW - 6 * DAY }],
    ['it is enforced', { week: blocked(400), rules: [{ ...RULE, action_mode: 'enforce' }] }],
    ['it is disabled', { week: blocked(400), rules: [{ ...RULE, enabled: false }] }],
    ['it changed too few decisions', { week: blocked(99) }],
    ['counts are not to be read', { week: null }],
    [
      'there are too few requests',
      { week: periodOf({ days: 7, requests: 100, yesterday: (c) => wouldChange(c, 7, { requests: 100 }) }) },
    ],
    [
      'there was traffic on four days',
      {
        week: periodOf({
          days: 7,
          requests: 10_000,
          quiet: 4,
          yesterday: (c) => wouldChange(c, 7, { requests: 400 }),
        }),
      },
    ],
    [
      'some changes were not counted',
      {
        week: week((c) => {
          wouldChange(c, 7, { requests: 400 });
          c.sums.uncounted_changes++;
        }),
      },
    ],
  ])('there is no advice if %s', (_, parts) => {
    expect(found(parts)).toEqual([]);
  });
});

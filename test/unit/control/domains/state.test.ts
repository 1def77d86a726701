import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DOMAIN_STATUSES } from '../../../../src/base/vocabulary/vocabulary.ts';
import { type Challenge, newChallenge } from '../../../../src/control/domains/challenge.ts';
import { manualCheckWait, nextCheckAt } from '../../../../src/control/domains/schedule.ts';
import {
  initialState,
  type LifecycleEvent,
  type LifecycleFields,
  nextState,
  type Transition,
} from '../../../../src/control/domains/state.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2030, 0, 1);
const CHALLENGE: Challenge = newChallenge(NOW);

/** Runs events one after the other, each at its time; a refusal ends the test. */
function live(
  start: LifecycleFields,
  ...events: readonly (readonly [LifecycleEvent, number])[]
): LifecycleFields {
  let domain = start;
  for (const [event, at] of events) {
    const outcome = nextState(domain, event, at);
    if (!outcome.ok) throw new Error(`${event.kind} was refused: ${outcome.reason}`);
    domain = { ...domain, ...outcome.changes };
  }
  return domain;
}

const checked = (result: Extract<LifecycleEvent, { kind: 'checked' }>['result']): LifecycleEvent => ({
  kind: 'checked',
  result,
});
const managed = initialState('managed', CHALLENGE, NOW);
const external = initialState('external', CHALLENGE, NOW);
const active = live(managed, [checked('delegated'), NOW]);
const moved = live(active, [checked('other'), NOW + DAY]);

function codeOf(outcome: Transition): string {
  return outcome.ok ? outcome.status : outcome.code;
}

describe('a managed domain', () => {
  it('starts pending, due at once, and becomes active when its delegation matches', () => {
    expect(managed).toMatchObject({
      status: 'pending',
      pending_since: NOW,
      next_check_at: NOW,
      ever_active: false,
    });
    expect(managed.verification_token).toBe('');
    expect(nextState(managed, checked('delegated'), NOW + 1)).toEqual({
      ok: true,
      status: 'active',
      publish: true,
      changes: {
        status: 'active',
        ever_active: true,
        unproved_since: null,
        pending_since: null,
        next_check_at: NOW + 1 + DAY,
      },
    });
  });

  it.each(['other', 'none', 'unreachable'] as const)('stays pending when a check finds %s', (result) => {
    const outcome = nextState(managed, checked(result), NOW + MINUTE);
    expect(outcome).toMatchObject({ ok: true, status: 'pending', publish: false });
    expect(outcome.ok && outcome.changes).toEqual({ next_check_at: NOW + 6 * MINUTE });
  });

  it.each(['other', 'none'] as const)(
    'has moved when a check says %s, and serves for seven days',
    (result) => {
      const left = live(active, [checked(result), NOW + DAY]);
      expect(left).toMatchObject({
        status: 'moved',
        moved_since: NOW + DAY,
        next_check_at: NOW + DAY + HOUR,
      });
      const late = live(left, [checked(result), NOW + 8 * DAY - 1]);
      expect(late.status).toBe('moved');
      const gone = nextState(late, checked(result), NOW + 8 * DAY);
      expect(gone).toMatchObject({ status: 'disabled', publish: true });
      expect(gone.ok && gone.changes).toMatchObject({ moved_since: null, next_check_at: null });
    },
  );

  it('becomes active again when its delegation returns, and a later move has a full grace period', () => {
    const back = live(moved, [checked('delegated'), NOW + 5 * DAY]);
    expect(back).toMatchObject({ status: 'active', moved_since: null });
    const again = live(back, [checked('none'), NOW + 20 * DAY]);
    expect(codeOf(nextState(again, checked('none'), NOW + 26 * DAY))).toBe('moved');
    expect(codeOf(nextState(again, checked('none'), NOW + 27 * DAY))).toBe('disabled');
  });

  it('does not change its status after an unreachable check', () => {
    const outcome = nextState(active, checked('unreachable'), NOW + DAY);
    expect(outcome).toMatchObject({ status: 'active', publish: false });
    expect(outcome.ok && outcome.changes.next_check_at).toBe(NOW + DAY + HOUR);
    expect(codeOf(nextState(moved, checked('unreachable'), NOW + 100 * DAY))).toBe('moved');
  });

  it('cannot be verified by a TXT record', () => {
    expect(codeOf(nextState(managed, { kind: 'verify', proof: 'holds' }, NOW))).toBe('not_external');
  });
});

describe('a name that several accounts claim', () => {
  const given = live(managed, [{ kind: 'challenge', challenge: CHALLENGE }, NOW]);

  it('is not proved by a delegation', () => {
    const outcome = nextState(given, checked('contested'), NOW + MINUTE);
    expect(outcome).toMatchObject({ status: 'pending', publish: false });
    expect(outcome.ok && outcome.changes).toEqual({ next_check_at: NOW + 6 * MINUTE });
  });

  it('is proved by the TXT record, and a managed domain waits for its delegation', () => {
    const verify: LifecycleEvent = { kind: 'verify', proof: 'holds' };
    const proved = live(given, [verify, NOW + MINUTE]);
    expect(proved).toMatchObject({ status: 'pending', verified_at: NOW + MINUTE, unproved_since: null });
    expect(proved.next_check_at).toBe(NOW + MINUTE);
    expect(live(proved, [checked('delegated'), NOW + HOUR]).status).toBe('active');
    expect(codeOf(nextState(proved, verify, NOW + HOUR))).toBe('not_external');
    expect(codeOf(nextState(given, { kind: 'verify', proof: 'absent' }, NOW))).toBe('absent');
    expect(codeOf(nextState(given, verify, NOW + 7 * DAY))).toBe('expired');
  });

  it('is unproved from the time the proof is lost, not from a change of mode or a disabling', () => {
    const challenge = newChallenge(NOW + DAY);
    const waits: LifecycleEvent = { kind: 'mode', dns_mode: 'external', challenge };
    expect(live(managed, [waits, NOW + DAY]).unproved_since).toBe(NOW);
    const enable: LifecycleEvent = { kind: 'enable', proof: 'absent', challenge };
    expect(live(managed, [{ kind: 'disable' }, NOW + 1], [enable, NOW + DAY]).unproved_since).toBe(NOW);
    const lost = live(moved, [{ kind: 'disable' }, NOW + 2 * DAY], [enable, NOW + 3 * DAY]);
    expect(lost).toMatchObject({ status: 'pending', unproved_since: NOW + 3 * DAY });
    const proved = live(given, [{ kind: 'verify', proof: 'holds' }, NOW + MINUTE]);
    expect(live(proved, [waits, NOW + DAY])).toMatchObject({
      status: 'unverified',
      unproved_since: NOW + DAY,
    });
    const spent = live(proved, [checked('delegated'), NOW + HOUR], [{ kind: 'disable' }, NOW + DAY]);
    expect(live(spent, [enable, NOW + DAY])).toMatchObject({ verification_token: '', verified_at: null });
  });
});

describe('an external domain', () => {
  const verify = (proof: 'holds' | 'absent' | 'unknown'): LifecycleEvent => ({ kind: 'verify', proof });

  it('starts unverified with a value, and is active once the value is found', () => {
    expect(external).toMatchObject({
      status: 'unverified',
      verification_token: CHALLENGE.value,
      verification_expires_at: NOW + 7 * DAY,
      next_check_at: null,
    });
    const proven = live(external, [verify('holds'), NOW + HOUR]);
    expect(proven).toMatchObject({
      status: 'active',
      verified_at: NOW + HOUR,
      ever_active: true,
      next_check_at: null,
    });
    expect(nextState(proven, verify('absent'), NOW + 2 * HOUR)).toMatchObject({ ok: true, changes: {} });
  });

  it.each([
    ['absent', NOW, 'absent'],
    ['unknown', NOW, 'unknown'],
    ['holds', NOW + 7 * DAY, 'expired'],
  ] as const)('is not verified when the proof is %s at %i', (proof, at, code) => {
    expect(codeOf(nextState(external, verify(proof), at))).toBe(code);
  });

  it('can be verified with a new value after the old one expired', () => {
    const renewed = newChallenge(NOW + 8 * DAY);
    const proven = live(
      external,
      [{ kind: 'challenge', challenge: renewed }, NOW + 8 * DAY],
      [verify('holds'), NOW + 9 * DAY],
    );
    expect(proven.status).toBe('active');
  });

  it('is unchanged by a late nameserver check', () => {
    const proven = live(external, [verify('holds'), NOW]);
    for (const result of ['other', 'none', 'delegated', 'unreachable'] as const) {
      expect(codeOf(nextState(proven, checked(result), NOW + DAY))).toBe('active');
      expect(codeOf(nextState(external, checked(result), NOW + DAY))).toBe('unverified');
    }
  });
});

describe('disabled and banned', () => {
  const renewed = newChallenge(NOW + 30 * DAY);
  const enable = (proof: 'holds' | 'absent' | 'unknown'): LifecycleEvent => ({
    kind: 'enable',
    proof,
    challenge: renewed,
  });

  it.each([
    ['managed', managed, 'holds', 'active'],
    ['managed', managed, 'absent', 'pending'],
    ['managed', managed, 'unknown', 'pending'],
    ['external', external, 'holds', 'active'],
    ['external', external, 'absent', 'unverified'],
    ['external', external, 'unknown', 'unverified'],
  ] as const)('a %s domain comes back with the proof: %#', (_, start, proof, status) => {
    const at = NOW + 6 * DAY;
    const disabled = live(start, [{ kind: 'disable' }, NOW + DAY]);
    expect(disabled).toMatchObject({ status: 'disabled', next_check_at: null, pending_since: null });
    const back = live(disabled, [enable(proof), at]);
    expect(back.status).toBe(status);
    expect(back.next_check_at).toBe(
      status === 'pending' ? at : status === 'active' && start === managed ? at + DAY : null,
    );
    if (status === 'unverified') expect(back.verification_token).toBe(CHALLENGE.value);
    const banned = live(start, [{ kind: 'ban' }, NOW]);
    expect(live(banned, [{ kind: 'unban', proof, challenge: renewed }, at]).status).toBe(status);
  });

  it('enabling does not make an expired challenge value valid', () => {
    const disabled = live(external, [{ kind: 'disable' }, NOW]);
    const back = live(disabled, [enable('holds'), NOW + 30 * DAY]);
    expect(back).toMatchObject({ status: 'unverified', verification_token: renewed.value });
  });

  it('a lost proof is not accepted again: the challenge value is new', () => {
    const proven = live(
      external,
      [{ kind: 'verify', proof: 'holds' }, NOW],
      [{ kind: 'disable' }, NOW + DAY],
    );
    const back = live(proven, [enable('absent'), NOW + 2 * DAY]);
    expect(back).toMatchObject({ verified_at: null, verification_token: renewed.value });
  });

  it.each(DOMAIN_STATUSES.filter((status) => status !== 'disabled'))(
    'enable is refused while %s',
    (status) => {
      const outcome = nextState({ ...active, status }, enable('holds'), NOW);
      expect(codeOf(outcome)).toBe(status === 'banned' ? 'banned' : 'not_disabled');
    },
  );

  it('no event but unban ends a ban, and no check does', () => {
    const banned = live(active, [{ kind: 'ban' }, NOW]);
    expect(codeOf(nextState(banned, checked('delegated'), NOW))).toBe('banned');
    expect(codeOf(nextState(banned, { kind: 'disable' }, NOW))).toBe('banned');
    expect(codeOf(nextState(banned, { kind: 'verify', proof: 'holds' }, NOW))).toBe('banned');
    const other = nextState(active, { kind: 'unban', proof: 'holds', challenge: renewed }, NOW);
    expect(codeOf(other)).toBe('not_banned');
  });

  it('verify refuses a disabled domain with its own code', () => {
    const disabled = live(external, [{ kind: 'disable' }, NOW]);
    expect(codeOf(nextState(disabled, { kind: 'verify', proof: 'holds' }, NOW))).toBe('disabled');
  });
});

describe('suspension', () => {
  it('is a flag that is published and changes neither the status nor its checks', () => {
    const suspended = nextState(active, { kind: 'suspend' }, NOW + 5);
    expect(suspended).toEqual({
      ok: true,
      status: 'active',
      publish: true,
      changes: { suspended: true, suspended_at: NOW + 5 },
    });
    const domain = live(active, [{ kind: 'suspend' }, NOW + 5]);
    expect(nextState(domain, { kind: 'suspend' }, NOW + 9)).toMatchObject({ changes: {}, publish: false });
    expect(codeOf(nextState(domain, checked('none'), NOW + DAY))).toBe('moved');
    expect(live(domain, [{ kind: 'resume' }, NOW + 9])).toEqual(active);
  });
});

describe('a change of dns_mode', () => {
  const mode = (dns_mode: 'managed' | 'external'): LifecycleEvent => ({
    kind: 'mode',
    dns_mode,
    challenge: CHALLENGE,
  });

  it('does nothing when it is the mode already', () => {
    expect(nextState(active, mode('managed'), NOW)).toMatchObject({ changes: {}, publish: false });
  });

  it('to external gives an active domain a grace period to be verified', () => {
    const left = live(active, [mode('external'), NOW + DAY]);
    expect(left).toMatchObject({ status: 'moved', moved_since: NOW + DAY, next_check_at: NOW + 8 * DAY });
    expect(live(left, [{ kind: 'verify', proof: 'holds' }, NOW + 2 * DAY])).toMatchObject({
      status: 'active',
      moved_since: null,
      next_check_at: null,
    });
    expect(live(left, [{ kind: 'due' }, NOW + 8 * DAY - 1]).status).toBe('moved');
    expect(live(left, [{ kind: 'due' }, NOW + 8 * DAY]).status).toBe('disabled');
  });

  it('to external and back does not extend the grace period of a moved domain', () => {
    const back = live(moved, [mode('external'), NOW + 4 * DAY], [mode('managed'), NOW + 5 * DAY]);
    expect(back).toMatchObject({ status: 'moved', moved_since: NOW + DAY });
    expect(codeOf(nextState(back, checked('none'), NOW + 8 * DAY))).toBe('disabled');
  });

  it('to external makes a pending domain unverified, to managed an unverified one pending', () => {
    expect(live(managed, [mode('external'), NOW]).status).toBe('unverified');
    expect(live(external, [mode('managed'), NOW])).toMatchObject({ status: 'pending', next_check_at: NOW });
  });

  it('to managed leaves a verified domain active until a check finds another delegation', () => {
    const proven = live(external, [{ kind: 'verify', proof: 'holds' }, NOW], [mode('managed'), NOW + HOUR]);
    expect(proven).toMatchObject({ status: 'active', next_check_at: NOW + HOUR + DAY });
  });

  it('leaves the status of a disabled or banned domain unchanged', () => {
    for (const kind of ['disable', 'ban'] as const) {
      const domain = live(active, [{ kind }, NOW], [mode('external'), NOW]);
      expect(domain).toMatchObject({ dns_mode: 'external', status: kind === 'ban' ? 'banned' : 'disabled' });
    }
  });
});

describe('any history', () => {
  const proof = fc.constantFrom('holds' as const, 'absent' as const, 'unknown' as const);
  const challenge = fc.constant(CHALLENGE);
  const event: fc.Arbitrary<LifecycleEvent> = fc.oneof(
    fc.constantFrom('delegated', 'other', 'none', 'unreachable').map((result) => checked(result as 'none')),
    // Other accounts have the name, so it is not proved.
    fc.constant({ kind: 'checked' as const, result: 'contested' as const, unproved: true }),
    fc.constant({ kind: 'challenge' as const, challenge: CHALLENGE }),
    proof.map((value) => ({ kind: 'verify' as const, proof: value })),
    fc.record({ kind: fc.constant('enable' as const), proof, challenge }),
    fc.record({ kind: fc.constant('unban' as const), proof, challenge }),
    fc.record({
      kind: fc.constant('mode' as const),
      dns_mode: fc.constantFrom('managed' as const, 'external' as const),
      challenge,
    }),
    fc.constantFrom('due', 'disable', 'ban', 'suspend', 'resume').map((kind) => ({ kind: kind as 'due' })),
  );

  it('satisfies the invariants of a domain after each event', () => {
    const steps = fc.array(fc.tuple(event, fc.nat(10 * DAY)), { maxLength: 30 });
    fc.assert(
      fc.property(fc.constantFrom(managed, external), steps, (start, history) => {
        let domain = start;
        let now = NOW;
        for (const [next, later] of history) {
          now += later;
          if ('unproved' in next && domain.unproved_since === null) continue;
          const outcome = nextState(domain, next, now);
          if (!outcome.ok) continue;
          const after = { ...domain, ...outcome.changes };
          for (const [field, value] of Object.entries(outcome.changes)) {
            expect(value).not.toBe(domain[field as keyof LifecycleFields]);
          }
          expect(outcome.status).toBe(after.status);
          expect(outcome.publish).toBe(
            after.status !== domain.status || after.suspended !== domain.suspended,
          );
          expect(after.moved_since !== null).toBe(after.status === 'moved');
          expect(after.pending_since !== null).toBe(after.status === 'pending');
          expect(after.suspended_at !== null).toBe(after.suspended);
          expect(after.ever_active).toBe(domain.ever_active || after.status === 'active');
          const watched = after.dns_mode === 'managed' ? ['pending', 'active', 'moved'] : ['moved'];
          expect(after.next_check_at !== null).toBe(watched.includes(after.status));
          if (after.dns_mode === 'external') expect(after.status).not.toBe('pending');
          if (after.dns_mode === 'managed') expect(after.status).not.toBe('unverified');
          if (after.status === 'unverified') expect(after.verification_token).not.toBe('');
          if (['active', 'moved', 'banned'].includes(after.status)) expect(after.unproved_since).toBeNull();
          if (after.status === 'unverified') expect(after.unproved_since).not.toBeNull();
          expect(after.unproved_since ?? 0).toBeLessThanOrEqual(now);
          if (after.status === 'active' && domain.status !== 'active') {
            const proven =
              next.kind === 'checked'
                ? next.result === 'delegated'
                : 'proof' in next && next.proof === 'holds';
            expect(proven).toBe(true);
          }
          domain = after;
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('the schedule', () => {
  const pending = (age: number): number | null => {
    return nextCheckAt({ status: 'pending', pending_since: NOW - age }, NOW);
  };

  it('checks a pending domain at growing intervals', () => {
    expect(pending(0)).toBe(NOW + 5 * MINUTE);
    expect(pending(HOUR - 1)).toBe(NOW + 5 * MINUTE);
    expect(pending(HOUR)).toBe(NOW + HOUR);
    expect(pending(7 * DAY - 1)).toBe(NOW + HOUR);
    expect(pending(7 * DAY)).toBe(NOW + DAY);
  });

  it('allows one requested check an hour', () => {
    expect(manualCheckWait(null, NOW)).toBe(0);
    expect(manualCheckWait(NOW - 10 * MINUTE, NOW)).toBe(50 * MINUTE);
    expect(manualCheckWait(NOW - HOUR, NOW)).toBe(0);
  });
});

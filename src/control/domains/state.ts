/**
 * The lifecycle of a domain as a pure state machine: fields and an event in, changed fields or a refusal out. The API
 * document defines states and triggers; this file defines the rest (after semantics §6 if it applies):
 * - a check without an answer (`unreachable`) only changes the time of the next check
 * - a `moved` domain is served for 7 days; the first check after them that finds the delegation still absent disables it
 * - `disabled` and `banned` domains are not checked; both end in `active` when the proof still holds, else in `pending`
 *   or `unverified`
 * - suspension is a flag in addition to the status and stops no checks
 * - a domain whose DNS is hosted elsewhere is proved once; removing its TXT record later changes nothing
 * - several accounts may have an unproved domain of one name (`claims.ts`). A delegation does not identify one of them, so
 *   the TXT record decides, also for a managed domain, which stays `pending` until its delegation is found
 * - a change of `dns_mode` never stops a domain at once: one that becomes external is `moved`, with the grace period,
 *   until it is verified; one that becomes managed stays `active` until its next check finds another delegation
 */
import { assert, unreachable } from '../../base/diagnostics/assert.ts';
import type { DomainStatus } from '../../base/vocabulary/vocabulary.ts';
import type { DnsMode, DomainRow } from '../store/tables/domains.ts';
import type { Challenge } from './challenge.ts';
import { GRACE_MS } from './limits.ts';
import { nextCheckAt, spreadCheck } from './schedule.ts';

/** The fields of a domain that the state machine reads and changes. */
export type LifecycleFields = Pick<
  DomainRow,
  | 'status'
  | 'dns_mode'
  | 'ever_active'
  | 'verification_token'
  | 'verification_started_at'
  | 'verification_expires_at'
  | 'verified_at'
  | 'unproved_since'
  | 'pending_since'
  | 'moved_since'
  | 'next_check_at'
  | 'suspended'
  | 'suspended_at'
>;

/** Whether the right to use the name is proved: by the delegation, or by the TXT record of an external domain. */
export type Proof = 'holds' | 'absent' | 'unknown';

export type LifecycleEvent =
  /** A delegation check has a result; `contested`: delegated, and other accounts have an unproved domain of the name. */
  | {
      readonly kind: 'checked';
      readonly result: 'delegated' | 'contested' | 'other' | 'none' | 'unreachable';
    }
  /** The scheduled time of an external domain has come, which needs no lookup. */
  | { readonly kind: 'due' }
  /** The owner requested verification; `proof` is the result of the TXT lookup. */
  | { readonly kind: 'verify'; readonly proof: Proof }
  /** The owner enables a disabled domain; `challenge` replaces an expired value. */
  | ({ readonly kind: 'enable' } & Return)
  | { readonly kind: 'mode'; readonly dns_mode: DnsMode; readonly challenge: Challenge }
  /** A new challenge replaces the current one. */
  | { readonly kind: 'challenge'; readonly challenge: Challenge }
  | { readonly kind: 'disable' }
  | { readonly kind: 'ban' }
  | ({ readonly kind: 'unban' } & Return)
  | { readonly kind: 'suspend' }
  | { readonly kind: 'resume' };

/** The proof with which a domain leaves `disabled` or `banned`, and the challenge it gets without one. */
interface Return {
  readonly proof: Proof;
  readonly challenge: Challenge;
  /** The operator vouches for the proof; it does not come from the DNS. */
  readonly vouched?: true;
}

/** Why an event was refused. */
export type RefusalCode =
  | 'not_external'
  | 'not_disabled'
  | 'not_banned'
  | 'disabled'
  | 'banned'
  | 'expired'
  | 'absent'
  | 'unknown';

export type Transition =
  | {
      readonly ok: true;
      readonly status: DomainStatus;
      /** The fields that differ; empty when nothing does. */
      readonly changes: Partial<LifecycleFields>;
      /** The edge must serve the domain differently, so the change needs a publication. */
      readonly publish: boolean;
    }
  | { readonly ok: false; readonly code: RefusalCode; readonly reason: string };

/** The effect of an event on a stored domain: `nextState`, with the next check spread (`spreadCheck`). */
export function nextRow(domain: DomainRow, event: LifecycleEvent, now: number): Transition {
  const outcome = nextState(domain, event, now);
  const at = outcome.ok ? (outcome.changes.next_check_at ?? null) : null;
  const mode = (outcome.ok ? outcome.changes.dns_mode : null) ?? domain.dns_mode;
  // The grace period of an external domain ends at an exact time, which must not be moved.
  if (!outcome.ok || at === null || mode !== 'managed') return outcome;
  const next_check_at = spreadCheck(domain.id, { at, now });
  return { ...outcome, changes: { ...outcome.changes, next_check_at } };
}

/** The effect of an event on a domain at `now`, milliseconds since the epoch. */
export function nextState(domain: LifecycleFields, event: LifecycleEvent, now: number): Transition {
  switch (event.kind) {
    case 'checked':
      return checked(domain, event.result, now);
    case 'due':
      return due(domain, now);
    case 'verify':
      return verify(domain, event.proof, now);
    case 'enable':
      if (domain.status === 'banned') return BANNED;
      if (domain.status !== 'disabled') return refuse('not_disabled', `the domain is \`${domain.status}\``);
      return settle(domain, event, now);
    case 'mode':
      return changeMode(domain, event, now);
    case 'challenge':
      return change(domain, { ...challengeFields(event.challenge) });
    case 'disable':
      if (domain.status === 'banned') return BANNED;
      return change(domain, { status: 'disabled', ...NO_CHECKS });
    case 'ban':
      // A banned domain counts as proved: no other account can register the name.
      return change(domain, { status: 'banned', unproved_since: null, ...NO_CHECKS });
    case 'unban':
      if (domain.status !== 'banned') return refuse('not_banned', `the domain is \`${domain.status}\``);
      return settle(domain, event, now);
    case 'suspend':
      return domain.suspended ? change(domain, {}) : change(domain, { suspended: true, suspended_at: now });
    case 'resume':
      return change(domain, { suspended: false, suspended_at: null });
    default:
      return unreachable(event);
  }
}

/** The lifecycle fields of a new domain. `now` in milliseconds since the epoch. */
export function initialState(dns_mode: DnsMode, challenge: Challenge, now: number): LifecycleFields {
  const managed = dns_mode === 'managed';
  return {
    dns_mode,
    ever_active: false,
    verified_at: null,
    unproved_since: now,
    suspended: false,
    suspended_at: null,
    moved_since: null,
    ...(managed ? NO_CHALLENGE : challengeFields(challenge)),
    status: managed ? 'pending' : 'unverified',
    pending_since: managed ? now : null,
    next_check_at: managed ? now : null,
  };
}

const NO_CHALLENGE = {
  verification_token: '',
  verification_started_at: null,
  verification_expires_at: null,
} as const satisfies ChallengeFields;

/** Fields of a status that no check and no deadline ends. */
const NO_CHECKS = { pending_since: null, moved_since: null, next_check_at: null } as const;

const BANNED: Transition = refuse('banned', 'the domain is banned');

function refuse(code: RefusalCode, reason: string): Transition {
  return { ok: false, code, reason };
}

type ChallengeFields = Pick<
  LifecycleFields,
  'verification_token' | 'verification_started_at' | 'verification_expires_at'
>;

/** The fields that a new challenge sets. */
export function challengeFields({ value, started_at, expires_at }: Challenge): ChallengeFields {
  return {
    verification_token: value,
    verification_started_at: started_at,
    verification_expires_at: expires_at,
  };
}

/** The accepted transition to `wanted`; `changes` contains only the fields that differ. */
function change(domain: LifecycleFields, wanted: Partial<LifecycleFields>): Transition {
  const after = { ...domain, ...wanted };
  const changes = Object.fromEntries(
    Object.entries(wanted).filter(([field, value]) => domain[field as keyof LifecycleFields] !== value),
  );
  const publish = after.status !== domain.status || after.suspended !== domain.suspended;
  return { ok: true, status: after.status, changes, publish };
}

/** The fields of a proved domain that becomes active. */
function active(now: number): Partial<LifecycleFields> {
  const next_check_at = nextCheckAt({ status: 'active', pending_since: null }, now);
  const proved = { status: 'active', ever_active: true, unproved_since: null } as const;
  return { ...proved, pending_since: null, moved_since: null, next_check_at };
}

type CheckResult = Extract<LifecycleEvent, { kind: 'checked' }>['result'];

/** Applies the result of a delegation check. */
function checked(domain: LifecycleFields, result: CheckResult, now: number): Transition {
  const { status, dns_mode } = domain;
  // The domain can change during a check, whose result then no longer applies.
  if (dns_mode !== 'managed') return due(domain, now);
  if (status !== 'pending' && status !== 'active' && status !== 'moved') {
    return change(domain, { next_check_at: null });
  }
  if (result === 'unreachable') {
    return change(domain, { next_check_at: nextCheckAt(domain, now, { failed: true }) });
  }
  if (result === 'delegated') return change(domain, active(now));
  if (status === 'pending') return change(domain, { next_check_at: nextCheckAt(domain, now) });
  if (status === 'active') {
    const next_check_at = nextCheckAt({ status: 'moved', pending_since: null }, now);
    return change(domain, { status: 'moved', moved_since: now, next_check_at });
  }
  assert(domain.moved_since !== null, 'a moved domain has `moved_since`');
  if (now >= domain.moved_since + GRACE_MS) return change(domain, { status: 'disabled', ...NO_CHECKS });
  return change(domain, { next_check_at: nextCheckAt(domain, now) });
}

/** Ends the grace period of an external domain that was managed before; no other external domain has a deadline. */
function due(domain: LifecycleFields, now: number): Transition {
  if (domain.dns_mode === 'managed') return change(domain, {});
  if (domain.status !== 'moved') return change(domain, { next_check_at: null });
  const end = (domain.moved_since ?? 0) + GRACE_MS;
  return change(domain, now >= end ? { status: 'disabled', ...NO_CHECKS } : { next_check_at: end });
}

/** Applies the result of a requested verification. */
function verify(domain: LifecycleFields, proof: Proof, now: number): Transition {
  if (domain.status === 'banned') return BANNED;
  if (domain.status === 'disabled') return refuse('disabled', 'the domain is disabled; enable it first');
  if (!takesChallenge(domain)) {
    return refuse('not_external', 'a managed domain is proven by its nameservers, not by a TXT record');
  }
  if (domain.status === 'active' && domain.verified_at !== null) return change(domain, {});
  if (isExpired(domain, now)) {
    return refuse('expired', 'the verification value has expired; publish the new one');
  }
  if (proof === 'absent') return refuse('absent', 'the TXT record was not found');
  if (proof === 'unknown') return refuse('unknown', 'the TXT record could not be looked up; try again later');
  // The TXT record proves the name; a managed domain still needs its delegation to become active.
  if (domain.dns_mode === 'managed')
    return change(domain, { verified_at: now, unproved_since: null, next_check_at: now });
  return change(domain, { ...active(now), verified_at: now, next_check_at: null });
}

/** Whether a TXT record can prove the name: of an external domain, and of an unproved managed one with a challenge. */
export function takesChallenge(
  domain: Pick<LifecycleFields, 'dns_mode' | 'unproved_since' | 'verification_token'>,
): boolean {
  if (domain.dns_mode === 'external') return true;
  return domain.unproved_since !== null && domain.verification_token !== '';
}

/** Whether the challenge has expired unused, so that a new one is needed. */
export function isExpired(
  domain: Pick<LifecycleFields, 'verification_expires_at' | 'verified_at'>,
  now: number,
): boolean {
  if (domain.verified_at !== null) return false;
  return domain.verification_expires_at === null || now >= domain.verification_expires_at;
}

/** What decides how a domain leaves `disabled` or `banned`. */
interface Settling {
  readonly proof: Proof;
  readonly challenge: Challenge;
}

/** Leaves `disabled` or `banned`: `active` when the proof holds, else the status of a new domain. */
function settle(domain: LifecycleFields, { proof, challenge }: Settling, now: number): Transition {
  const external = domain.dns_mode === 'external';
  // Disabling and enabling a domain does not make an expired challenge valid.
  if (proof === 'holds' && !(external && isExpired(domain, now))) {
    if (!external) return change(domain, active(now));
    return change(domain, { ...active(now), verified_at: domain.verified_at ?? now, next_check_at: null });
  }
  const unproved = { ...NO_CHECKS, verified_at: null, unproved_since: domain.unproved_since ?? now };
  // A published value is public: after its proof was lost it must not prove the name a second time.
  if (!external) {
    const none = domain.verified_at === null ? {} : NO_CHALLENGE;
    return change(domain, {
      ...unproved,
      ...none,
      status: 'pending',
      pending_since: now,
      next_check_at: now,
    });
  }
  const spent = domain.verified_at !== null || isExpired(domain, now);
  const renewed = spent ? challengeFields(challenge) : {};
  return change(domain, { ...unproved, status: 'unverified', ...renewed });
}

/** Applies a change of `dns_mode`; the domain keeps serving until its grace period or next check. */
function changeMode(
  domain: LifecycleFields,
  { dns_mode, challenge }: Extract<LifecycleEvent, { kind: 'mode' }>,
  now: number,
): Transition {
  if (domain.dns_mode === dns_mode) return change(domain, {});
  const serving = domain.status === 'active' || domain.status === 'moved';
  if (domain.status === 'banned' || domain.status === 'disabled') return change(domain, { dns_mode });
  if (dns_mode === 'external') {
    const renewed = { dns_mode, verified_at: null, ...challengeFields(challenge) };
    const unproved_since = domain.unproved_since ?? now;
    if (!serving) return change(domain, { ...NO_CHECKS, ...renewed, unproved_since, status: 'unverified' });
    const moved_since = domain.moved_since ?? now;
    return change(domain, {
      ...renewed,
      status: 'moved',
      moved_since,
      next_check_at: moved_since + GRACE_MS,
    });
  }
  if (serving) return change(domain, { dns_mode, next_check_at: nextCheckAt(domain, now) });
  return change(domain, { dns_mode, status: 'pending', pending_since: now, next_check_at: now });
}

/**
 * A domain's life as a pure function: fields and an event in, changed fields or a refusal out. The states and the
 * triggers are the API document's; what it leaves open is settled here (semantics §6 where it says something):
 * - a check that nobody could answer changes nothing but when to look again
 * - `moved` serves for 7 days; it ends at the first check after them that finds the delegation still gone
 * - `disabled` and `banned` are not checked; a ban ends like `disabled` does: in `active` when the proof still holds,
 *   else `pending` or `unverified`
 * - suspension is a flag beside the status and stops no checks
 * - a domain whose DNS is hosted elsewhere is proven once; taking the TXT record away later changes nothing
 * - several accounts may have an unproved domain of one name (`claims.ts`). A delegation then says nothing about which of
 *   them it is for, so the TXT record decides, also in a managed domain, which goes on waiting for its delegation
 * - a change of `dns_mode` never stops a domain at once: one that becomes external is `moved` and has its grace until
 *   it is verified; one that becomes managed stays `active` and is `moved` when its next check says so
 */
import { assert, unreachable } from '../base/assert.ts';
import type { DomainStatus } from '../base/vocabulary.ts';
import type { DnsMode, DomainRow } from '../store/rows.ts';
import type { Challenge } from './challenge.ts';
import { GRACE_MS } from './limits.ts';
import { nextCheckAt, spreadCheck } from './schedule.ts';

/** The fields of a domain that its life is about. */
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

/** What is known about the right to use the name: the delegation, or the TXT record of an external domain. */
export type Proof = 'holds' | 'absent' | 'unknown';

export type LifecycleEvent =
  /** A nameserver check came back; `contested`: it is delegated, and other accounts have an unproved domain of the name. */
  | {
      readonly kind: 'checked';
      readonly result: 'delegated' | 'contested' | 'other' | 'none' | 'unreachable';
    }
  /** Its time has come and there is nobody to ask: an external domain. */
  | { readonly kind: 'due' }
  /** The TXT record was looked for, on request. */
  | { readonly kind: 'verify'; readonly proof: Proof }
  /** The owner wants a disabled domain back; `challenge` replaces a value that has expired. */
  | ({ readonly kind: 'enable' } & Return)
  | { readonly kind: 'mode'; readonly dns_mode: DnsMode; readonly challenge: Challenge }
  /** A new value to publish, in place of the old one. */
  | { readonly kind: 'challenge'; readonly challenge: Challenge }
  | { readonly kind: 'disable' }
  | { readonly kind: 'ban' }
  | ({ readonly kind: 'unban' } & Return)
  | { readonly kind: 'suspend' }
  | { readonly kind: 'resume' };

/** What a domain comes back with from `disabled` or `banned`. */
interface Return {
  readonly proof: Proof;
  readonly challenge: Challenge;
  /** The proof is the operator's word, not what the DNS says. */
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
      /** What the edge does differs, so it must be published. */
      readonly publish: boolean;
    }
  | { readonly ok: false; readonly code: RefusalCode; readonly reason: string };

/** What an event does to a stored domain: `nextState`, its next check apart from those of other domains. */
export function nextRow(domain: DomainRow, event: LifecycleEvent, now: number): Transition {
  const outcome = nextState(domain, event, now);
  const at = outcome.ok ? (outcome.changes.next_check_at ?? null) : null;
  const mode = (outcome.ok ? outcome.changes.dns_mode : null) ?? domain.dns_mode;
  // What an external domain waits for is the end of its grace, which is to the moment.
  if (!outcome.ok || at === null || mode !== 'managed') return outcome;
  const next_check_at = spreadCheck(domain.id, { at, now });
  return { ...outcome, changes: { ...outcome.changes, next_check_at } };
}

/** What an event does to a domain at `now` (milliseconds since the epoch). */
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
      return change(domain, { status: 'disabled', ...STILL });
    case 'ban':
      // The name is banned, so that no other account has it.
      return change(domain, { status: 'banned', unproved_since: null, ...STILL });
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

/** The fields of a domain that was just created. */
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

/** Nothing is waited for any more. */
const STILL = { pending_since: null, moved_since: null, next_check_at: null } as const;

const BANNED: Transition = refuse('banned', 'the domain is banned');

function refuse(code: RefusalCode, reason: string): Transition {
  return { ok: false, code, reason };
}

type ChallengeFields = Pick<
  LifecycleFields,
  'verification_token' | 'verification_started_at' | 'verification_expires_at'
>;

/** The fields of a domain that a value to publish sets. */
export function challengeFields({ value, started_at, expires_at }: Challenge): ChallengeFields {
  return {
    verification_token: value,
    verification_started_at: started_at,
    verification_expires_at: expires_at,
  };
}

/** The outcome, with only those fields that differ. */
function change(domain: LifecycleFields, wanted: Partial<LifecycleFields>): Transition {
  const after = { ...domain, ...wanted };
  const changes = Object.fromEntries(
    Object.entries(wanted).filter(([field, value]) => domain[field as keyof LifecycleFields] !== value),
  );
  const publish = after.status !== domain.status || after.suspended !== domain.suspended;
  return { ok: true, status: after.status, changes, publish };
}

function active(now: number): Partial<LifecycleFields> {
  const next_check_at = nextCheckAt({ status: 'active', pending_since: null }, now);
  const proved = { status: 'active', ever_active: true, unproved_since: null } as const;
  return { ...proved, pending_since: null, moved_since: null, next_check_at };
}

type CheckResult = Extract<LifecycleEvent, { kind: 'checked' }>['result'];

function checked(domain: LifecycleFields, result: CheckResult, now: number): Transition {
  const { status, dns_mode } = domain;
  // A check may come back after somebody has changed the domain; what it found is then about something else.
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
  assert(domain.moved_since !== null, 'a moved domain knows since when');
  if (now >= domain.moved_since + GRACE_MS) return change(domain, { status: 'disabled', ...STILL });
  return change(domain, { next_check_at: nextCheckAt(domain, now) });
}

/** Only the grace of an external domain that was managed before ends by itself. */
function due(domain: LifecycleFields, now: number): Transition {
  if (domain.dns_mode === 'managed') return change(domain, {});
  if (domain.status !== 'moved') return change(domain, { next_check_at: null });
  const end = (domain.moved_since ?? 0) + GRACE_MS;
  return change(domain, now >= end ? { status: 'disabled', ...STILL } : { next_check_at: end });
}

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
  // The name is proved; what a managed domain still waits for is its delegation.
  if (domain.dns_mode === 'managed')
    return change(domain, { verified_at: now, unproved_since: null, next_check_at: now });
  return change(domain, { ...active(now), verified_at: now, next_check_at: null });
}

/** Whether a TXT record proves the name: of an external domain, and of a managed one that has a value to publish. */
export function takesChallenge(
  domain: Pick<LifecycleFields, 'dns_mode' | 'unproved_since' | 'verification_token'>,
): boolean {
  if (domain.dns_mode === 'external') return true;
  return domain.unproved_since !== null && domain.verification_token !== '';
}

/** Whether the value to publish can no longer be used and a new one is due. */
export function isExpired(
  domain: Pick<LifecycleFields, 'verification_expires_at' | 'verified_at'>,
  now: number,
): boolean {
  if (domain.verified_at !== null) return false;
  return domain.verification_expires_at === null || now >= domain.verification_expires_at;
}

interface Settling {
  readonly proof: Proof;
  readonly challenge: Challenge;
}

/** Back from `disabled` or `banned`: `active` when the proof holds, else as a new domain starts. */
function settle(domain: LifecycleFields, { proof, challenge }: Settling, now: number): Transition {
  const external = domain.dns_mode === 'external';
  // A value that was never used in time is not made good by disabling and enabling the domain.
  if (proof === 'holds' && !(external && isExpired(domain, now))) {
    if (!external) return change(domain, active(now));
    return change(domain, { ...active(now), verified_at: domain.verified_at ?? now, next_check_at: null });
  }
  const unproved = { ...STILL, verified_at: null, unproved_since: domain.unproved_since ?? now };
  // The value of a proof that is gone may have been seen by anybody, so it proves nothing a second time.
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
    if (!serving) return change(domain, { ...STILL, ...renewed, unproved_since, status: 'unverified' });
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

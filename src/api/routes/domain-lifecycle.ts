/** A domain's life on request: nameserver sets, verification, enabling, the check for a new delegation. */
import { z } from 'zod';
import { DOMAIN_STATUSES } from '../../base/vocabulary.ts';
import { auditedFields, isAudited } from '../../lifecycle/apply-event.ts';
import { newChallenge } from '../../lifecycle/challenge.ts';
import { isContested, removeRivals, weigh } from '../../lifecycle/claims.ts';
import { manualCheckWait } from '../../lifecycle/schedule.ts';
import { type LifecycleEvent, type LifecycleFields, nextRow, takesChallenge } from '../../lifecycle/state.ts';
import type { DomainRow } from '../../store/rows.ts';
import { domainDetail, timeText } from '../domain-shape.ts';
import { proofOfChallenge, prove } from '../lifecycle.ts';
import { conflict, notFound, Refusal } from '../refusal.ts';
import { ok, operation, type Writing } from '../route.ts';
import { answerDomain } from './domains.ts';

export const nameserverSets = operation({
  summary: 'The nameserver sets a managed domain can be delegated to, the recommended one first',
  response: z.object({ sets: z.array(z.array(z.string())) }),
  async handle({ services }) {
    return ok({ sets: services.lifecycle.nameserverSets });
  },
});

interface Lived {
  readonly domain: DomainRow;
  readonly refused: string | null;
  readonly expired: boolean;
}

/** Writes what follows from an event; the refused event's sentence, or the domain afterwards. */
async function live(w: Writing, given: LifecycleEvent): Promise<Lived> {
  const { domain, now, tx } = w;
  const event = await weigh(tx, { domain, event: given, now });
  const transition = nextRow(domain, event, now);
  if (!transition.ok) return { domain, refused: transition.reason, expired: transition.code === 'expired' };
  const { changes } = transition;
  const fields = Object.keys(changes) as (keyof LifecycleFields)[];
  if (fields.length === 0) return { domain, refused: null, expired: false };
  // A check that only sets the next one is no change of the domain that anybody made.
  const told = fields.filter(isAudited);
  const touched = told.length === 0 ? changes : { ...changes, updated_at: now };
  if (changes.unproved_since === null) await removeRivals(tx, domain, now);
  const after = await tx.domains.update(domain.id, touched);
  if (after === null) throw notFound();
  if (told.length > 0) {
    await w.audit({
      action: `domain.${event.kind}`,
      before: auditedFields(domain, told),
      after: auditedFields(after, told),
    });
  }
  if (transition.publish) await w.publish(`the domain went from ${domain.status} to ${after.status}`);
  return { domain: after, refused: null, expired: false };
}

export const verify = operation({
  summary: 'Prove ownership of the name once the TXT record of `verification` is published',
  response: domainDetail,
  statuses: [409],
  async handle({ domain, services, write }) {
    const looked = takesChallenge(domain) ? await services.lifecycle.challenge(domain) : null;
    const result = await write(async (w) => {
      // The proof is about the value that was looked for; another one has to be looked for again.
      const same = looked !== null && w.domain.verification_token === domain.verification_token;
      const proof = same ? proofOfChallenge(looked) : 'unknown';
      const { domain: after, refused, expired } = await live(w, { kind: 'verify', proof });
      if (expired) await live(w, { kind: 'challenge', challenge: newChallenge(w.now) });
      return { refused, answer: await answerDomain(w, after) };
    });
    // Thrown only now: the new value that replaces an expired one has to be kept.
    if (result.refused !== null) throw conflict(result.refused);
    return result.answer;
  },
});

export const enable = operation({
  summary: 'Bring a disabled domain back: active when the proof still holds, else where a new domain starts',
  response: domainDetail,
  statuses: [409],
  async handle({ domain, services, write }) {
    const proof = domain.status === 'disabled' ? await prove(services.lifecycle, domain) : 'unknown';
    return write(async (w) => {
      const { domain: after, refused } = await live(w, {
        kind: 'enable',
        proof,
        challenge: newChallenge(w.now),
      });
      if (refused !== null) throw conflict(refused);
      return answerDomain(w, after);
    });
  },
});

const CHECK = z.object({
  /** `contested`: delegated, and other accounts claim the name, so the TXT record of `verification` has to prove it. */
  state: z.enum(['delegated', 'contested', 'other', 'none', 'unreachable', 'unchecked']),
  found: z.array(z.string()),
  status: z.enum(DOMAIN_STATUSES),
  last_manual_ns_check_at: z.iso.datetime(),
  next_check_at: z.iso.datetime().optional(),
});

/** `validate_only` asks nobody, since a check is what would change: `state` is then `unchecked`. */
export const checkNameservers = operation({
  summary: 'Look at the delegation now; once an hour',
  response: CHECK,
  statuses: [409],
  async handle({ domain, services, validateOnly, write }) {
    const begun = await write(async (w) => {
      if (w.domain.dns_mode !== 'managed') throw conflict('an external domain is proven by its TXT record');
      const wait = manualCheckWait(w.domain.last_manual_ns_check_at, w.now);
      if (wait > 0) {
        const seconds = Math.ceil(wait / 1_000);
        const sentence = `nameservers were checked within the hour; again in ${seconds} s`;
        throw new Refusal(429, sentence, { 'retry-after': String(seconds) });
      }
      await w.tx.domains.update(w.domain.id, { last_manual_ns_check_at: w.now });
      return { at: w.now, domain: w.domain };
    });
    if (validateOnly) return ok(showCheck('unchecked', [], begun));
    const { state, found } = await services.lifecycle.delegation(domain);
    return write(async (w) => {
      const contested = state === 'delegated' && (await isContested(w.tx, w.domain, w.now));
      const after = await live(w, { kind: 'checked', result: state });
      const shown = contested ? 'contested' : state;
      return ok(showCheck(shown, found, { at: begun.at, domain: after.domain }));
    });
  },
});

function showCheck(
  state: z.output<typeof CHECK>['state'],
  found: readonly string[],
  { at, domain }: { readonly at: number; readonly domain: DomainRow },
): z.output<typeof CHECK> {
  return {
    state,
    found: [...found],
    status: domain.status,
    last_manual_ns_check_at: timeText(at),
    ...(domain.next_check_at === null ? {} : { next_check_at: timeText(domain.next_check_at) }),
  };
}

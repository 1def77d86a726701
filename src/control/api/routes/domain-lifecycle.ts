/**
 * The lifecycle of a domain on request: nameserver sets, verification, enabling, a check of the delegation. Each handler
 * makes its DNS lookup outside the transaction and applies it inside (`control/domains/requests.ts`).
 */
import { z } from 'zod';
import { timeText } from '../../../base/text/time.ts';
import { DOMAIN_STATUSES } from '../../../base/vocabulary/vocabulary.ts';
import {
  applyDelegation,
  claimManualCheck,
  enableDomain,
  type ManualCheck,
  proveChallenge,
  proveName,
  verifyDomain,
} from '../../domains/requests.ts';
import type { DomainRow } from '../../store/tables/domains.ts';
import { domainDetail } from '../domain-shape.ts';
import { conflict, Refusal } from '../operation/refusal.ts';
import { ok, operation } from '../operation/route.ts';
import { answerDomain } from './domains.ts';

/** `GET /domains/ns-sets`: the same sets for every account and domain. */
export const nameserverSets = operation({
  summary: 'The nameserver sets a managed domain can be delegated to, the recommended one first',
  response: z.object({ sets: z.array(z.array(z.string())) }),
  async handle({ services }) {
    return ok({ sets: services.lifecycle.nameserverSets });
  },
});

/**
 * `POST /domains/{domain}/verify`: looks up the TXT record, then verifies the domain. 409 while the record is absent or the
 * lookup fails. An expired value is replaced, and the message of the 409 requests the publication of the new one.
 */
export const verify = operation({
  summary: 'Prove ownership of the name once the TXT record of `verification` is published',
  response: domainDetail,
  statuses: [409],
  async handle({ domain, services, write }) {
    const found = await proveChallenge(services.lifecycle, domain);
    const { transition, answer } = await write(async (w) => {
      const applied = await verifyDomain(w, found);
      w.waitFor(applied.outboxId);
      return { transition: applied.transition, answer: await answerDomain(w, applied.domain) };
    });
    // Thrown after the commit, which stores the new value in place of an expired one.
    if (!transition.ok) throw conflict(transition.reason);
    return answer;
  },
});

/** `POST /domains/{domain}/enable`: looks up the proof, then enables the domain. 409 unless the domain is disabled. */
export const enable = operation({
  summary: 'Bring a disabled domain back: active when the proof still holds, else where a new domain starts',
  response: domainDetail,
  statuses: [409],
  async handle({ domain, services, write }) {
    const proof = domain.status === 'disabled' ? await proveName(services.lifecycle, domain) : 'unknown';
    return write(async (w) => {
      const { transition, domain: after, outboxId } = await enableDomain(w, proof);
      if (!transition.ok) throw conflict(transition.reason);
      w.waitFor(outboxId);
      return answerDomain(w, after);
    });
  },
});

/** The result of a check of the delegation; `found`: canonical names of the nameservers, sorted. */
const CHECK = z.object({
  /** `contested`: delegated, and other accounts claim the name, so the TXT record of `verification` has to prove it. */
  state: z.enum(['delegated', 'contested', 'other', 'none', 'unreachable', 'unchecked']),
  found: z.array(z.string()),
  status: z.enum(DOMAIN_STATUSES),
  last_manual_ns_check_at: z.iso.datetime(),
  next_check_at: z.iso.datetime().optional(),
});

/**
 * `POST /domains/{domain}/check-ns`: looks up the delegation and applies the result. `validate_only` makes no lookup, since
 * the result of a lookup changes the domain; `state` is then `unchecked`. 429 within an hour of the last check.
 */
export const checkNameservers = operation({
  summary: 'Look at the delegation now; once an hour',
  response: CHECK,
  statuses: [409],
  async handle({ domain, services, validateOnly, write }) {
    const claimed = await write(async (w) => {
      const check = await claimManualCheck(w);
      if (!check.ok) throw refuseCheck(check);
      return { at: w.now, domain: w.domain };
    });
    if (validateOnly) return ok(showCheck('unchecked', [], claimed));
    const delegation = await services.lifecycle.delegation(domain);
    return write(async (w) => {
      const { state, domain: after, outboxId } = await applyDelegation(w, delegation);
      w.waitFor(outboxId);
      return ok(showCheck(state, delegation.found, { at: claimed.at, domain: after }));
    });
  },
});

/** The refusal of a check: 409 for an external domain, 429 with `Retry-After` within the hour. */
function refuseCheck(check: Extract<ManualCheck, { ok: false }>): Refusal {
  if (check.code === 'not_managed') return conflict('an external domain is proven by its TXT record');
  const seconds = Math.ceil(check.waitMs / 1_000);
  const sentence = `nameservers were checked within the hour; again in ${seconds} s`;
  return new Refusal(429, sentence, { 'retry-after': String(seconds) });
}

/** The answer of a check made at `at`. */
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

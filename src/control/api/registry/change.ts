/** What changes of consumers, keys, usage plans and token issuers have in common: who may make them, partial updates, publication. */
import { isObject } from '../../../base/text/json-object.ts';
import type { Fields, Form } from '../../../rules/model/form.ts';
import { checkFeature } from '../../accounts/entitlements.ts';
import { settleExhausted } from '../../registry/exhausted.ts';
import type { ConsumerHead } from '../../store/registry/consumers.ts';
import { readBody } from '../operation/read-request.ts';
import { conflict } from '../operation/refusal.ts';
import type { AuditEntry, Writing } from '../operation/route.ts';

const gate = checkFeature('gateways_enabled');

/** Who reads. A role that may not is answered 404, as for rules. */
export const VIEWS = { permission: 'domain.view', hides: true } as const;
/** Who adds and changes. */
export const CHANGES = { permission: 'rules.edit', hides: true, gate } as const;
/** Who removes and revokes, whatever the plan of the domain includes. */
export const REMOVES = { permission: 'rules.edit', hides: true } as const;

/** The fields of an object after a partial update: those left out are as before. @throws Refusal 400 */
export function readChange<F extends Fields, Out>(form: Form<F, Out>, before: object, input: unknown): Out {
  return readBody(form, isObject(input) ? { ...before, ...input } : input);
}

/** Users of an object that a message names. */
export const NAMED_USERS = 5;

/**
 * Names in a message, at most `NAMED_USERS` of them. @param names one more than are named, if there are more
 */
export function namesText(names: readonly string[]): string {
  const named = names
    .slice(0, NAMED_USERS)
    .map((name) => `\`${name}\``)
    .join(', ');
  return names.length > NAMED_USERS ? `${named} and others` : named;
}

/** Checks the number of objects of a domain before one is added. @throws Refusal 409 */
export function judgeRoom(
  what: string,
  { there, most }: { readonly there: number; readonly most: number },
): void {
  if (there >= most) throw conflict(`at most ${most} ${what} are possible, and there are ${there}`);
}

/** Audits a change and publishes the registry of the domain. No rule has changed, so the change waits in no draft. */
export async function recordChange(w: Writing, entry: AuditEntry, what: string): Promise<void> {
  await w.audit(entry);
  await w.publishLists(what, [w.domain]);
}

/**
 * Stores the quotas that are exhausted after a change of a usage plan, or of the consumer alone, so that the change is published with
 * them.
 */
export async function settleQuotas({ tx, domain, now }: Writing, consumer?: ConsumerHead): Promise<void> {
  await settleExhausted(tx, domain, consumer === undefined ? { now } : { now, consumer });
}

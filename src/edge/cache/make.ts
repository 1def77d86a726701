/** Entries out of what an origin answers. */
import type { CacheDirective } from '../../evaluator/index.ts';
import { headerOf, type ResponseHead } from '../response.ts';
import { type Entry, isShared, isValidatable } from './entry.ts';
import { freshenedHeaders, keptHeaders, validatorsOf, withLength } from './headers.ts';
import { type Plan, planFor } from './policy.ts';
import { varyNames } from './vary.ts';

/** What will be an entry once its body is whole. */
export interface Draft {
  readonly entry: Omit<Entry, 'body' | 'length'>;
  readonly names: readonly string[];
  /** Octets of the body as announced; `null`: not known. */
  readonly announced: number | null;
}

export interface Answered {
  readonly head: Pick<ResponseHead, 'status' | 'headers'>;
  readonly directive: CacheDirective;
  readonly authorized: boolean;
  readonly epoch: number;
  readonly sentAt: number;
  readonly now: number;
}

/** A draft of an answer that may be kept and is worth it; `null`: it is not. */
export function draftOf(answered: Answered): Draft | null {
  const { head, now } = answered;
  const plan = planFor(answered);
  const names = varyNames(head.headers);
  if (plan === null || names === null) return null;
  const headers = keptHeaders({ headers: head.headers, omit: plan.omit, now });
  const draft = { entry: entryOf(answered, plan, headers), names, announced: announcedLength(head) };
  // Without a lifetime or a way to ask whether it changed, an entry could never be used.
  const useful = isShared(draft.entry) || isValidatable(draft.entry) || plan.life.staleWhileRevalidate > 0;
  return useful || (plan.life.staleIfError ?? 0) > 0 ? draft : null;
}

function entryOf(answered: Answered, { life }: Plan, headers: readonly string[]): Draft['entry'] {
  const { directive, epoch, head } = answered;
  return {
    status: head.status,
    headers,
    life,
    validators: validatorsOf(headers),
    terms: { epoch, mode: directive.mode, edgeTtl: directive.edgeTtl },
    prepared: { browserTtl: null, headers },
  };
}

/** The head of an entry whose body came to its end. */
export function finished({ entry }: Draft, length: number): Omit<Entry, 'body'> {
  const headers = entry.status === 204 ? entry.headers : withLength(entry.headers, length);
  return { ...entry, headers, length, prepared: { browserTtl: null, headers } };
}

/** An entry after the origin said that it is unchanged (RFC 9111 §4.3.4); `keep` is `false` where it may not stay. */
export function freshened(
  held: Entry,
  answered: Answered,
): { readonly entry: Entry; readonly keep: boolean } {
  const { head, now } = answered;
  const merged = freshenedHeaders(held.headers, { headers: head.headers, omit: [], now });
  const age = headerOf(head.headers, 'age');
  const seen = { status: held.status, headers: age === null ? merged : [...merged, 'Age', age] };
  const plan = planFor({ ...answered, head: seen });
  if (plan === null) {
    const entry = { ...held, headers: merged, prepared: { browserTtl: null, headers: merged } };
    return { entry, keep: false };
  }
  const headers = keptHeaders({ headers: merged, omit: plan.omit, now });
  const made = entryOf({ ...answered, head: seen }, plan, headers);
  return { entry: { ...made, body: held.body, length: held.length }, keep: true };
}

/** Whether a 304 speaks of another answer than the one held (its strong tag is another). */
export function isOther({ validators }: Entry, headers: readonly string[]): boolean {
  const tag = headerOf(headers, 'etag');
  return tag !== null && validators.etag !== null && opaque(tag) !== opaque(validators.etag);
}

function opaque(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}

function announcedLength({ status, headers }: Answered['head']): number | null {
  if (status === 204) return 0;
  const length = headerOf(headers, 'content-length');
  // A length that is none has been refused where the answer was read.
  return length === null || !Number.isSafeInteger(Number(length)) ? null : Number(length);
}

/**
 * The order in which a request is judged, in one place (semantics §6):
 * 401 key → 429 budget → 403 read-only → 403 blocked surface → 404 path or domain not visible (405 method) → role
 * (404 on rules, else 403) → 403 plan. Then the body (400) and the handler, and at the end of a write 409.
 * `admit` runs at the door, before the body is read; `judgeDomain` once more inside every write.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { authenticate, presentedHash } from '../access/authenticate.ts';
import { blockedSurface } from '../access/blocked.ts';
import { type Entitlements, resolveEntitlements } from '../access/entitlements.ts';
import { mayDo, type Role } from '../access/roles.ts';
import { normalizeName } from '../base/host.ts';
import type { DomainRow } from '../store/rows.ts';
import type { ReadTransaction } from '../store/store.ts';
import { badRequest, forbidden, invalidKey, notFound, overBudget, Refusal, readOnlyKey } from './refusal.ts';
import type { Caller, Method, Route } from './route.ts';
import type { Services } from './services.ts';

/** A request as far as it is known before its body. */
export interface Arrival {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Decoded; `null` when an escape of the path is broken. */
  readonly segments: readonly string[] | null;
  readonly params: Readonly<Record<string, string>>;
  /** `null`: no route takes this method here. */
  readonly route: Route | null;
  /** The methods that routes take at this path. */
  readonly methods: () => readonly Method[];
  /** Told who asks as soon as it is known. */
  readonly onCaller: (caller: Caller) => void;
  readonly now: number;
}

/** The domain of a path and what the caller is there. */
export interface Place {
  readonly domain: DomainRow;
  readonly role: Role;
  entitlements(): Promise<Entitlements>;
}

export interface Admission {
  readonly caller: Caller;
  readonly place: Place | null;
}

const READING: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** Whether a method only reads. */
export function onlyReads(method: string): boolean {
  return READING.includes(method);
}

/** Judges everything that needs no body; throws the refusal. */
export async function admit(services: Services, arrival: Arrival): Promise<Admission> {
  const { method, now, segments, route } = arrival;
  const caller = await identify(services, arrival);
  arrival.onCaller(caller);
  services.uses.note(caller.key_id, now);
  const wait = services.budget.take(caller.key_id, now);
  if (wait > 0) throw overBudget(wait);
  if (caller.read_only && !onlyReads(method)) throw readOnlyKey();
  const blocked = segments === null ? null : blockedSurface(method, segments);
  if (blocked !== null) throw forbidden(blocked);
  if (segments === null) throw badRequest('the path must be percent-encoded UTF-8');
  if (route === null) {
    const methods = arrival.methods();
    if (method !== 'OPTIONS' || methods.length === 0) throw refuseRoute(methods);
    return { caller, place: null };
  }
  const domain = arrival.params['domain'];
  if (domain === undefined) return { caller, place: null };
  const latest = services.store.latest;
  return { caller, place: await judgeDomain(services, { tx: latest, caller, route, domain, now }) };
}

async function identify(services: Services, { headers, now }: Arrival): Promise<Caller> {
  const hash = presentedHash(headers);
  const credential = hash === null ? null : await authenticate(services.store.latest.keys, { hash, now });
  if (credential === null) throw invalidKey();
  return credential;
}

function refuseRoute(methods: readonly Method[]): Refusal {
  if (methods.length === 0) return notFound();
  const allowed = allowHeader(methods);
  return new Refusal(405, `this path takes ${allowed}`, { allow: allowed });
}

/** The value of `Allow`: HEAD goes with GET, OPTIONS with everything. */
export function allowHeader(methods: readonly Method[]): string {
  return [...methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'].join(
    ', ',
  );
}

export interface DomainQuestion {
  readonly tx: ReadTransaction;
  readonly caller: Caller;
  readonly route: Route;
  /** As the path has it. */
  readonly domain: string;
  readonly now: number;
}

/** Visibility, role and plan, in that order; throws the refusal. */
export async function judgeDomain(
  services: Pick<Services, 'tier'>,
  { tx, caller, route, domain: written, now }: DomainQuestion,
): Promise<Place> {
  const name = normalizeName(written);
  const seen = name === null ? null : await tx.domains.seenBy(caller.account_id, name);
  if (seen === null || seen.role === null) throw notFound();
  const { domain, role } = seen;
  const { permission } = route;
  if (permission !== null && permission !== 'open' && !mayDo(role, permission)) {
    if (route.hides === true) throw notFound();
    throw forbidden(`role \`${role}\` lacks the permission \`${permission}\``);
  }
  const entitlements = once(async () => {
    const subscription = await tx.subscriptions.get(domain.id);
    return resolveEntitlements({ domain, subscription, fallback: services.tier, now });
  });
  const closed = (await route.gate?.({ tx, domain, entitlements })) ?? null;
  if (closed !== null) throw forbidden(closed);
  return { domain, role, entitlements };
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | null = null;
  return () => {
    result ??= work();
    return result;
  };
}

/**
 * The order in which a request is judged, in one place (semantics §6):
 * 401 key → 429 budget → 403 read-only → 403 blocked surface → 404 path or domain not visible (405 method) → role
 * (404 on rules, else 403) → 403 plan. Then the body (400) and the handler, and at the end of a write 409.
 * `admit` runs at the door, before the body is read; `judgeDomain` once more inside every write.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { authenticate, isExpired, presentedHash, presentsKey } from '../access/authenticate.ts';
import { blockedSurface } from '../access/blocked.ts';
import { type Entitlements, resolveEntitlements } from '../access/entitlements.ts';
import { mayDo, type Role } from '../access/roles.ts';
import { normalizeName } from '../base/host.ts';
import type { DomainRow } from '../store/rows.ts';
import type { ReadTransaction } from '../store/store.ts';
import { badRequest, forbidden, invalidKey, notFound, overBudget, Refusal, readOnlyKey } from './refusal.ts';
import type { ApiRoute, Caller, Method } from './route.ts';
import type { Services } from './services.ts';

/** A request before it is known what it is about. */
export interface Presented {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly segments: readonly string[];
  /** Told who asks as soon as it is known. */
  readonly onCaller: (caller: Caller) => void;
  readonly now: number;
}

/** A request as far as it is known before its body. */
export interface RequestArrival extends Presented {
  readonly params: Readonly<Record<string, string>>;
  /** `null`: no route takes this method here. */
  readonly route: ApiRoute | null;
  /** A route would take this path if it named a domain, and says so. */
  readonly missesDomain: boolean;
  /** The methods that routes take at this path. */
  readonly methods: () => readonly Method[];
  /** The path that was very likely meant, where no route takes this one. */
  readonly pathMeant: () => string | null;
}

/** The domain of a path and what the caller is there. */
export interface MatchedRoute {
  readonly domain: DomainRow;
  readonly role: Role;
  entitlements(): Promise<Entitlements>;
}

interface Identified {
  readonly caller: Caller;
  /** The store's version before anything was asked for it; `null` where that cannot be told. */
  readonly version: number | null;
}

export interface ApiAdmission extends Identified {
  readonly place: MatchedRoute | null;
}

const READING: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** Whether a method only reads. */
export function onlyReads(method: string): boolean {
  return READING.includes(method);
}

/** Whether a route only reads, by its method or as a question with a body. */
export function isRead({ method, asks }: Pick<ApiRoute, 'method' | 'asks'>): boolean {
  return asks === true || onlyReads(method);
}

/**
 * Admits one request of a caller that the store authenticated: the key's end by the clock, then its budget, of which it
 * takes one request, and counts a use of the key. No query: cached and uncached answers share it. `expired` and
 * `over_budget` take and count nothing.
 */
export function admitKnownCaller(
  { budget, uses }: Pick<Services, 'budget' | 'uses'>,
  caller: Caller,
  now: number,
): 'admitted' | 'expired' | 'over_budget' {
  if (isExpired(caller, now)) return 'expired';
  if (budget.take(caller.key_id, now) > 0) return 'over_budget';
  uses.note(caller.key_id, now);
  return 'admitted';
}

/** Judges what comes before any route: the key, its budget, what no key may do; throws the refusal. */
export async function admitCaller(services: Services, arrival: Presented): Promise<Identified> {
  const { method, now, segments } = arrival;
  const { caller, version } = await identify(services, arrival);
  arrival.onCaller(caller);
  const standing = admitKnownCaller(services, caller, now);
  if (standing === 'expired') throw invalidKey(true);
  if (standing === 'over_budget') {
    const { budget, uses } = services;
    // A refused request is a use of the key all the same.
    uses.note(caller.key_id, now);
    const wait = await budget.spend(caller.key_id, now);
    if (wait > 0) throw overBudget(wait);
  }
  if (caller.read_only && !onlyReads(method)) throw readOnlyKey();
  const blocked = blockedSurface(method, segments);
  if (blocked !== null) throw forbidden(blocked);
  return { caller, version };
}

/** Judges everything that needs no body; throws the refusal. */
export async function admit(services: Services, arrival: RequestArrival): Promise<ApiAdmission> {
  const { method, now, route } = arrival;
  const { caller, version } = await admitCaller(services, arrival);
  if (route === null) {
    if (arrival.missesDomain) throw badRequest('domain: is missing');
    const methods = arrival.methods();
    if (method !== 'OPTIONS' || methods.length === 0) throw refuseRoute(methods, arrival.pathMeant);
    return { caller, version, place: null };
  }
  const domain = arrival.params['domain'];
  if (domain === undefined) return { caller, version, place: null };
  const { looked: tx } = services.store;
  return { caller, version, place: await judgeDomain(services, { tx, caller, route, domain, now }) };
}

/** Looks at the store's version once for all that is asked before the handler. */
async function identify({ store }: Services, { headers, now }: Presented): Promise<Identified> {
  const hash = presentedHash(headers);
  if (hash === null) throw invalidKey(presentsKey(headers));
  const version = store.version();
  const caller = await authenticate(store.looked.keys, { hash, now });
  if (caller === null) throw invalidKey(true);
  return { caller, version };
}

/** What no route takes: 404 where there is no such path, else 405. */
export function refuseRoute(methods: readonly Method[], pathMeant?: () => string | null): Refusal {
  if (methods.length === 0) {
    const meant = pathMeant?.() ?? null;
    return meant === null ? notFound() : new Refusal(404, `not found; the path is \`${meant}\``);
  }
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
  readonly route: ApiRoute;
  /** As the path has it. */
  readonly domain: string;
  readonly now: number;
}

/** Visibility, role and plan, in that order; throws the refusal. */
export async function judgeDomain(
  services: Pick<Services, 'tier'>,
  { tx, caller, route, domain: written, now }: DomainQuestion,
): Promise<MatchedRoute> {
  const name = normalizeName(written);
  const seen = name === null ? null : await tx.domains.seenBy(caller.account_id, name);
  if (seen === null || seen.role === null) throw notFound();
  const { domain, role } = seen;
  const { permission } = route;
  if (permission !== null && !mayDo(role, permission)) {
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

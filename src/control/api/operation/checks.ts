/**
 * The order of all checks of a request (semantics §6):
 * 401 key → 429 budget → 403 read-only → 403 blocked surface → 404 path or domain not visible (405 method) → role
 * (404 on rules, else 403) → 403 plan. Then the body (400) and the handler, and at the end of a write 409.
 * `admit` runs before the body is read; `judgeDomain` runs again inside every write transaction.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { normalizeName } from '../../../base/addresses/host.ts';
import { authenticate, isExpired, presentedHash, presentsKey } from '../../accounts/authenticate.ts';
import { type Entitlements, resolveEntitlements } from '../../accounts/entitlements.ts';
import { blockedSurface, mayDo, type Role } from '../../accounts/roles.ts';
import type { ReadTransaction } from '../../store/store.ts';
import type { DomainRow } from '../../store/tables/domains.ts';
import { badRequest, forbidden, invalidKey, notFound, overBudget, Refusal, readOnlyKey } from './refusal.ts';
import type { ApiRoute, Caller, Method, Services } from './route.ts';

/** The part of a request that authentication needs. */
export interface Presented {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Decoded segments of the path. */
  readonly segments: readonly string[];
  /** Called with the caller once the key is authenticated, also where a later check refuses the request. */
  readonly onCaller: (caller: Caller) => void;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A request before its body is read. */
export interface RequestArrival extends Presented {
  readonly params: Readonly<Record<string, string>>;
  /** `null`: no route accepts this method at this path. */
  readonly route: ApiRoute | null;
  /** The path matches a route but for its empty `{domain}`, which that route answers with 400. */
  readonly missesDomain: boolean;
  /** The methods that routes accept at this path. */
  readonly methods: () => readonly Method[];
  /** The path of the table that differs from this one only in spelling; `null`: the table has none. */
  readonly pathMeant: () => string | null;
}

/** The domain of a path and the caller's role on it. */
export interface MatchedRoute {
  readonly domain: DomainRow;
  readonly role: Role;
  entitlements(): Promise<Entitlements>;
}

/** An authenticated request. */
interface Identified {
  readonly caller: Caller;
  /** The store's version before the first query of the request; `null`: the store has none. */
  readonly version: number | null;
}

/** A request that passed every check before its body. `place`: `null` where the path names no domain. */
export interface ApiAdmission extends Identified {
  readonly place: MatchedRoute | null;
}

/** Safe methods. */
const READING: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** Whether a method is safe (RFC 9110 §9.2.1). */
export function onlyReads(method: string): boolean {
  return READING.includes(method);
}

/** Whether a route changes nothing: by its method, or as a query with a body. */
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

/** The checks that need no route: key, budget, read-only keys, blocked surfaces. @throws Refusal */
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

/** All checks that need no body. @throws Refusal */
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

/**
 * Authenticates the key. The store's version is read first, so that it covers every later query. @throws Refusal 401
 */
async function identify({ store }: Services, { headers, now }: Presented): Promise<Identified> {
  const hash = presentedHash(headers);
  if (hash === null) throw invalidKey(presentsKey(headers));
  const version = store.version();
  const caller = await authenticate(store.looked.keys, { hash, now });
  if (caller === null) throw invalidKey(true);
  return { caller, version };
}

/** The refusal where no route matches: 404 for an unknown path, else 405 with `Allow`. */
export function refuseRoute(methods: readonly Method[], pathMeant?: () => string | null): Refusal {
  if (methods.length === 0) {
    const meant = pathMeant?.() ?? null;
    return meant === null ? notFound() : new Refusal(404, `not found; the path is \`${meant}\``);
  }
  const allowed = allowHeader(methods);
  return new Refusal(405, `this path takes ${allowed}`, { allow: allowed });
}

/** The value of `Allow` (RFC 9110 §10.2.1): GET implies HEAD, and every path accepts OPTIONS. */
export function allowHeader(methods: readonly Method[]): string {
  return [...methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'].join(
    ', ',
  );
}

/** What `judgeDomain` checks. */
export interface DomainQuestion {
  readonly tx: ReadTransaction;
  readonly caller: Caller;
  readonly route: ApiRoute;
  /** The decoded segment of the path, not yet canonical. */
  readonly domain: string;
  readonly now: number;
}

/** Checks visibility (404), role (403 or 404) and entitlements (403), in that order. @throws Refusal */
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

/** A function that runs `work` at its first call and returns the same promise at each. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | null = null;
  return () => {
    result ??= work();
    return result;
  };
}

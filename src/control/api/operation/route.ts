/**
 * The types of a route. `control/api/routes.ts` lists all routes; a file in `control/api/routes/` has the operations of one group: schema and
 * handler. `checks.ts` and `control/api/run.ts` make the checks of semantics §6 (key, budget, read-only, blocked surface, visibility,
 * role, plan, body, disabled domain) around the handler, as the route declares them, so a handler only does its own work:
 *
 * ```ts
 * // routes/example.ts
 * export const rename = operation({
 *   summary: 'Rename a thing',
 *   body: formBody(renameForm),                       // read before the handler, 400 when wrong
 *   response: thingShape,
 *   async handle(call) {
 *     return call.write(async (w) => {                  // one transaction; key, role and gates checked again in it
 *       const before = await w.tx.…;
 *       if (before === null) throw notFound();
 *       w.match(shape(before));                         // If-Match → 412
 *       const after = await w.tx.…;
 *       await w.audit({ action: 'thing.rename', subject: 'thing/7', before, after });
 *       await w.publish('thing renamed');               // outbox row; `?wait=published` waits for it
 *       return ok(shape(after));
 *     });
 *   },
 * });
 * // routes.ts
 * { method: 'PUT', path: '/domains/{domain}/things/{thingId}', permission: 'rules.edit', ...things.rename },
 * ```
 */
import type { z } from 'zod';
import type { SpecialJudge } from '../../../base/addresses/special-addresses.ts';
import type { EntitlementCheck, Entitlements } from '../../accounts/entitlements.ts';
import type { KeyUses } from '../../accounts/key-uses.ts';
import type { RequestBudget } from '../../accounts/request-budget.ts';
import type { Permission, Role } from '../../accounts/roles.ts';
import type { TierSlug } from '../../accounts/tiers.ts';
import type { OverQuota } from '../../billing/quota.ts';
import type { KeyRing } from '../../certificates/key-ring.ts';
import type { Compute, JobKind, JobOf, JobResults, SealedSignatures } from '../../compute/job.ts';
import type { DomainLookups } from '../../domains/requests.ts';
import type { LogStore } from '../../logs/log-store.ts';
import type { LogIntake } from '../../logs/take-batch.ts';
import type { Outlets } from '../../notices/outlets.ts';
import type { Feed } from '../../publishing/feed.ts';
import type { PublisherLog } from '../../publishing/log.ts';
import type { RecentOctets } from '../../publishing/recent-octets.ts';
import type { Signer } from '../../publishing/signer.ts';
import type { ReachedDomain } from '../../store/repositories/list-uses.ts';
import type { ReadTransaction, Store, WriteTransaction } from '../../store/store.ts';
import type { Author } from '../../store/tables/accounts.ts';
import type { DomainRow } from '../../store/tables/domains.ts';
import type { RevisionRow } from '../../store/tables/plans.ts';
import type { Retention } from '../../traffic/retention.ts';
import type { TrafficThread } from '../../traffic/thread.ts';
import type { ZoneService } from '../../zones/zone-service.ts';

/** The methods of routes; HEAD and OPTIONS are derived. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The body that an operation takes. */
export type BodyReader<Body> =
  /** JSON, read before the handler runs; `formBody` of `read-request.ts` makes one from a form of `model`. */
  | { readonly kind: 'read'; readonly schema: z.ZodType; readonly read: (body: unknown) => Body }
  /**
   * JSON that the handler reads inside its transaction (`readBody`, `parseRule`), because its validity depends on rows;
   * the handler gets the parsed value unchanged. The schema is for the OpenAPI document.
   */
  | { readonly kind: 'raw'; readonly schema: z.ZodType }
  /**
   * JSON, or a text of one of `types`, of at most `MAX_LARGE_BODY_OCTETS`; the handler gets the octets as a Buffer, unread, since
   * reading them blocks the thread of the API too long. The schema is for the OpenAPI document.
   */
  | { readonly kind: 'large'; readonly schema: z.ZodType; readonly types?: readonly string[] }
  /** A text of one of these content types, valid UTF-8. */
  | { readonly kind: 'text'; readonly types: readonly string[] };

/** One operation without its method and path: what a file in `routes/` exports. */
export interface Operation<Body = unknown> {
  /** One line for the OpenAPI document. */
  readonly summary: string;
  /** Absent: the request has no body (`{}` is accepted). */
  readonly body?: BodyReader<Body>;
  /** Query parameters besides `validate_only` and `wait`, which every write has. */
  readonly query?: z.ZodObject;
  /** The body of the 200; for another content type see `produces`. */
  readonly response: z.ZodType;
  /** The status instead of 200: the request was accepted and takes effect later. */
  readonly status?: 202;
  /** The content type of the 200 where it is not JSON. */
  readonly produces?: string;
  /** The answer depends on path, key and store only, not on the time or the query: `control/api/response-cache.ts` may store it. */
  readonly cacheable?: true;
  /** Statuses of this operation besides those that every operation of its kind can have, for the OpenAPI document. */
  readonly statuses?: readonly number[];
  /**
   * PERF: a query that a write makes concurrently with the checks inside its transaction; the handler awaits the result
   * as `Writing.beside`, which also throws the error of the query, after every check.
   */
  readonly beside?: (asked: Beside) => Promise<unknown>;
  handle(call: Call<Body>): Promise<Response>;
}

/** The input of `Operation.beside`, which runs before the checks have their results. */
export interface Beside {
  readonly tx: ReadTransaction;
  /** The domain of the path when the request arrived. */
  readonly domain: Pick<DomainRow, 'id'>;
  readonly params: Readonly<Record<string, string>>;
}

/** An operation with its method and path: one line of `control/api/routes.ts`. */
export interface ApiRoute extends Operation {
  readonly method: Method;
  /** `{name}` is a variable segment; the domain of `{domain}` is read before the handler runs. */
  readonly path: string;
  /** The permission that the role on `{domain}` needs; `null` where the path names no domain. */
  readonly permission: Permission | null;
  /** An insufficient role answers 404, not 403 (rule endpoints). */
  readonly hides?: true;
  /** The check of the entitlements, made before the body is read and again inside the write. */
  readonly gate?: EntitlementCheck;
  /** A POST that changes nothing: read-only keys are refused, but the parameters and checks of writes do not apply. */
  readonly asks?: true;
  /** Where `{domain}` is empty the answer is 400, not 404 (API document, "Errors"). */
  readonly missesDomain?: true;
  /** A write that a `disabled` domain accepts. */
  readonly whileDisabled?: true;
}

/** Types the handler by its body; the table has all operations without this type. */
export function operation<Body = undefined>(parts: Operation<Body>): Operation {
  return parts as Operation;
}

/** The authenticated key of a request. */
export interface Caller extends Author {
  readonly account_id: number;
  readonly key_id: number;
  /** SHA-256 of the key, for the later checks of the same key. */
  readonly hash: string;
  readonly read_only: boolean;
  /** When the key ends, milliseconds since the epoch; `null` for never. */
  readonly expires_at: number | null;
}

/** One request as its handler sees it. */
export interface Call<Body> {
  readonly services: Services;
  readonly caller: Caller;
  /** When the request arrived, milliseconds since the epoch. */
  readonly now: number;
  /** Percent-decoded segments by name. */
  readonly params: Readonly<Record<string, string>>;
  /** The output of the operation's `query` schema. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Body;
  /** The domain of the path and the caller's role when the request arrived. Only where the path names a domain. */
  readonly domain: DomainRow;
  readonly role: Role;
  entitlements(): Promise<Entitlements>;
  /** `?validate_only=true`: `write` commits nothing, and the handler must have no other effect either. */
  readonly validateOnly: boolean;
  /** Reads single rows of the newest commit: the cheapest way to one row. */
  readonly latest: ReadTransaction;
  /** Reads from one snapshot. `control/api/run.ts` checks the key again before the answer, so a handler need not. */
  read<T>(work: (tx: ReadTransaction) => Promise<T>): Promise<T>;
  /**
   * One write transaction: checks key, domain, role and entitlements again inside it, refuses a `disabled` domain with
   * 409 after `work` (whose 400 comes first), commits nothing under `?validate_only=true`. `work` may run twice.
   */
  write<T>(work: (writing: Writing) => Promise<T>): Promise<T>;
  /** Aborts when the connection closes: nobody waits for the answer. */
  readonly gone: AbortSignal;
  /**
   * Runs a job of the caller in a compute thread (`compute/pool.ts`); one that waits is dropped when the client has gone.
   * @throws ComputeFault, StoreFault
   */
  compute<Kind extends JobKind>(kind: Kind, prepare: () => Promise<JobOf<Kind>>): Promise<JobResults[Kind]>;
}

/** One write transaction as its handler sees it. */
export interface Writing {
  readonly tx: WriteTransaction;
  /** Locked until the commit, as are the role and the entitlements. Only where the path names a domain. */
  readonly domain: DomainRow;
  readonly role: Role;
  entitlements(): Promise<Entitlements>;
  /** The account and key that the audit log and the outbox name. */
  readonly author: Pick<Caller, 'account_id' | 'key_id'>;
  /** Milliseconds since the epoch, when the transaction began. */
  readonly now: number;
  /** The result of the operation's `beside`; `null`: it has none, or the name belongs to another domain now. */
  readonly beside: Promise<unknown> | null;
  /** The country of an address, ISO 3166-1 alpha-2; `null`: unknown, or no geo database is configured. */
  countryOf(address: string): string | null;
  readonly specialOrigin: SpecialJudge;
  /** Whether the request has `If-Match`; without it the representation for `match` need not be read. */
  readonly conditional: boolean;
  /** Compares `If-Match` with the ETag that a GET would have now (RFC 9110 §13.1.1). @throws Refusal 412 */
  match(representation: unknown): void;
  /** Appends entries to the audit log, in this order. */
  audit(...entries: readonly AuditEntry[]): Promise<void>;
  /** Appends the outbox row that makes the publisher compile: needed for every change of what the edge does. */
  publish(reason: string, domain?: Pick<DomainRow, 'id' | 'name'>): Promise<void>;
  /**
   * As `publish`, for a change of rules: where the domain publishes by hand, the change waits in its draft, and `?wait=published`
   * does not wait for it. `null`: the stored rules are as requested already.
   */
  publishRules(reason: string | null): Promise<void>;
  /**
   * As `publish`, for a change of the content of lists, which reaches all these domains at once: no rule has changed, so it is no
   * change of a draft.
   */
  publishLists(reason: string, domains: readonly ReachedDomain[]): Promise<void>;
  /**
   * As `publish`, for a row of the path's domain that the lifecycle appended in this transaction: `?wait=published` waits
   * for the revision that covers it. `null`: none was appended.
   */
  waitFor(outboxId: number | null): void;
}

/** One entry of the audit log. */
export interface AuditEntry {
  /** `<noun>.<verb>`, such as `rule.update`. */
  readonly action: string;
  /** `<type>/<id>`; empty for the domain itself. */
  readonly subject?: string;
  /** The JSON values of a GET before and after; absent: the object did not exist, or does not any more. */
  readonly before?: unknown;
  readonly after?: unknown;
  /** The domain, where the path names none. */
  readonly domain?: Pick<DomainRow, 'id' | 'name'>;
}

/** The answer of a handler; its operation defines the status. */
export interface Response {
  readonly body: unknown;
  /** The value that the ETag is computed from, where the body has fields that change with time (`seconds_remaining`). */
  readonly tagged?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body is a text, or octets, of this content type. */
  readonly type?: string;
}

/** A JSON answer. */
export function ok(body: unknown): Response {
  return { body };
}

/** The content type of JSON answers. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** A body that is JSON text already. */
export function jsonText(body: string, headers: Readonly<Record<string, string>> = {}): Response {
  return { body, type: JSON_TYPE, headers };
}

/** The `{ message }` object. */
export function message(text: string): Response {
  return { body: { message: text } };
}

// The services that the API needs, created by its caller. Everything outside the process is one of them, so tests can replace it.

/** The services of routes for customers. */
export interface Services {
  readonly store: Store;
  readonly lifecycle: DomainLookups;
  readonly publication: PublicationService;
  /** Why nodes refuse the revisions of this store, as a sentence; `null`: they accept them. Absent: no node follows it. */
  readonly aheadOfStore?: () => string | null;
  readonly budget: RequestBudget;
  readonly uses: KeyUses;
  /** The tier of domains without a subscription in force. */
  readonly tier: TierSlug;
  /** What happens to traffic over a quota. */
  readonly overQuota: OverQuota;
  /** Accepts names under no public suffix and special-use names too, such as `shop.test`. */
  readonly privateNames: boolean;
  readonly specialOrigin: SpecialJudge;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** The country of an address, ISO 3166-1 alpha-2; absent: no geo database is configured. */
  readonly countryOf?: (address: string) => string | null;
  /** The signatures for simulations of `waf` rules; absent: a simulation inspects nothing and reports that. */
  readonly signaturesFor?: (plan: Uint8Array) => Promise<SealedSignatures | null>;
  /** How long traffic is stored by minute, hour and day; absent: `USUAL_RETENTION`. */
  readonly trafficRetention?: Retention;
  /** Sends codes to new addresses of accounts; absent: the server sends none. */
  readonly codes?: Outlets['codes'];
  /** The threads for answers whose computation would block the API's thread. */
  readonly compute: Compute;
  /** The decisions that nodes have logged; absent: the server stores none. */
  readonly logs?: LogStore;
  /** The secrets keys, which private keys of certificates are encrypted with; `null`: the server has none. */
  readonly secretsKey?: KeyRing | null;
  /** Whether the server obtains certificates. */
  readonly issues?: boolean;
  /** The zones of managed domains; absent: the server serves none. */
  readonly zones?: ZoneService;
}

/** The part of the publisher that the API needs. */
export interface PublicationService {
  /**
   * Resolves with the revision that covers an outbox row once it is published, or with `null` when `signal` aborts first.
   */
  waitForOutbox(
    domain: Pick<DomainRow, 'id' | 'name'>,
    outboxId: number,
    signal: AbortSignal,
  ): Promise<RevisionRow | null>;
}

/** The services of routes for nodes. */
export interface NodeRouteServices {
  readonly store: Store;
  readonly feed: Feed;
  readonly signer: Pick<Signer, 'signSelf' | 'signPurges'>;
  /** What nodes have fetched last. */
  readonly octets: RecentOctets;
  readonly log: PublisherLog;
  /** The secrets keys, which private keys of certificates are encrypted with; `null`: the server has none. */
  readonly secretsKey?: KeyRing | null;
  /** Opens and checks the traffic that nodes report. */
  readonly traffic: Pick<TrafficThread, 'check'>;
  /** Absent: entries of decision logs are dropped. */
  readonly logs?: LogIntake;
  /** Called for each report that is refused as implausible, for metrics. */
  readonly onReportRefused?: () => void;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

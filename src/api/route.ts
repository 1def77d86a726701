/**
 * What a route is. `routes.ts` lists every one of them; a file in `routes/` holds the operations of one group: schema
 * and handler. The checks of semantics §6 (key, budget, read-only, blocked surface, visibility, role, plan, body,
 * disabled domain) are made around the handler from what the route declares, in `checks.ts` and `run.ts`, so a
 * handler only does its own work:
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
 *       await w.publish('thing renamed');               // outbox; `?wait=published` follows it by itself
 *       return ok(shape(after));
 *     });
 *   },
 * });
 * // routes.ts
 * { method: 'PUT', path: '/domains/{domain}/things/{thingId}', permission: 'rules.edit', ...things.rename },
 * ```
 */
import type { z } from 'zod';
import type { EntitlementCheck } from '../access/entitlement-checks.ts';
import type { Entitlements } from '../access/entitlements.ts';
import type { Permission, Role } from '../access/roles.ts';
import type { SpecialJudge } from '../base/special-addresses.ts';
import type { Author, DomainRow } from '../store/rows.ts';
import type { ReadTransaction, WriteTransaction } from '../store/store.ts';
import type { Services } from './services.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a request's body must be. */
export type BodyReader<Body> =
  /** JSON, read before the handler runs; `formBody` of `read-body.ts` makes one from a form of `model`. */
  | { readonly kind: 'read'; readonly schema: z.ZodType; readonly read: (body: unknown) => Body }
  /**
   * JSON that the handler itself reads inside its transaction (`readBody`, `parseRule`), because the verdict needs
   * rows; it gets the parsed value as it came. The schema is for the OpenAPI document.
   */
  | { readonly kind: 'raw'; readonly schema: z.ZodType }
  /** A text of one of these content types, valid UTF-8. */
  | { readonly kind: 'text'; readonly types: readonly string[] };

/** One operation without its place: what a file in `routes/` exports. */
export interface Operation<Body = unknown> {
  /** One line for the OpenAPI document. */
  readonly summary: string;
  /** Absent: the request carries none (`{}` is let through). */
  readonly body?: BodyReader<Body>;
  /** Query parameters besides `validate_only` and `wait`, which every write has. */
  readonly query?: z.ZodObject;
  /** The body of the 200; for another content type see `produces`. */
  readonly response: z.ZodType;
  /** What it answers instead of 200: the request was accepted and takes effect later. */
  readonly status?: 202;
  /** The content type of the 200 where it is not JSON. */
  readonly produces?: string;
  /** The answer follows from path, key and store alone, by no clock and no query: it may be sent again (`kept.ts`). */
  readonly cacheable?: true;
  /** Statuses of this operation besides those every operation of its kind can answer. */
  readonly statuses?: readonly number[];
  /**
   * What a write reads first, asked for in one go with the checks that are made again inside it; the handler finds it
   * as `Writing.beside`. What it throws is thrown there, after every check.
   */
  readonly beside?: (asked: Beside) => Promise<unknown>;
  handle(call: Call<Body>): Promise<Response>;
}

/** What can be asked for before the checks have been answered. */
export interface Beside {
  readonly tx: ReadTransaction;
  /** The domain of the path as it was when the request came. */
  readonly domain: Pick<DomainRow, 'id'>;
  readonly params: Readonly<Record<string, string>>;
}

/** An operation in its place: one line of `routes.ts`. */
export interface ApiRoute extends Operation {
  readonly method: Method;
  /** With `{name}` for a segment; `{domain}` is looked up before the handler runs. */
  readonly path: string;
  /** What the role on `{domain}` must have; `null` where the path names no domain. */
  readonly permission: Permission | null;
  /** An insufficient role answers 404, not 403 (rule endpoints). */
  readonly hides?: true;
  /** Judged before the body, and once more inside the write. */
  readonly gate?: EntitlementCheck;
  /** A POST that asks and changes nothing, so nothing of what writes have goes with it. */
  readonly asks?: true;
  /** Where `{domain}` is empty the answer is 400, not 404 (API document, "Errors"). */
  readonly missesDomain?: true;
  /** A write that a `disabled` domain accepts. */
  readonly whileDisabled?: true;
}

/** Types the handler by its body; the table holds it without. */
export function operation<Body = undefined>(parts: Operation<Body>): Operation {
  return parts as Operation;
}

/** Who asks: a key that has passed every check of its own. */
export interface Caller extends Author {
  readonly account_id: number;
  readonly key_id: number;
  /** SHA-256 of the key, to look again. */
  readonly hash: string;
  readonly read_only: boolean;
  /** When the key ends, milliseconds since the epoch; `null` for never. */
  readonly expires_at: number | null;
}

/** One request as its handler sees it. */
export interface Call<Body> {
  readonly services: Services;
  readonly caller: Caller;
  /** When it came, milliseconds since the epoch. */
  readonly now: number;
  /** Percent-decoded segments by name. */
  readonly params: Readonly<Record<string, string>>;
  /** What the operation's `query` schema made of the query. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Body;
  /** The domain of the path and the caller's role there, as they were when the request came. Only where there is one. */
  readonly domain: DomainRow;
  readonly role: Role;
  entitlements(): Promise<Entitlements>;
  /** `?validate_only=true`: `write` commits nothing; what happens beside it must not happen either. */
  readonly validateOnly: boolean;
  /** Reads row by row, each the newest commit: the cheapest way to one row. */
  readonly latest: ReadTransaction;
  /** Reads from one snapshot. The key is looked at once more before any answer, so no read needs to. */
  read<T>(work: (tx: ReadTransaction) => Promise<T>): Promise<T>;
  /**
   * One write transaction: looks at key, domain, role and gate again inside it, refuses a `disabled` domain with 409
   * after `work` had its say (400 comes first), commits nothing under `?validate_only=true`. `work` may run twice.
   */
  write<T>(work: (writing: Writing) => Promise<T>): Promise<T>;
}

/** What a write has at hand. */
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
  /** What the operation's `beside` answered; `null` where it has none, or the name has become another domain's. */
  readonly beside: Promise<unknown> | null;
  /** Where an address is; `null`: not known, or no geo database is configured. */
  countryOf(address: string): string | null;
  readonly specialOrigin: SpecialJudge;
  /** Whether `If-Match` was sent: without it nothing needs to be read for `match`. */
  readonly conditional: boolean;
  /** Compares `If-Match` with the ETag of what a GET would answer now; 412 when they differ. */
  match(representation: unknown): void;
  /** Leaves entries in the audit log, in this order. */
  audit(...entries: readonly AuditEntry[]): Promise<void>;
  /** Appends the outbox row that makes the publisher compile: needed for every change of what the edge does. */
  publish(reason: string, domain?: Pick<DomainRow, 'id' | 'name'>): Promise<void>;
  /**
   * As `publish`, for a row of the path's domain that the lifecycle appended in this transaction: `?wait=published` waits
   * for the revision that covers it. `null`: none was appended.
   */
  waitFor(outboxId: number | null): void;
}

export interface AuditEntry {
  /** `<noun>.<verb>`, such as `rule.update`. */
  readonly action: string;
  /** `<type>/<id>`; empty for the domain itself. */
  readonly subject?: string;
  /** JSON values as a GET shows them; absent where there is none. */
  readonly before?: unknown;
  readonly after?: unknown;
  /** Where the path names none. */
  readonly domain?: Pick<DomainRow, 'id' | 'name'>;
}

/** What a handler answers; the status is that of its operation. */
export interface Response {
  readonly body: unknown;
  /** What the ETag is made from, where the body holds what changes by itself (`seconds_remaining`). */
  readonly tagged?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body is a text of this content type. */
  readonly type?: string;
}

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

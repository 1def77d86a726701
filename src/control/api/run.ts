/**
 * Runs one admitted request: reads the body by the operation's reader, calls the handler with its `Call`, checks the key
 * again before a read is answered, and waits for the publication where `?wait=published` requests it.
 */
import { assert } from '../../base/diagnostics/assert.ts';
import { authenticate, isExpired } from '../accounts/authenticate.ts';
import { newestChange } from '../publishing/revisions.ts';
import type { ReadTransaction, WriteTransaction } from '../store/store.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import { namesTag, tagOf } from './operation/answer-fields.ts';
import { type ApiAdmission, isRead, judgeDomain, type MatchedRoute } from './operation/checks.ts';
import { PUBLISH_WAIT_MS } from './operation/limits.ts';
import { type ReadQuery, readQuery } from './operation/read-request.ts';
import { badRequest, conflict, invalidKey, Refusal } from './operation/refusal.ts';
import type { ApiRoute, AuditEntry, Call, Caller, Response, Services, Writing } from './operation/route.ts';

/** An admitted request. */
export interface Admitted {
  readonly route: ApiRoute;
  readonly admission: ApiAdmission;
  readonly params: Readonly<Record<string, string>>;
  /** Parsed, not yet validated. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: SentBody | null;
  readonly ifMatch: string | null;
  readonly now: number;
  /** Makes a signal that aborts when the connection closes; few requests need one. */
  readonly watchClient: () => AbortSignal;
}

/** The body of a request: parsed JSON, or the text of another content type. */
export interface SentBody {
  /** The media type in lower case, without parameters. */
  readonly type: string;
  readonly value: unknown;
}

/** The result of a request. */
export interface Ran {
  readonly answer: Response;
  /**
   * The store's version during the whole request, from admission to the last read; `null`: it changed, or the store has
   * none.
   */
  readonly version: number | null;
}

/** The outbox row whose publication `?wait=published` waits for. */
interface AppendedRow {
  readonly domain: Pick<DomainRow, 'id' | 'name'>;
  readonly id: number;
}

/** What the last transaction of a request has left behind. */
interface Left {
  /** What `?wait=published` waits for: a row for each domain that the change reaches. */
  rows: readonly AppendedRow[];
  /** The number of the draft that its changes of rules are in; `null`: they are published at once. */
  edit: number | null;
}

/** Runs an admitted request. @throws Refusal */
export async function run(services: Services, request: Admitted): Promise<Ran> {
  const { route, admission } = request;
  const query = readQuery(route, request.query);
  const body = bodyOf(route, request.body);
  const left: Left = { rows: [], edit: null };
  const answer = await route.handle(new RequestCall(services, request, { query, body, left }));
  if (isRead(route)) return { answer, version: await recheckKey(services, admission) };
  if (query.validateOnly) return { answer, version: null };
  if (left.edit !== null) return { answer: inDraft(answer, left.edit), version: null };
  if (left.rows.length === 0 || query.wait !== 'published') return { answer, version: null };
  const [revision, ...others] = await Promise.all(left.rows.map((row) => waitForRevision(services, row)));
  // Of a change that reaches several domains no revision is that of the change.
  if (others.length > 0) return { answer, version: null };
  const headers = { 'x-revision': String(revision), ...answer.headers };
  return { answer: { ...answer, headers }, version: null };
}

/** The answer to a change of rules that waits in a draft. */
function inDraft(answer: Response, edit: number): Response {
  return { ...answer, headers: { 'x-draft': String(edit), ...answer.headers } };
}

/**
 * Reads the body by the operation's reader. @throws Refusal 400 for a missing or unexpected body, 415 for another
 * content type
 */
function bodyOf({ body: wanted }: ApiRoute, sent: SentBody | null): unknown {
  if (wanted === undefined) {
    if (sent === null || isEmpty(sent.value)) return undefined;
    throw badRequest('this request takes no body');
  }
  if (sent === null) throw badRequest('the body is missing');
  const isText = wanted.kind === 'text' || wanted.kind === 'large';
  const { types = ['application/json'] } = isText ? wanted : {};
  if (!types.includes(sent.type)) {
    const named = types.map((type) => `\`${type}\``).join(' or ');
    throw new Refusal(415, `the content type must be ${named}`);
  }
  return wanted.kind === 'read' ? wanted.read(sent.value) : sent.value;
}

/** Whether a value is an object or list without entries, which counts as no body. */
function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** Checks the key again. Returns the store's version where nothing was committed since. @throws Refusal 401 */
async function recheckKey(
  { store, clock }: Services,
  { caller, version }: ApiAdmission,
): Promise<number | null> {
  const { hash } = caller;
  const now = clock();
  const same = version !== null && store.version() === version;
  // PERF: without a commit since the first check, only the clock can have ended the key.
  const isValid = same
    ? !isExpired(caller, now)
    : (await authenticate(store.latest.keys, { hash, now })) !== null;
  if (!isValid) throw invalidKey(true);
  return same ? version : null;
}

/**
 * Waits for the revision that covers an outbox row, at most `PUBLISH_WAIT_MS`. Returns its number.
 * @throws Refusal 503 where nodes refuse this store's revisions, 504 after the time-out; the change is stored in both
 */
async function waitForRevision(services: Services, { domain, id }: AppendedRow): Promise<number> {
  const revision = await services.publication.waitForOutbox(domain, id, AbortSignal.timeout(PUBLISH_WAIT_MS));
  const ahead = services.aheadOfStore?.() ?? null;
  if (ahead !== null) throw new Refusal(503, `the change is stored, but ${ahead}`);
  if (revision !== null) return revision.revision;
  const seconds = PUBLISH_WAIT_MS / 1_000;
  throw new Refusal(504, `the change is stored, but no revision that covers it was out within ${seconds} s`);
}

/**
 * The outbox row that a write without a change waits for: the newest of the domain. The requested state was stored before,
 * and may not be published yet.
 */
async function newestRow(
  tx: ReadTransaction,
  domain: AppendedRow['domain'],
): Promise<readonly AppendedRow[]> {
  const id = await newestChange(tx, domain.id);
  return id === 0 ? [] : [{ domain, id }];
}

/** The parts of a call that `run` has read; `left.rows` receives the outbox rows of the last transaction. */
interface CallParts {
  readonly query: ReadQuery;
  readonly body: unknown;
  readonly left: Left;
}

/**
 * The `Call` of one request. Handlers destructure it, so its methods are bound.
 *
 * PERF: a class with getters on its prototype; getters of an object literal cost microseconds to create.
 */
class RequestCall implements Call<unknown> {
  readonly services: Services;
  readonly caller: Caller;
  readonly now: number;
  readonly params: Admitted['params'];
  readonly query: ReadQuery['own'];
  readonly body: unknown;
  readonly validateOnly: boolean;
  readonly latest: ReadTransaction;
  readonly read: Call<unknown>['read'];
  readonly entitlements: Call<unknown>['entitlements'];
  readonly write: Call<unknown>['write'];
  readonly compute: Call<unknown>['compute'];
  readonly #place: MatchedRoute | null;
  readonly #watchClient: Admitted['watchClient'];
  #gone: AbortSignal | null = null;

  constructor(services: Services, request: Admitted, { query, body, left }: CallParts) {
    const { store } = services;
    const { caller, place } = request.admission;
    this.services = services;
    this.caller = caller;
    this.now = request.now;
    this.params = request.params;
    this.query = query.own;
    this.body = body;
    this.validateOnly = query.validateOnly;
    this.latest = store.latest;
    this.read = store.read;
    this.entitlements = () => present(place).entitlements();
    this.write = (work) =>
      store.write(
        async (tx) => {
          left.rows = [];
          const writing = await openWriting(services, request, { tx, left });
          const result = await work(writing.writing);
          writing.close();
          if (query.wait === 'published' && place !== null && left.edit === null && left.rows.length === 0)
            left.rows = await newestRow(tx, place.domain);
          return result;
        },
        { discard: query.validateOnly },
      );
    this.compute = (kind, prepare) =>
      services.compute.run({ account: caller.account_id, kind, gone: this.gone }, prepare);
    this.#place = place;
    this.#watchClient = request.watchClient;
  }

  get gone(): AbortSignal {
    this.#gone ??= this.#watchClient();
    return this.#gone;
  }

  get domain(): DomainRow {
    return present(this.#place).domain;
  }

  get role(): MatchedRoute['role'] {
    return present(this.#place).role;
  }
}

/** The domain of the path; a handler that reads it on a route without `{domain}` is a bug of ours. */
function present(place: MatchedRoute | null): MatchedRoute {
  assert(place !== null, 'the path of this route names no domain');
  return place;
}

/** The transaction, and where its outbox row goes. */
interface WritingParts {
  readonly tx: WriteTransaction;
  readonly left: Left;
}

/**
 * Makes all checks again inside the transaction, since key, role or domain may have changed since admission. `close`
 * makes the last ones: an `If-Match` that no handler compared (412), and a disabled domain (409). @throws Refusal
 */
async function openWriting(
  services: Services,
  { route, admission, params, ifMatch }: Admitted,
  { tx, left }: WritingParts,
): Promise<{ readonly writing: Writing; close(): void }> {
  const now = services.clock();
  const { caller } = admission;
  const domain = params['domain'];
  // PERF: the queries run concurrently; their results are checked in order, the key first.
  const authenticated = authenticate(tx.keys, { hash: caller.hash, now });
  const judged = domain === undefined ? null : judgeDomain(services, { tx, caller, route, domain, now });
  judged?.catch(() => undefined);
  const expected = admission.place?.domain;
  const beside = expected === undefined ? undefined : route.beside?.({ tx, domain: expected, params });
  beside?.catch(() => undefined);
  if ((await authenticated) === null) throw invalidKey(true);
  const place = await judged;
  let matched = ifMatch === null;
  const author = { account_id: caller.account_id, key_id: caller.key_id };
  const writing: Writing = {
    tx,
    get domain() {
      return present(place).domain;
    },
    get role() {
      return present(place).role;
    },
    entitlements: () => present(place).entitlements(),
    author,
    now,
    beside: beside !== undefined && place?.domain.id === expected?.id ? beside : null,
    countryOf: (address) => services.countryOf?.(address) ?? null,
    specialOrigin: services.specialOrigin,
    conditional: ifMatch !== null,
    match(representation) {
      if (ifMatch !== null && !namesTag(ifMatch, tagOf(JSON.stringify(representation)))) throw mismatch();
      matched = true;
    },
    async audit(...entries) {
      const rows = entries.map((entry) => {
        const { id, name } = entry.domain ?? present(place).domain;
        return { ...author, domain_id: id, domain: name, at: now, ...auditParts(entry) };
      });
      await tx.audit.append(...rows);
    },
    async publish(reason, given) {
      const there = given ?? present(place).domain;
      const id = await tx.outbox.append({
        ...author,
        domain_id: there.id,
        domain: there.name,
        at: now,
        reason,
      });
      left.rows = [{ domain: { id: there.id, name: there.name }, id }];
    },
    async publishRules(reason) {
      left.edit = null;
      const { id, publish_mode } = present(place).domain;
      if (publish_mode === 'automatic') return reason === null ? undefined : writing.publish(reason);
      left.edit = reason === null ? (await tx.drafts.get(id))!.edit : await tx.drafts.addEdit(id, now);
    },
    async publishLists(reason, domains) {
      const ids = await tx.outbox.appendLists(domains, { ...author, at: now, reason });
      left.rows = domains.map((domain) => ({ domain, id: ids.get(domain.id)! }));
    },
    waitFor(outboxId) {
      if (outboxId === null) return;
      const { id, name } = present(place).domain;
      left.rows = [{ domain: { id, name }, id: outboxId }];
    },
  };
  const close = (): void => {
    if (!matched) throw mismatch();
    if (place?.domain.status === 'disabled' && route.whileDisabled !== true)
      throw conflict('domain is disabled');
  };
  return { writing, close };
}

/** The 412 of a failed `If-Match` (RFC 9110 §13.1.1). */
function mismatch(): Refusal {
  return new Refusal(412, 'the object is not what `If-Match` says');
}

/** The columns of an audit entry; an absent `before` or `after` is stored as `null`. */
function auditParts({ action, subject, before, after }: AuditEntry): {
  readonly action: string;
  readonly subject: string;
  readonly before_json: string | null;
  readonly after_json: string | null;
} {
  return {
    action,
    subject: subject ?? '',
    before_json: before === undefined ? null : JSON.stringify(before),
    after_json: after === undefined ? null : JSON.stringify(after),
  };
}

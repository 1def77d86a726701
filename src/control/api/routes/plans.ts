/**
 * `/domains/{domain}/plans/`: published revisions with author, reason and progress on nodes; comparison and rollback;
 * and what the page evaluates with: the sealed plan of a revision, the lists that it names, and the signatures of its `waf`
 * rules.
 */
import { z } from 'zod';
import { digestsIn } from '../../../engine/plan/list-digests.ts';
import { findListBlob } from '../../publishing/plan-lists.ts';
import type { Side } from '../../publishing/printed.ts';
import { rollBack } from '../../publishing/republish.ts';
import { currentOf, propagationOf, prunedSentence, readBlob } from '../../publishing/revisions.ts';
import type { ReadTransaction } from '../../store/store.ts';
import type { FiledRevision } from '../../store/tables/plans.ts';
import { MAX_PAGE, USUAL_PAGE } from '../operation/limits.ts';
import { nextPage, queryNumber } from '../operation/read-request.ts';
import { conflict, notFound } from '../operation/refusal.ts';
import { type Call, jsonText, message, ok, operation, type Response } from '../operation/route.ts';
import { accountNames, pageNote, shortenedList } from '../operation/shapes.ts';

/** The revision number of a path segment. @throws Refusal 404 for a text that is not one */
function revisionOf(segment: string | undefined): number {
  if (segment === undefined || !/^[1-9]\d{0,14}$/.test(segment)) throw notFound();
  return Number(segment);
}

/** A revision of a domain. @throws Refusal 404 for an unknown one */
async function findRevision(tx: ReadTransaction, domainId: number, revision: number): Promise<FiledRevision> {
  const row = await tx.plans.get(domainId, revision);
  if (row === null) throw notFound();
  return row;
}

/** The sealed plan of a revision; `null`: a tombstone. @throws Refusal 409 where it was pruned */
async function planOf(tx: ReadTransaction, row: FiledRevision): Promise<Uint8Array | null> {
  if (row.pruned) throw conflict(prunedSentence(row.revision));
  return row.digest === null ? null : readBlob(tx, row.digest);
}

/** A revision in the list. */
const revisionShape = z.object({
  revision: z.int(),
  /** SHA-256 of the sealed plan; `null`: a tombstone, the edge refuses every request. */
  digest: z.string().nullable(),
  /** Its plan is too old to be stored; it can be neither read nor compared nor rolled back to. */
  pruned: z.boolean(),
  reason: z.string(),
  /** The account of the change, the last one where a revision covers several. `null`: the service itself. */
  account_id: z.int().nullable(),
  account: z.string().nullable(),
  key_id: z.int().nullable(),
  created_at: z.iso.datetime(),
});

/** The progress of a revision on the nodes of the domain's groups. */
const propagationShape = z.object({
  live: z.int(),
  nodes: z.int(),
  refused: z.int(),
  /** Milliseconds from the publication to the last ack; `null`: no node has sent one. */
  ms: z.number().nullable(),
  summary: z.string(),
  answers: z.array(
    z.object({ node: z.string(), outcome: z.enum(['ack', 'nack']), reason: z.string(), ms: z.number() }),
  ),
});

/** A single revision: with its progress and a page of its printed plan. */
const detailShape = revisionShape.extend({
  /** Whether it is the revision that nodes should serve. */
  current: z.boolean(),
  propagation: propagationShape,
  /** The printed plan; `null` for a tombstone. Its hosts, rules and indexes are those of the page. */
  plan: z.record(z.string(), z.unknown()).nullable(),
  /** Its entries are hosts, then rules, then keys of indexes; `null` for a tombstone. */
  page: pageNote
    .extend({
      /** The `cursor` of the next page; `null` on the last one. */
      next: z.int().nullable(),
    })
    .nullable(),
  shortened: shortenedList,
});

/** The cursor of a page: the number of entries or lines before it. */
const cursorQuery = queryNumber(0, Number.MAX_SAFE_INTEGER);

/** A revision in the form of the API. */
type RevisionAnswer = z.infer<typeof revisionShape>;

/** A stored revision in the form of the API; `names`: account names by id. */
function answerOf(row: FiledRevision, names: ReadonlyMap<number, string>): RevisionAnswer {
  const { revision, digest, pruned, reason, account_id, key_id, at } = row;
  const account = account_id === null ? null : (names.get(account_id) ?? null);
  const created_at = new Date(at).toISOString();
  return { revision, digest, pruned, reason, account_id, account, key_id, created_at };
}

/** `GET /domains/{domain}/plans/`: the newest revisions first, page by page. */
export const list = operation({
  summary: 'List what was published, newest first',
  query: z.object({
    before: queryNumber(1, Number.MAX_SAFE_INTEGER),
    limit: queryNumber(1, MAX_PAGE),
  }),
  response: z.array(revisionShape),
  handle: (call) =>
    call.read(async (tx) => {
      const { before, limit = USUAL_PAGE } = call.query as { before?: number; limit?: number };
      const page = before === undefined ? { limit } : { before, limit };
      const rows = await tx.plans.list(call.domain.id, page);
      const names = await accountNames(tx, rows);
      return ok(rows.map((row) => answerOf(row, names)));
    }),
});

/**
 * `GET /domains/{domain}/plans/{revision}`: the printed plan and how far nodes have installed it. 409 for a pruned
 * plan.
 */
export const read = operation({
  summary: 'Read one revision: its printed plan, page by page, and how far it has come',
  query: z.object({ limit: queryNumber(1, MAX_PAGE), cursor: cursorQuery }),
  response: detailShape,
  statuses: [409],
  async handle(call) {
    const { head, bytes } = await call.read(async (tx) => {
      const row = await findRevision(tx, call.domain.id, revisionOf(call.params['revision']));
      const names = await accountNames(tx, [row]);
      const current = await currentOf(tx, call.domain);
      return {
        bytes: await planOf(tx, row),
        head: {
          ...answerOf(row, names),
          current: current?.revision === row.revision,
          propagation: await propagationOf(tx, row),
        },
      };
    });
    if (bytes === null) return ok({ ...head, plan: null, page: null, shortened: [] });
    const { limit = MAX_PAGE, cursor: from = 0 } = call.query as { limit?: number; cursor?: number };
    const printed = await call.compute('print', async () => ({
      kind: 'print',
      bytes,
      page: { limit, from },
    }));
    return jsonText(`${JSON.stringify(head).slice(0, -1)},${printed.slice(1)}`);
  },
});

/**
 * `GET /domains/{domain}/plans/{revision}/diff/{other}`: a unified diff of the printed plans as plain text, page by
 * page.
 */
export const diff = operation({
  summary:
    'Compare two revisions, as a unified diff of their printed plans; `Link` leads to the next page of whole lines',
  query: z.object({ cursor: cursorQuery }),
  response: z.string(),
  produces: 'text/plain; charset=utf-8',
  statuses: [409],
  async handle({ compute, domain, params, query, read }) {
    const [revision, other] = [revisionOf(params['revision']), revisionOf(params['other'])];
    const { cursor: from = 0 } = query as { cursor?: number };
    const { text, of, next } = await compute('text_diff', () =>
      read(async (tx) => ({
        kind: 'text_diff',
        before: await side(tx, domain, revision),
        after: await side(tx, domain, other),
        from,
      })),
    );
    const path = `/domains/${domain.name}/plans/${revision}/diff/${other}`;
    const link = next === null ? {} : nextPage({ path, query: { cursor: next } });
    const headers = { 'x-total-count': String(of), ...link };
    return { body: text, type: 'text/plain; charset=utf-8', headers };
  },
});

/** One side of a comparison. @throws Refusal 404, and 409 for a pruned revision */
export async function side(
  tx: ReadTransaction,
  domain: { readonly id: number; readonly name: string },
  revision: number,
): Promise<Side> {
  const row = await findRevision(tx, domain.id, revision);
  return { domain: domain.name, revision, bytes: await planOf(tx, row) };
}

/** `POST /domains/{domain}/plans/`: publishes the stored rules again, for example after a compiler update. */
export const publish = operation({
  summary: 'Publish the domain again as it is stored',
  response: z.object({ message: z.string() }),
  handle: (call) =>
    call.write(async (w) => {
      await w.audit({ action: 'plan.publish' });
      await w.publish('published on request');
      return message(`the next revision of \`${w.domain.name}\` is on its way`);
    }),
});

/**
 * `POST /domains/{domain}/plans/{revision}/rollback`: publishes an earlier revision's plan under a new revision number. The
 * stored rules stay as they are; the next change publishes them again.
 */
export const rollback = operation({
  summary: 'Publish the content of an old revision as a new, higher one',
  response: revisionShape,
  statuses: [409],
  handle: (call) =>
    call.write(async (w) => {
      const revision = revisionOf(call.params['revision']);
      const { account_id, key_id } = call.caller;
      const order = { domain: w.domain, revision, author: { account_id, key_id }, at: w.now };
      const result = await rollBack(w.tx, order);
      if (!result.ok) throw result.because === 'missing' ? notFound() : conflict(result.message);
      const names = await accountNames(w.tx, [result.revision]);
      const after = answerOf({ ...result.revision, pruned: false }, names);
      await w.audit({ action: 'plan.rollback', subject: `plan/${revision}`, after });
      return call.validateOnly
        ? ok(after)
        : { body: after, headers: { 'x-revision': String(after.revision) } };
    }),
});

// Operations that return what the page evaluates with: the sealed plan of a revision, its lists, and the signatures of its `waf`
// rules. In: the revision of the path. Out: octets with their digest in a header, which the page compares with its own.

/** SHA-256 of the octets: `sha256:` and 64 hex digits. */
const DIGEST = 'edgeplan-digest';
/** The same of the signatures that `waf` rules of the plan inspect with; absent: the plan has no such rule. */
const SIGNATURES = 'edgeplan-signatures';

const OCTETS = 'application/octet-stream';

/** The sealed plan of the revision in the path. @throws Refusal 404 for an unknown one, 409 for a pruned one and for a tombstone */
async function planOfPath({ domain, params, read }: Call<unknown>): Promise<PlanOctets> {
  const revision = revisionOf(params['revision']);
  return read(async (tx) => {
    const row = await findRevision(tx, domain.id, revision);
    const bytes = await planOf(tx, row);
    if (bytes === null || row.digest === null)
      throw conflict(
        `revision ${revision} is a tombstone: the edge refuses every request, and no plan decides`,
      );
    return { bytes, digest: `sha256:${row.digest}` };
  });
}

/** A sealed plan with its digest. */
interface PlanOctets {
  readonly bytes: Uint8Array;
  readonly digest: string;
}

function octets(body: Uint8Array, headers: Readonly<Record<string, string>>): Response {
  return { body, type: OCTETS, headers };
}

/** `GET /domains/{domain}/plans/{revision}/bytes`: what nodes evaluate, octet by octet. */
export const plan = operation({
  summary:
    'Fetch the sealed plan of a revision, as nodes evaluate it; `edgeplan-digest` is its SHA-256, `edgeplan-signatures` that of the signatures of its `waf` rules',
  response: z.string(),
  produces: OCTETS,
  statuses: [409],
  async handle(call) {
    const { bytes, digest } = await planOfPath(call);
    const found = (await call.services.signaturesFor?.(bytes)) ?? null;
    const named = found === null ? {} : { [SIGNATURES]: `${found.digest} ${found.name}` };
    return octets(bytes, { [DIGEST]: digest, ...named });
  },
});

/** `GET /domains/{domain}/plans/{revision}/lists/{digest}`: 404 for a list that the plan does not name. */
export const listOctets = operation({
  summary:
    'Fetch a sealed list that the plan of a revision names by digest, as nodes evaluate it; `edgeplan-digest` is its SHA-256',
  response: z.string(),
  produces: OCTETS,
  statuses: [409],
  async handle(call) {
    const { bytes } = await planOfPath(call);
    const digest = call.params['digest'] ?? '';
    if (!digestsIn(bytes).includes(digest)) throw notFound();
    const sealed = await call.read((tx) => findListBlob(tx, digest));
    if (sealed === null) throw notFound();
    return octets(sealed, { [DIGEST]: `sha256:${digest}` });
  },
});

/** `GET /domains/{domain}/plans/{revision}/signatures`: 404 for a plan without `waf` rules. */
export const signatures = operation({
  summary:
    'Fetch the sealed signatures that `waf` rules of a revision inspect with; `edgeplan-digest` is their SHA-256',
  response: z.string(),
  produces: OCTETS,
  statuses: [409],
  async handle(call) {
    const { bytes } = await planOfPath(call);
    const found = (await call.services.signaturesFor?.(bytes)) ?? null;
    if (found === null) throw notFound();
    return octets(found.sealed, { [DIGEST]: found.digest });
  },
});

/**
 * Read-only computations on a domain: the decision for a request (`/simulate`) and likely mistakes in the stored rules
 * (`/analysis`). A simulation uses the current plan, the one nodes should serve, so it shows what the edge would do; with
 * a `status`, also the error page for that answer of the origin. Both run in compute threads and answer page by page.
 */
import { z } from 'zod';
import { requestMistake } from '../../../workbench/simulation/requests.ts';
import type { SimulatedRequest } from '../../../workbench/simulation/simulate.ts';
import { currentOf, findBlob } from '../../publishing/revisions.ts';
import type { ReadTransaction } from '../../store/store.ts';
import type { DomainRow } from '../../store/tables/domains.ts';
import { MAX_PAGE, USUAL_FINDINGS, USUAL_PAGE } from '../operation/limits.ts';
import { nextPage, queryNumber } from '../operation/read-request.ts';
import { badRequest, conflict } from '../operation/refusal.ts';
import { jsonText, operation } from '../operation/route.ts';
import { shortenedList } from '../operation/shapes.ts';

/** The body of a simulation. */
const question = z.strictObject({
  /**
   * As `edgeplan simulate --requests` reads a line: `{ "host": "example.com", "target": "/a?b", "ip": "203.0.113.7" }`.
   */
  request: z.record(z.string(), z.unknown()),
  /** An origin's answer, to see the error page. */
  status: z.int().min(400).max(599).optional(),
});

/** A page of the trace of a decision. */
export const trace = z
  .looseObject({
    /** Evaluated rules come first, then skipped ones; `counts` covers the rules of all pages. */
    phases: z.array(z.looseObject({ name: z.string(), rules: z.array(z.record(z.string(), z.unknown())) })),
    page: z.object({
      limit: z.int(),
      /** Rules of this page, and of all pages. */
      rules: z.int(),
      of: z.int(),
      /** The `cursor` of the next page; `null` on the last. */
      next: z.string().nullable(),
    }),
    shortened: shortenedList,
  })
  .meta({ id: 'TracePage' });

/** One likely mistake in the stored rules. */
const finding = z.object({
  severity: z.enum(['error', 'warning', 'info']),
  code: z.string(),
  /** The place in the rule set, such as `rules[3].path_includes[0]`. */
  path: z.string(),
  message: z.string(),
  found: z.string().nullable(),
  remedy: z.string().nullable(),
});

/** `POST /domains/{domain}/simulate`: runs in a compute thread on the current plan; 409 where none is published. */
export const simulate = operation({
  summary: 'Ask what a request would meet: the rules that had their say, then the skipped ones, page by page',
  body: { kind: 'raw', schema: question },
  query: z.object({
    limit: queryNumber(1, MAX_PAGE),
    cursor: z.string().optional().describe('`page.next` of the page before'),
  }),
  response: trace,
  statuses: [409],
  async handle(call) {
    const { domain, services } = call;
    const { limit = USUAL_PAGE, cursor } = call.query as {
      readonly limit?: number;
      readonly cursor?: string;
    };
    const { request: fields, status } = readQuestion(call.body);
    const plain = { scheme: 'https', method: 'GET', host: domain.name, target: '/' };
    const request = { ...plain, ...fields } as SimulatedRequest['request'];
    const world = {
      down: [],
      nodeId: null,
      now: request.now ?? call.now,
      nowGiven: request.now !== undefined,
    };
    const response = status === undefined ? undefined : { status, madeBy: 'origin' as const };
    const url = `${request.scheme}://${String(request.host)}${request.target}`;
    const text = await call.compute('simulate', async () => {
      const plan = await call.read((tx) => currentPlan(tx, domain));
      const from = cursor === undefined ? 0 : placeOf(cursor, plan.revision);
      const signatures = (await services.signaturesFor?.(plan.bytes)) ?? null;
      return { kind: 'simulate', ...plan, signatures, asked: { request, url, world, response }, limit, from };
    });
    return jsonText(text);
  },
});

/** Validates the body of a simulation. @throws Refusal 400 */
function readQuestion(body: unknown): z.output<typeof question> {
  const parsed = question.safeParse(body);
  if (!parsed.success) {
    throw badRequest(
      'the body must be `{ "request": { "host": …, "target": … } }`, with a `status` of 400 to 599 if any',
    );
  }
  const mistake = requestMistake(parsed.data.request);
  if (mistake !== null) throw badRequest(`request: ${mistake}`);
  return parsed.data;
}

/** The rules before a page, from a cursor `<revision>-<rules>`. @throws Refusal 409 for another revision's, 400 */
function placeOf(cursor: string, revision: number): number {
  const parts = /^([1-9]\d{0,14})-(\d{1,9})$/.exec(cursor);
  if (parts === null) throw badRequest('cursor: must be `page.next` of the page before');
  if (Number(parts[1]) !== revision) {
    throw conflict(`revision ${revision} has come out since the page before; start again without \`cursor\``);
  }
  return Number(parts[2]);
}

/**
 * The sealed current plan of a domain. @throws Refusal 409 where none is published, or the domain must not be served
 */
async function currentPlan(
  tx: ReadTransaction,
  domain: DomainRow,
): Promise<{ readonly bytes: Uint8Array; readonly digest: string; readonly revision: number }> {
  const current = await currentOf(tx, domain);
  const digest = current?.digest ?? null;
  const bytes = digest === null ? null : await findBlob(tx, digest);
  if (current === null || digest === null || bytes === null) {
    throw conflict('the domain has no published plan: nothing was published yet, or it must not serve');
  }
  return { bytes, digest, revision: current.revision };
}

/** `GET /domains/{domain}/analysis`: lints the stored rules in a compute thread, page by page. */
export const analysis = operation({
  summary:
    'Look for mistakes in the stored rules: what can never match, what is never reached, what is meant otherwise; `Link` leads to the next page',
  query: z.object({
    limit: queryNumber(1, USUAL_FINDINGS),
    cursor: queryNumber(0, Number.MAX_SAFE_INTEGER),
  }),
  response: z.array(finding),
  async handle({ compute, domain, query }) {
    const { limit = USUAL_FINDINGS, cursor: from = 0 } = query as { limit?: number; cursor?: number };
    const job = { kind: 'analysis', domain, limit, from } as const;
    const { text, of, shown } = await compute('analysis', async () => job);
    const next = from + shown;
    const path = `/domains/${domain.name}/analysis`;
    const link = next < of ? nextPage({ path, query: { limit, cursor: next } }) : {};
    return jsonText(text, { 'x-total-count': String(of), ...link });
  },
});

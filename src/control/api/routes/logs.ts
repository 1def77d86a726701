/**
 * `/domains/{domain}/logs/`: the decisions that nodes have logged for a domain, newest first, one entry by its id, and its
 * explanation by the plan that decided. Searches run in a thread of the log store and end at a bound of their cost.
 */
import { z } from 'zod';
import { parseIpEntry } from '../../../base/addresses/ip.ts';
import { RULE_TYPES } from '../../../base/vocabulary/vocabulary.ts';
import { requestMistake } from '../../../workbench/simulation/requests.ts';
import type { SimulatedRequest } from '../../../workbench/simulation/simulate.ts';
import {
  decisionMistake,
  ENTRY_ID_SHAPE,
  LOG_COUNTED_FORMAT,
  loggedCounted,
  loggedDecision,
  loggedGap,
} from '../../logs/entry-schema.ts';
import { MAX_ENTRIES, MAX_FILTER, USUAL_ENTRIES } from '../../logs/limits.ts';
import {
  entryTexts,
  LOG_ACTIONS,
  type LogQuery,
  type LogStore,
  pageText,
  placeOf,
  type StoredLogEntry,
} from '../../logs/log-store.ts';
import { findBlob } from '../../publishing/revisions.ts';
import { MAX_PAGE, USUAL_PAGE, USUAL_TRAFFIC_MS } from '../operation/limits.ts';
import { queryNumber } from '../operation/read-request.ts';
import { badRequest, conflict, notFound, Refusal } from '../operation/refusal.ts';
import { type Call, jsonText, operation, type Services } from '../operation/route.ts';
import { queryTime } from '../traffic/period.ts';
import { trace } from './simulate.ts';

/** The node that an entry is of. */
const NODE = z.string().nullable().describe('the name of the node; `null`: it was removed');

/** A logged decision; `src/edge/node/README.md` has every field. */
const DECISION = loggedDecision.extend({ node: NODE }).meta({ id: 'LogEntry' });

/** A number of requests without an entry each. */
const COUNTED = loggedCounted.extend({ node: NODE }).meta({ id: 'LogCounted' });

/** Entries that are missing at a place. */
const GAP = loggedGap.extend({ node: NODE }).meta({ id: 'LogGap' });

const listQuery = z.object({
  from: queryTime().describe('start, inclusive; without it 24 hours before `to`'),
  to: queryTime().describe('end, exclusive; without it now'),
  action: z
    .enum(LOG_ACTIONS)
    .optional()
    .describe(
      'of the decision; with `would-` of the decision had dry_run rules been enforced; `fault`: the request failed; `counted`: requests without an entry each',
    ),
  rule: z.string().optional().describe('a rule that matched or decided, `<type>/<id>`'),
  ip: z
    .string()
    .optional()
    .describe(
      'an address, prefix or range of the visitor; a counted line matches where its network overlaps',
    ),
  path: z
    .string()
    .optional()
    .describe('the start of the path, or with `*` a pattern of all of it; a counted line has none'),
  id: z.string().optional().describe('the id of one entry, whatever its time; goes without other filters'),
  cursor: z.string().optional().describe('`next` of the page before'),
  limit: queryNumber(1, MAX_ENTRIES).describe(`entries, at most; without it ${USUAL_ENTRIES}`),
});
type ListQuery = z.output<typeof listQuery>;

/** `GET /domains/{domain}/logs/`: pages of entries by time and filters, newest first. */
export const list = operation({
  summary:
    'Search the logged decisions, newest first; of requests that were only forwarded a sample is logged',
  query: listQuery,
  response: z.object({
    entries: z.array(z.union([DECISION, COUNTED, GAP])),
    next: z.string().nullable().describe('the `cursor` of the next page; `null`: nothing more in this time'),
    complete: z
      .boolean()
      .describe('`false`: the search ended at the bound of its cost, and goes on at `next`'),
  }),
  async handle(call) {
    const logs = logsOf(call.services);
    const asked = call.query as ListQuery;
    if (asked.id !== undefined) {
      checkAlone(asked);
      const entry = await getEntry(call, asked.id);
      const entries = entry === null ? [] : [entry];
      return jsonText(await pageText(call.latest, { entries, next: null, complete: true }));
    }
    return jsonText(await pageText(call.latest, await logs.find(readList(asked, call), call.gone)));
  },
});

/** `GET /domains/{domain}/logs/{decisionId}`: one entry. */
export const read = operation({
  summary: 'Read one logged decision, or one counted line',
  response: z.union([DECISION, COUNTED]),
  async handle(call) {
    const [text] = await entryTexts(call.latest, [await findEntry(call)]);
    return jsonText(text!);
  },
});

/** `GET /domains/{domain}/logs/{decisionId}/trace`: runs in a compute thread; 409 where there is no plan or request for it. */
export const explain = operation({
  summary: 'Explain a logged decision by the plan that made it, rule by rule, page by page',
  query: z.object({
    limit: queryNumber(1, MAX_PAGE),
    cursor: z.string().optional().describe('`page.next` of the page before'),
  }),
  response: trace,
  statuses: [409],
  async handle(call) {
    const { domain, services } = call;
    const { limit = USUAL_PAGE, cursor } = call.query as { limit?: number; cursor?: string };
    const line = JSON.parse((await findEntry(call)).line) as LoggedFields;
    if (line.format === LOG_COUNTED_FORMAT)
      throw conflict(
        'the entry counts requests and has none of them; a decision of the same rule can be explained',
      );
    const { request, revision, digest } = line;
    // An entry of an earlier release was stored without this check.
    if (
      decisionMistake(line, 'store') !== null ||
      requestMistake(request as unknown as Record<string, unknown>) !== null
    )
      throw conflict('the entry has no request that this version can evaluate');
    const from = readTraceCursor(cursor, revision);
    const now = request.now ?? Date.parse(line.time);
    const world = { down: [], nodeId: null, now, nowGiven: true };
    // The error status of an origin that answered; without a fault the entry does not state who made it.
    const madeBy = line.fault === null ? ('origin' as const) : ('edge' as const);
    const response = line.status < 400 ? undefined : { status: line.status, madeBy };
    const url = `${request.scheme}://${String(request.host)}${request.target}`;
    const text = await call.compute('simulate', async () => {
      const bytes = await call.read(async (tx) => {
        // A node names revision and digest: they are checked, so that none names the plan of another domain.
        const filed = await tx.plans.get(domain.id, revision);
        return filed?.digest === digest ? findBlob(tx, digest) : null;
      });
      if (bytes === null) throw conflict(`the plan of revision ${revision} is not stored any more`);
      const signatures = (await services.signaturesFor?.(bytes)) ?? null;
      const asked = { request, url, world, response };
      return { kind: 'simulate', bytes, digest, revision, signatures, asked, limit, from };
    });
    return jsonText(text);
  },
});

/** The fields of an entry that an explanation reads. */
interface LoggedFields {
  readonly format: string;
  readonly time: string;
  readonly revision: number;
  readonly digest: string;
  readonly request: SimulatedRequest['request'];
  readonly status: number;
  readonly fault: string | null;
}

/** @throws Refusal 503 where the server stores no entries */
function logsOf({ logs }: Pick<Services, 'logs'>): LogStore {
  if (logs === undefined) throw new Refusal(503, 'this server stores no log entries (--decision-logs)');
  return logs;
}

/** The entry of the path. @throws Refusal 404 */
async function findEntry(call: Call<unknown>): Promise<StoredLogEntry> {
  const entry = await getEntry(call, call.params['decisionId'] ?? '');
  if (entry === null) throw notFound();
  return entry;
}

async function getEntry({ services, domain }: Call<unknown>, id: string): Promise<StoredLogEntry | null> {
  if (!ENTRY_ID_SHAPE.test(id)) return null;
  return logsOf(services).get({ domainId: domain.id, id, since: domain.created_at });
}

/** @throws Refusal 400 where other filters are beside an id, which would not be applied */
function checkAlone({ id: _, limit: __, ...others }: ListQuery): void {
  const [other] = Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (other !== undefined)
    throw badRequest(`${other}: goes without \`id\`, which finds one decision by itself`);
}

/** The search that a query asks for. @throws Refusal 400 */
function readList(asked: ListQuery, { domain, caller, now }: Call<unknown>): LogQuery {
  const { to = now + 1, from = to - USUAL_TRAFFIC_MS } = asked;
  if (from >= to) throw badRequest('from: must be before `to`');
  const { action = null, rule = null, ip = null, path = null, limit = USUAL_ENTRIES } = asked;
  if (rule !== null) checkRule(rule);
  const entry = ip === null ? null : parseIpEntry(ip);
  if (entry?.ok === false) throw badRequest(`ip: ${entry.reason}`);
  if (path !== null && (path.length > MAX_FILTER || !/^[/*]/.test(path)))
    throw badRequest(`path: must begin with \`/\` or \`*\` and have at most ${MAX_FILTER} characters`);
  const before = asked.cursor === undefined ? null : placeOf(asked.cursor);
  if (before === null && asked.cursor !== undefined)
    throw badRequest('cursor: must be `next` of the page before');
  const since = Math.max(from, domain.created_at);
  return {
    domainId: domain.id,
    account: caller.account_id,
    from: since,
    to,
    before,
    limit,
    action,
    rule,
    ip,
    path,
  };
}

/** @throws Refusal 400 */
function checkRule(rule: string): void {
  const [type = '', ...id] = rule.split('/');
  const isType = (RULE_TYPES as readonly string[]).includes(type);
  if (isType && id.join('/') !== '' && rule.length <= MAX_FILTER) return;
  throw badRequest('rule: must be the type and id of a rule, such as `drop/7`');
}

/** The rules before a page, from a cursor `<revision>-<rules>`. @throws Refusal 400 */
function readTraceCursor(cursor: string | undefined, revision: number): number {
  if (cursor === undefined) return 0;
  const [, of, rules] = /^([1-9]\d{0,14})-(\d{1,9})$/.exec(cursor) ?? [];
  if (Number(of) === revision) return Number(rules);
  throw badRequest('cursor: must be `page.next` of the page before');
}

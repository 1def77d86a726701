/** Consumers of the gateways of a domain (semantics §15): who calls them, and what of their operations. */
import { z } from 'zod';
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { MAX_CONSUMERS } from '../../../base/vocabulary/limits.ts';
import { type ConsumerSettings, consumerForm } from '../../../rules/model/registry/consumer.ts';
import { judgeUsagePlan } from '../../../rules/model/registry/registry.ts';
import { consumerOf } from '../../publishing/plan-registry.ts';
import type { ReadTransaction } from '../../store/store.ts';
import type { ConsumerRow } from '../../store/tables/registry.ts';
import { judgeGatewayQuota } from '../gateways/quota.ts';
import { MAX_CONSUMER_OCTETS, MAX_PAGE, USUAL_PAGE } from '../operation/limits.ts';
import { formBody, idOf, nextPage, queryNumber, wrongInput } from '../operation/read-request.ts';
import { badRequest, conflict, notFound } from '../operation/refusal.ts';
import {
  type ApiRoute,
  type Beside,
  type Call,
  message,
  type Operation,
  ok,
  operation,
  type Writing,
} from '../operation/route.ts';
import { messageShape } from '../operation/shapes.ts';
import {
  CHANGES,
  judgeRoom,
  namesText,
  REMOVES,
  readChange,
  recordChange,
  settleQuotas,
  VIEWS,
} from '../registry/change.ts';
import {
  CONSUMER,
  type CONSUMER_KEY,
  CONSUMER_UPDATE,
  LISTED_CONSUMER,
  showConsumer,
  showKey,
} from '../registry/show.ts';

/** Routes for consumers; `consumer-keys.ts` has those for their keys. */
// biome-ignore format: a table is read in columns
export const CONSUMER_ROUTES: readonly ApiRoute[] = [
  { method: 'GET', path: '/domains/{domain}/consumers/', ...VIEWS, ...list() },
  { method: 'POST', path: '/domains/{domain}/consumers/', ...CHANGES, ...create() },
  { method: 'GET', path: '/domains/{domain}/consumers/{consumerId}', ...VIEWS, ...read() },
  { method: 'PUT', path: '/domains/{domain}/consumers/{consumerId}', ...CHANGES, ...update() },
  { method: 'DELETE', path: '/domains/{domain}/consumers/{consumerId}', ...REMOVES, ...remove() },
];

/** The parameters of a list as their schema reads them. */
interface ListQuery {
  readonly limit?: number;
  readonly cursor?: number;
  readonly username?: string;
  readonly include?: 'keys';
}

/** `GET …/consumers/`: page by page, by id; `username` finds one. */
function list(): Operation {
  return operation({
    summary: 'Consumers of a domain by id, page by page; `Link` leads to the next page',
    query: z.object({
      limit: queryNumber(1, MAX_PAGE).describe(`consumers, at most; without it ${USUAL_PAGE}`),
      cursor: queryNumber(0, Number.MAX_SAFE_INTEGER).describe('from `Link` of the page before'),
      username: z.string().optional().describe('the consumer of this username alone'),
      include: z
        .enum(['keys'])
        .optional()
        .describe('`keys`: each consumer has its keys')
        .meta({ examples: ['keys'] }),
    }),
    response: z.array(LISTED_CONSUMER),
    async handle({ domain, query, read: readAll }) {
      const { limit = USUAL_PAGE, cursor = 0, username, include } = query as ListQuery;
      return readAll(async (tx) => {
        const shown = (rows: readonly ConsumerRow[]) =>
          include === undefined ? rows.map(showConsumer) : showWithKeys(tx, rows);
        if (username !== undefined) {
          const row = await tx.consumers.byUsername(domain.id, username);
          return { body: row === null ? [] : await shown([row]) };
        }
        const found = await tx.consumers.page(domain.id, { after: cursor, limit: limit + 1 });
        const rows = found.slice(0, limit);
        const next = {
          path: `/domains/${domain.name}/consumers/`,
          query: { limit, cursor: rows.at(-1)?.id, include },
        };
        const link = found.length > limit ? nextPage(next) : {};
        const total = await tx.consumers.count(domain.id);
        return { body: await shown(rows), headers: { 'x-total-count': String(total), ...link } };
      });
    },
  });
}

/** Consumers in the form of a list with their keys. */
async function showWithKeys(
  tx: Pick<ReadTransaction, 'consumerKeys'>,
  rows: readonly ConsumerRow[],
): Promise<readonly z.output<typeof LISTED_CONSUMER>[]> {
  const keys = new Map<number, z.output<typeof CONSUMER_KEY>[]>(rows.map(({ id }) => [id, []]));
  for (const key of await tx.consumerKeys.ofConsumers([...keys.keys()]))
    keys.get(key.consumer_id)!.push(showKey(key));
  return rows.map((row) => ({ ...showConsumer(row), keys: keys.get(row.id)! }));
}

function read(): Operation {
  return operation({
    summary: 'One consumer',
    response: CONSUMER,
    async handle({ domain, latest, params }) {
      const row = await latest.consumers.get(domain.id, idOf(params['consumerId']));
      if (row === null) throw notFound();
      return ok(showConsumer(row));
    },
  });
}

function create(): Operation {
  return operation<ConsumerSettings>({
    summary: 'Add a consumer',
    body: formBody(consumerForm),
    response: CONSUMER,
    statuses: [409],
    async handle(call) {
      const { body, write } = call;
      await judgeGatewayQuota(call);
      return write(async (w) => {
        const there = await w.tx.consumers.count(w.domain.id);
        judgeRoom('consumers', { there, most: MAX_CONSUMERS });
        await judgeNames(w, body, null);
        const columns = columnsOf(w, body);
        await judgeOctets(w, columns.body, '');
        const row = await w.tx.consumers.insert({ ...columns, created_at: w.now });
        // Its username may be that of a consumer that was deleted: the requests of that one count.
        await settleQuotas(w, row);
        const after = showConsumer(row);
        const entry = { action: 'consumer.create', subject: `consumer/${row.id}`, after };
        await recordChange(w, entry, `consumer ${row.id} created`);
        return ok(after);
      });
    },
  });
}

/** `PUT …/{consumerId}`: a partial update; lists and `metadata` are replaced whole. */
function update(): Operation {
  return operation<unknown>({
    summary: 'Change a consumer; fields left out keep their value',
    body: { kind: 'raw', schema: CONSUMER_UPDATE },
    response: CONSUMER,
    statuses: [409],
    async handle({ body, params, write }) {
      return write(async (w) => {
        const before = await present(w, params);
        const shown = showConsumer(before);
        w.match(shown);
        const fields = readChange(consumerForm, consumerOf(before), body);
        const columns = columnsOf(w, fields);
        if (columns.body === before.body) return ok(shown);
        await judgeNames(w, fields, before);
        await judgeOctets(w, columns.body, before.body);
        const row = (await w.tx.consumers.update({ ...columns, id: before.id }))!;
        await settleQuotas(w, row);
        const after = showConsumer(row);
        const entry = { action: 'consumer.update', subject: `consumer/${row.id}`, before: shown, after };
        await recordChange(w, entry, `consumer ${row.id} changed`);
        return ok(after);
      });
    },
  });
}

/** `DELETE …/{consumerId}`: with its keys, which nodes refuse from the next revision on. */
function remove(): Operation {
  return operation({
    summary: 'Delete a consumer with its keys',
    response: messageShape,
    statuses: [409],
    async handle({ params, write }) {
      return write(async (w) => {
        const row = await present(w, params);
        const before = showConsumer(row);
        w.match(before);
        await judgeDefault(w, row.username);
        await w.tx.consumers.remove(w.domain.id, row.id);
        const entry = { action: 'consumer.delete', subject: `consumer/${row.id}`, before };
        await recordChange(w, entry, `consumer ${row.id} deleted`);
        return message(`consumer ${row.id} deleted`);
      });
    },
  });
}

/** The consumer of the path. @throws Refusal 404 */
export async function present(
  { tx, domain }: Pick<Beside, 'tx' | 'domain'>,
  params: Call<unknown>['params'],
): Promise<ConsumerRow> {
  const row = await tx.consumers.get(domain.id, idOf(params['consumerId']));
  if (row === null) throw notFound();
  return row;
}

/** The columns of a consumer but those that never change. */
function columnsOf({ domain, now }: Writing, fields: ConsumerSettings) {
  const { username, custom_id, usage_plan } = fields;
  const body = JSON.stringify(fields);
  return { domain_id: domain.id, username, custom_id, usage_plan, body, updated_at: now };
}

/**
 * Checks the names of a consumer: each username and `custom_id` names one consumer, since a token may have either, and its usage
 * plan is one of the domain. @throws Refusal 400, 409
 */
async function judgeNames(w: Writing, fields: ConsumerSettings, before: ConsumerRow | null): Promise<void> {
  const { tx, domain } = w;
  const { username, custom_id: customId, usage_plan: plan } = fields;
  if (username !== before?.username) {
    if (before !== null) await judgeDefault(w, before.username);
    await judgeName(w, { field: 'username', name: username, own: before?.id });
  }
  if (customId !== null && customId !== (before?.custom_id ?? null))
    await judgeName(w, { field: 'custom_id', name: customId, own: before?.id });
  if (plan === null || plan === (before?.usage_plan ?? null)) return;
  const names = new Set((await tx.usagePlans.list(domain.id)).map(({ name }) => name));
  const problem = judgeUsagePlan(plan, names);
  if (problem !== null)
    throw wrongInput([{ ...problem, severity: 'error', path: ['usage_plan'], found: quoteValue(plan) }]);
}

/** Checks the bound on the fields of all consumers; one that shrinks is not checked. @throws Refusal 400 */
async function judgeOctets({ tx, domain }: Writing, body: string, before: string): Promise<void> {
  const more = Buffer.byteLength(body) - Buffer.byteLength(before);
  if (more <= 0) return;
  const total = (await tx.consumers.octets(domain.id)) + more;
  if (total <= MAX_CONSUMER_OCTETS) return;
  const most = `the consumers of a domain have at most ${MAX_CONSUMER_OCTETS} octets together`;
  throw badRequest(`${most}, and with this one there were ${total}; shorten labels, acl and metadata`);
}

interface JudgedName {
  readonly field: 'username' | 'custom_id';
  readonly name: string;
  /** The id of the consumer itself; `undefined`: it is new. */
  readonly own: number | undefined;
}

/** @throws Refusal 409 */
async function judgeName({ tx, domain }: Writing, { field, name, own }: JudgedName): Promise<void> {
  const owners = {
    username: await tx.consumers.byUsername(domain.id, name),
    custom_id: await tx.consumers.byCustomId(domain.id, name),
  };
  for (const [kind, owner] of Object.entries(owners)) {
    if (owner === null || owner.id === own) continue;
    throw conflict(`${field}: \`${name}\` is the ${kind} of consumer ${owner.id} already`);
  }
}

/** Checks that no token issuer names the consumer, which is about to lose its name. @throws Refusal 409 */
async function judgeDefault({ tx, domain }: Writing, username: string): Promise<void> {
  const issuers = (await tx.tokenIssuers.list(domain.id)).filter(
    ({ default_consumer: name }) => name === username,
  );
  if (issuers.length === 0) return;
  const names = namesText(issuers.map(({ name }) => name));
  throw conflict(`the consumer is \`default_consumer\` of the token issuers ${names}; change these first`);
}

/** The use of gateways (semantics §15): requests of one gateway and of one consumer, and which operations are called. */
import { z } from 'zod';
import { typePath } from '../../../base/vocabulary/vocabulary.ts';
import { QUOTA_USE, quotaUse } from '../../registry/quota-use.ts';
import { USUAL_RETENTION } from '../../traffic/retention.ts';
import { USE_DIVISIONS, type UseDivision, type UseOf } from '../../traffic/show-gateway-use.ts';
import { GATEWAY_USE, OPERATION_USE } from '../../traffic/use-shapes.ts';
import { operationsOf } from '../gateways/schema.ts';
import { MAX_TOP, USUAL_TOP } from '../operation/limits.ts';
import { queryNumber } from '../operation/read-request.ts';
import { type ApiRoute, type Call, jsonText, type Operation, ok, operation } from '../operation/route.ts';
import { VIEWS } from '../registry/change.ts';
import { type AskedPeriod, PERIOD_QUERY, readPeriod } from '../traffic/period.ts';
import { present } from './consumers.ts';
import { gatewayOf } from './gateways.ts';

/** The answer of `GET …/consumers/{consumerId}/usage`. */
const CONSUMER_USE = GATEWAY_USE.extend({
  quotas: z
    .array(QUOTA_USE)
    .describe('the quota of its usage plan; of a consumer without one those that its gateways give'),
}).meta({ id: 'ConsumerUse' });

const GATEWAY = `/domains/{domain}/${typePath('gateway')}/{ruleId}`;

/** Routes for the use of gateways. */
// biome-ignore format: a table is read in columns
export const GATEWAY_USAGE_ROUTES: readonly ApiRoute[] = [
  { method: 'GET', path: `${GATEWAY}/usage`, ...VIEWS, ...gatewayUse() },
  { method: 'GET', path: `${GATEWAY}/operations/usage`, ...VIEWS, ...operationUse() },
  { method: 'GET', path: '/domains/{domain}/consumers/{consumerId}/usage', ...VIEWS, ...consumerUse() },
];

/** The parameters of a period and a division. */
function useQuery(divisions: readonly UseDivision[]) {
  return z.object({
    ...PERIOD_QUERY,
    by: z
      .enum(divisions)
      .optional()
      .describe('divides requests by it')
      .meta({ examples: [divisions[0]!] }),
    limit: queryNumber(1, MAX_TOP).describe(`values, at most; without it ${USUAL_TOP}`),
  });
}

function gatewayUse(): Operation {
  return operation({
    summary: 'Requests to a gateway over a period, divided by consumer, operation or status',
    query: useQuery(USE_DIVISIONS.filter((by) => by !== 'gateway')),
    response: GATEWAY_USE,
    async handle(call) {
      const { id } = await gatewayOf({ tx: call.latest, domain: call.domain, params: call.params });
      return jsonText(await readUse(call, { gateway: id }));
    },
  });
}

function consumerUse(): Operation {
  return operation({
    summary: 'Requests of a consumer over a period, divided by gateway, operation or status',
    query: useQuery(USE_DIVISIONS.filter((by) => by !== 'consumer')),
    response: CONSUMER_USE,
    async handle(call) {
      const { domain, latest, now, params } = call;
      const consumer = await present({ tx: latest, domain }, params);
      const use = JSON.parse(await readUse(call, { consumer: consumer.username }));
      return ok({ ...use, quotas: await quotaUse(latest, domain, { consumer, now }) });
    },
  });
}

/** The parameters as their schema reads them. */
interface UseParameters extends AskedPeriod {
  readonly by?: UseDivision;
  readonly limit?: number;
}

async function readUse({ compute, domain, now, query, services }: Call<unknown>, of: UseOf) {
  const { by = null, limit = USUAL_TOP, ...asked } = query as UseParameters;
  const retention = services.trafficRetention ?? USUAL_RETENTION;
  const period = readPeriod(asked, { now, retention });
  const job = { kind: 'gateway_use', domainId: domain.id, period, of, by, limit } as const;
  return compute('gateway_use', async () => job);
}

function operationUse(): Operation {
  return operation({
    summary: 'How often each operation of a gateway was called in 24 hours and 30 days, and when last',
    response: OPERATION_USE,
    async handle({ compute, domain, latest, now, params }) {
      const row = await gatewayOf({ tx: latest, domain, params });
      const operations = operationsOf(row);
      const job = { kind: 'operation_use', domainId: domain.id, gateway: row.id, operations, now } as const;
      return jsonText(await compute('operation_use', async () => job));
    },
  });
}

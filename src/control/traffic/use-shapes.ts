/** The schemas of answers about the use of gateways. */
import { z } from 'zod';
import { TRAFFIC_STEPS } from './retention.ts';
import { USE_DIVISIONS } from './show-gateway-use.ts';

const time = z.iso.datetime();
const count = z.int().min(0);

const SUMS = {
  requests: count
    .describe('requests that a gateway decided, refused ones included')
    .meta({ examples: [1204] }),
  admitted: count.describe('those that it admitted, which quotas count').meta({ examples: [1187] }),
} as const;
const sums = z.object(SUMS);

/** The answer of `GET …/gateways/{ruleId}/usage`, and a part of that of `GET …/consumers/{consumerId}/usage`. */
export const GATEWAY_USE = z
  .object({
    from: time
      .describe('start of the first step, inclusive')
      .meta({ examples: ['2026-11-20T09:00:00.000Z'] }),
    to: time.describe('end of the last step, exclusive').meta({ examples: ['2026-11-21T09:00:00.000Z'] }),
    step: z
      .enum(TRAFFIC_STEPS)
      .describe('the unit of the counts; days begin at midnight UTC')
      .meta({ examples: ['hour'] }),
    by: z
      .enum(USE_DIVISIONS)
      .nullable()
      .describe('what `values` divides requests by')
      .meta({ examples: ['consumer'] }),
    totals: sums.describe('the whole period'),
    uncounted: sums.describe(
      'requests to gateways of the domain beyond those that are counted apart in a minute; they are in no total here',
    ),
    points: z
      .array(z.object({ at: time.describe('start of the step'), ...SUMS }))
      .describe('every step in order, those without requests too'),
    values: z
      .array(
        z.object({
          value: z
            .string()
            .nullable()
            .describe(
              'id of a gateway, username, operation or status; `null`: requests without one; the status `unknown`: an agent has decided, and another server responds',
            )
            .meta({ examples: ['acme'] }),
          ...SUMS,
        }),
      )
      .optional()
      .describe('the values with the most requests first; only where the request has `by`'),
    others: sums.optional().describe('the totals without `values`; only where the request has `by`'),
  })
  .meta({ id: 'GatewayUse' });

const OPERATION_SUMS = {
  requests_24h: count.describe('requests of the last 24 hours, in whole hours').meta({ examples: [120] }),
  requests_30d: count.describe('requests of today and the 29 days before, in UTC').meta({ examples: [4031] }),
  last_seen_at: time
    .nullable()
    .describe('start of the hour of the last request, of its day if that was before; `null`: none in 30 days')
    .meta({ examples: ['2026-11-21T08:00:00.000Z'] }),
} as const;

/** The answer of `GET …/gateways/{ruleId}/operations/usage`. */
export const OPERATION_USE = z
  .object({
    operations: z
      .array(
        z.object({
          operation_id: z.string().optional().describe('id of the operation; absent: it has none'),
          methods: z.array(z.string()).describe('its methods'),
          path: z.string().describe('its template'),
          ...OPERATION_SUMS,
        }),
      )
      .describe('every operation of the gateway, in its order'),
    unlisted: z.object(OPERATION_SUMS).describe('requests that no operation describes'),
  })
  .meta({ id: 'OperationUse' });

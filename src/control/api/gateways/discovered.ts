/** The answer about operations that traffic shows. */
import { z } from 'zod';

/** What `GET …/operations/discovered` answers. */
export const DISCOVERED = z
  .object({
    from: z.iso.datetime().describe('start of the period, inclusive'),
    to: z.iso.datetime().describe('end of the period, exclusive'),
    operations: z
      .array(
        z.object({
          methods: z
            .array(z.string())
            .describe('one method')
            .meta({ examples: [['GET']] }),
          path: z
            .string()
            .describe('template below `base_path`')
            .meta({ examples: ['/orders/{orderId}'] }),
          source: z.literal('discovered'),
          parameters: z
            .array(
              z.object({
                name: z.string().meta({ examples: ['orderId'] }),
                type: z
                  .enum(['integer', 'uuid', 'date', 'string'])
                  .describe('what all of its values were')
                  .meta({ examples: ['integer'] }),
              }),
            )
            .describe('in the order of the template'),
          requests: z
            .int()
            .min(0)
            .describe('forwarded requests with a success as the response, at least')
            .meta({ examples: [1204] }),
        }),
      )
      .describe('by path and method; those that the gateway has are left out'),
  })
  .meta({ id: 'DiscoveredOperations' });

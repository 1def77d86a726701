/**
 * The form of `origin_route` rules, which forward matching paths to another origin than the record's (semantics §5).
 */
import { MAX_NAME_CHARACTERS } from '../../../base/vocabulary/limits.ts';
import { pathRule, type RuleOf } from '../common.ts';
import { checked, text } from '../fields.ts';
import { ADDRESS_FIELDS, judgeHostHeader, ORIGIN_COUNTRY } from '../text-checks.ts';

/** The form of the type. */
export const originRouteForm = pathRule({
  type: 'origin_route',
  summary: "Send paths to another origin than the record's",
  example: { path_includes: ['/api/*'], address: '198.51.100.30', port: 8080, scheme: 'http' },
  origins: ({ address }) => [{ path: ['address'], address }],
  fields: {
    ...ADDRESS_FIELDS,
    host_header: checked(text(), judgeHostHeader)
      .default('')
      .describe("Host header and TLS server name that the origin gets; empty: the request's own host")
      .meta({ examples: ['api.internal.example'] }),
    country: ORIGIN_COUNTRY,
    name: text(MAX_NAME_CHARACTERS)
      .default('')
      .describe('label without effect on routing')
      .meta({ examples: ['api servers'] }),
  },
});

/** A stored rule of the type. */
export type OriginRouteRule = RuleOf<typeof originRouteForm>;

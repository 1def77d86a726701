/**
 * The form of `origin_route` rules, which forward matching paths to another origin than the record's (semantics §5).
 */
import { MAX_NAME_CHARACTERS } from '../../base/limits.ts';
import { ORIGIN_SCHEMES } from '../../base/vocabulary.ts';
import { pathRule, type RuleOf } from '../common.ts';
import { anyCase, checked, filledText, originCountry, port, text } from '../fields.ts';
import { judgeAddress, judgeHostHeader } from '../location.ts';

/** The form of the type. */
export const originRouteForm = pathRule({
  type: 'origin_route',
  fields: {
    address: checked(filledText(), judgeAddress)
      .describe('IP address or host name of the origin')
      .meta({ examples: ['198.51.100.30'] }),
    port: port()
      .nullable()
      .default(null)
      .describe('port of the origin; null: 443 for `https`, 80 for `http`')
      .meta({ examples: [8080] }),
    scheme: anyCase(ORIGIN_SCHEMES)
      .default('https')
      .describe('protocol of connections to the origin')
      .meta({ examples: ['http'] }),
    host_header: checked(text(), judgeHostHeader)
      .default('')
      .describe("Host header and TLS server name that the origin gets; empty: the request's own host")
      .meta({ examples: ['api.internal.example'] }),
    country: originCountry()
      .describe('country of the origin (ISO 3166-1 alpha-2); a note without effect')
      .meta({ examples: ['DE'] }),
    name: text(MAX_NAME_CHARACTERS)
      .default('')
      .describe('label without effect on routing')
      .meta({ examples: ['api servers'] }),
  },
});

/** A stored rule of the type. */
export type OriginRouteRule = RuleOf<typeof originRouteForm>;

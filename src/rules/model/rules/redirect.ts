/**
 * The form of `redirect` rules, which answer with an HTTP redirect; the request does not reach an origin (semantics
 * §5).
 */
import { z } from 'zod';
import { MAX_LOCATION_CHARACTERS } from '../../../base/vocabulary/limits.ts';
import { REDIRECT_STATUSES } from '../../../base/vocabulary/vocabulary.ts';
import { pathRule, type RuleOf } from '../common.ts';
import { checked, flag, text } from '../fields.ts';
import { judgeRedirectTarget } from '../text-checks.ts';

/** The form of the type; the answer to a create also carries `www_record`. */
export const redirectForm = pathRule({
  type: 'redirect',
  summary: 'Answer with a redirect',
  example: { path_includes: ['/old/*'], target: '/new', status_code: 301 },
  fields: {
    target: checked(text(MAX_LOCATION_CHARACTERS), judgeRedirectTarget)
      .describe(
        'an absolute `http` or `https` URL, or a path of the same site that starts with one `/`; literal text',
      )
      .meta({ examples: ['https://www.example.com/new'] }),
    status_code: z
      .literal(REDIRECT_STATUSES)
      .default(302)
      .describe('301 and 308 are permanent: browsers cache them for long; 307 and 308 preserve the method')
      .meta({ examples: [301] }),
    preserve_query: flag(true)
      .describe("appends the request's query to `target`")
      .meta({ examples: [false] }),
    preserve_path: flag(false)
      .describe("appends the request's path to the path of `target`")
      .meta({ examples: [true] }),
  },
  answered: ['www_record'],
});

/** A stored rule of the type. */
export type RedirectRule = RuleOf<typeof redirectForm>;

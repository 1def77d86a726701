/**
 * The form of `cache` rules, which define what nodes cache, for how long and under which key (semantics §5; the API
 * document does not define the fields). Times are in seconds; `null` follows the origin's `Cache-Control` (RFC 9111).
 */
import { z } from 'zod';
import { MAX_CACHE_TTL_SEC } from '../../../base/vocabulary/limits.ts';
import { CACHE_MODES, CACHE_QUERY_MODES } from '../../../base/vocabulary/vocabulary.ts';
import { pathRule, type RuleOf } from '../common.ts';
import { integer, textList } from '../fields.ts';
import { crossCheck, type FormValues } from '../form.ts';

/** The fields that only this type has. */
const FIELDS = {
  mode: z
    .enum(CACHE_MODES)
    .default('standard')
    .describe("`standard` follows the origin's headers, `force` caches without them, `bypass` does not cache")
    .meta({ examples: ['force'] }),
  edge_ttl_sec: integer(0, MAX_CACHE_TTL_SEC)
    .nullable()
    .default(null)
    .describe('seconds for which the edge reuses a response; null: as the origin says')
    .meta({ examples: [86400] }),
  browser_ttl_sec: integer(0, MAX_CACHE_TTL_SEC)
    .nullable()
    .default(null)
    .describe(
      'seconds for which browsers reuse a response (`Cache-Control: max-age`); null: as the origin says',
    )
    .meta({ examples: [3600] }),
  query_mode: z
    .enum(CACHE_QUERY_MODES)
    .default('all')
    .describe(
      'which query parameters are part of the cache key and reach the origin: `all`, `none`, or those that `query_params` lists (`include`)',
    )
    .meta({ examples: ['include'] }),
  query_params: textList()
    .default([])
    .describe('parameter names under `query_mode: include`')
    .meta({ examples: [['page', 'lang']] }),
};

/** Warns about `include` without parameters, and about parameters without `include`. */
const params = crossCheck<Pick<FormValues<typeof FIELDS>, 'query_mode' | 'query_params'>>(
  ['query_mode', 'query_params'],
  ({ query_mode, query_params }, scope) => {
    if (query_mode === 'include' && query_params.length === 0) {
      const message = 'lists nothing, so `include` keeps no parameter';
      scope.warn(['query_params'], {
        code: 'no_params',
        message,
        remedy: 'list parameters, or write `none`',
      });
    }
    if (query_mode !== 'include' && query_params.length > 0) {
      const message = `has no effect while \`query_mode\` is \`${query_mode}\``;
      scope.warn(['query_params'], { code: 'unused_field', message });
    }
  },
);

/** The form of the type. */
export const cacheForm = pathRule({
  type: 'cache',
  summary: 'Say what the edge and browsers keep, and for how long',
  example: { path_includes: ['/assets/*'], edge_ttl_sec: 86400 },
  fields: FIELDS,
  checks: [params],
});

/** A stored rule of the type. */
export type CacheRule = RuleOf<typeof cacheForm>;

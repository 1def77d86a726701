/** Says what is cached, for how long and under which key (semantics §5; the API document leaves its fields open). */
import { z } from 'zod';
import { MAX_CACHE_TTL_SEC } from '../../base/limits.ts';
import { CACHE_MODES, CACHE_QUERY_MODES } from '../../base/vocabulary.ts';
import {
  COMMON_FIELDS,
  COMMON_IGNORED,
  finishCommon,
  finishPath,
  PATH_CHECKS,
  PATH_FIELDS,
  type StoredRule,
} from '../common.ts';
import { integer, textList } from '../fields.ts';
import { crossCheck, type FormValues, form } from '../form.ts';
import type { CacheRule } from '../types.ts';

const OWN_FIELDS = {
  mode: z.enum(CACHE_MODES).default('standard'),
  edge_ttl_sec: integer(0, MAX_CACHE_TTL_SEC).nullable().default(null),
  browser_ttl_sec: integer(0, MAX_CACHE_TTL_SEC).nullable().default(null),
  query_mode: z.enum(CACHE_QUERY_MODES).default('all'),
  query_params: textList().default([]),
};

const params = crossCheck<Pick<FormValues<typeof OWN_FIELDS>, 'query_mode' | 'query_params'>>(
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

export const cacheForm = {
  type: 'cache',
  ...form({
    fields: { ...COMMON_FIELDS, ...PATH_FIELDS, ...OWN_FIELDS },
    ignored: COMMON_IGNORED,
    checks: [...PATH_CHECKS, params],
    finish: (values): StoredRule<CacheRule> => ({
      ...finishCommon(values),
      ...finishPath(values),
      mode: values.mode,
      edge_ttl_sec: values.edge_ttl_sec,
      browser_ttl_sec: values.browser_ttl_sec,
      query_mode: values.query_mode,
      query_params: values.query_params,
    }),
  }),
} as const;

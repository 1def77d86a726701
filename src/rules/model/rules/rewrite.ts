/** The form of `rewrite` rules, which change the path and the query that the origin gets (semantics §5). */
import { z } from 'zod';
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { hasDotSegment } from '../../../base/paths/path.ts';
import { MAX_LOCATION_CHARACTERS } from '../../../base/vocabulary/limits.ts';
import { REWRITE_QUERY_MODES } from '../../../base/vocabulary/vocabulary.ts';
import { type PATH_FIELDS, pathRule, type RuleOf } from '../common.ts';
import { checked, text } from '../fields.ts';
import { crossCheck, type FormValues } from '../form.ts';
import { checkReferences } from '../substitution.ts';
import { judgePathTarget, judgeQueryTarget } from '../text-checks.ts';

/** The fields that only this type has. */
const FIELDS = {
  path_target: checked(text(MAX_LOCATION_CHARACTERS), judgePathTarget)
    .default('')
    .describe(
      'path that the origin gets; empty: unchanged. Under `path_match_type: regex`, `$1`, `${1}` and `${name}` insert groups of the first include entry that matches',
    )
    .meta({ examples: ['/v2/$1'] }),
  query_mode: z
    .enum(REWRITE_QUERY_MODES)
    .default('preserve')
    .describe('`preserve` forwards the query, `strip` drops it, `replace` sends `query_target`')
    .meta({ examples: ['replace'] }),
  query_target: checked(text(MAX_LOCATION_CHARACTERS), judgeQueryTarget)
    .default('')
    .describe('query under `query_mode: replace`, without `?`')
    .meta({ examples: ['source=edge'] }),
};
/** The values of the own fields after their defaults. */
type OwnValues = FormValues<typeof FIELDS>;
/** The fields that the check of the path target reads. */
type TargetValues = Pick<OwnValues, 'path_target'> &
  Pick<FormValues<typeof PATH_FIELDS>, 'path_match_type' | 'path_includes'>;

/** Checks the references of a regex rewrite; warns about a literal `$` and about dot segments in the target. */
const target = crossCheck<TargetValues>(
  ['path_target', 'path_match_type', 'path_includes'],
  (values, scope) => {
    const { path_target } = values;
    const referring = { field: 'path_target', target: path_target, includes: values.path_includes };
    if (values.path_match_type === 'regex') checkReferences(referring, scope);
    else if (/\$(?:[0-9]|\{)/.test(path_target)) {
      const message = 'holds a `$` that is literal text while `path_match_type` is `wildcard`';
      const remedy = 'set `path_match_type` to `regex` to refer to groups';
      scope.warn(['path_target'], {
        code: 'literal_dollar',
        message,
        found: quoteValue(path_target),
        remedy,
      });
    }
    if (path_target !== '' && hasDotSegment(path_target)) {
      const message = 'holds a dot segment, so every request this rule matches is refused with 400';
      scope.warn(['path_target'], { code: 'dot_segment', message, found: quoteValue(path_target) });
    }
  },
);

/** Requires a query for `replace`; warns about one without effect and about a doubled `?`. */
const query = crossCheck<Pick<OwnValues, 'query_mode' | 'query_target'>>(
  ['query_mode', 'query_target'],
  ({ query_mode, query_target }, scope) => {
    if (query_mode === 'replace' && query_target === '') {
      const message = 'must not be empty while `query_mode` is `replace`';
      scope.error(['query_target'], {
        code: 'missing_field',
        message,
        remedy: 'write `strip` to drop the query',
      });
    }
    if (query_mode !== 'replace' && query_target !== '') {
      const message = `has no effect while \`query_mode\` is \`${query_mode}\` and is left out`;
      scope.warn(['query_target'], { code: 'unused_field', message });
    }
    if (query_target.startsWith('?')) {
      const message = 'starts with `?`, so the origin gets `??`';
      scope.warn(['query_target'], { code: 'doubled_mark', message, remedy: 'leave out the `?`' });
    }
  },
);

/** Refuses a rule that changes neither the path nor the query. */
const effect = crossCheck<Pick<OwnValues, 'path_target' | 'query_mode'>>(
  ['path_target', 'query_mode'],
  ({ path_target, query_mode }, scope) => {
    if (path_target !== '' || query_mode !== 'preserve') return;
    const message = 'this rule changes nothing: `path_target` is empty and `query_mode` is `preserve`';
    const remedy = 'set `path_target`, or `query_mode` to `strip` or `replace`';
    scope.refuse([], { code: 'changes_nothing', message, remedy });
  },
);

/** The form of the type; a `query_target` without effect is stored empty. */
export const rewriteForm = pathRule({
  type: 'rewrite',
  summary: 'Change path and query towards the origin',
  example: {
    path_match_type: 'regex',
    path_includes: ['^/shop/(.*)$'],
    path_target: '/store/$1',
    query_mode: 'preserve',
  },
  fields: FIELDS,
  checks: [target, query, { ...effect, ofAbsence: true }],
  unused: ({ query_mode }) => (query_mode === 'replace' ? {} : { query_target: '' }),
});

/** A stored rule of the type. */
export type RewriteRule = RuleOf<typeof rewriteForm>;

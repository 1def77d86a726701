/** The form of `rewrite` rules, which change the path and the query that the origin gets (semantics §5). */
import { z } from 'zod';
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { hasDotSegment } from '../../../base/paths/path.ts';
import { MAX_LOCATION_CHARACTERS } from '../../../base/vocabulary/limits.ts';
import { REWRITE_QUERY_MODES } from '../../../base/vocabulary/vocabulary.ts';
import { type PATH_FIELDS, pathRule, type RuleOf } from '../common.ts';
import { checked, text } from '../fields.ts';
import { crossCheck, type FormScope, type FormValues } from '../form.ts';
import { judgePathTarget, judgeQueryTarget } from '../text-checks.ts';

// Parses the `path_target` of a regex rewrite: literal text, references to capture groups `$1`, `${1}` and `${name}`,
// and `$$` for a literal `$` (semantics §5).

/** A piece of a target. `index` counts groups from 1; 0, the whole match, cannot be written. */
export type TargetPiece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'group'; readonly index: number }
  | { readonly kind: 'name'; readonly name: string };

/**
 * The pieces of a target in order, adjacent texts joined; or the first invalid text `at`, and its message and remedy.
 */
export type Substitution =
  | { readonly ok: true; readonly pieces: readonly TargetPiece[] }
  | { readonly ok: false; readonly at: string; readonly reason: string; readonly remedy: string };

/**
 * Splits a target into literal text and references. Group numbers have at most five digits; whether a group exists is
 * not checked.
 */
export function parseSubstitution(target: string): Substitution {
  const pieces: TargetPiece[] = [];
  let text = '';
  let position = 0;
  while (position < target.length) {
    const dollar = target.indexOf('$', position);
    if (dollar < 0) break;
    text += target.slice(position, dollar);
    if (target[dollar + 1] === '$') {
      text += '$';
      position = dollar + 2;
      continue;
    }
    // At most 200 characters: a longer name in braces is refused as no reference.
    const reference = /^\$(?:([0-9]+)|\{([0-9]+|[A-Za-z_][A-Za-z0-9_]*)\})/.exec(
      target.slice(dollar, dollar + 200),
    );
    if (reference === null) return refuse(target, dollar);
    const inner = reference[1] ?? reference[2]!;
    const numeric = /^[0-9]+$/.test(inner);
    // Languages read `$01` and `$0` differently, so both are refused.
    if (numeric && !/^[1-9][0-9]{0,4}$/.test(inner)) return refuseNumber(reference[0]);
    if (text !== '') pieces.push({ kind: 'text', text });
    text = '';
    pieces.push(numeric ? { kind: 'group', index: Number(inner) } : { kind: 'name', name: inner });
    position = dollar + reference[0].length;
  }
  text += target.slice(position);
  if (text !== '') pieces.push({ kind: 'text', text });
  return { ok: true, pieces };
}

/** The refusal of a `$` that starts no reference; `at` has at most 8 characters. */
function refuse(target: string, dollar: number): Substitution {
  const at = target.slice(dollar, dollar + 8);
  if (at.startsWith('${')) {
    const reason = 'holds a `${` that is no reference to a group';
    return { ok: false, at, reason, remedy: 'write `${1}` or `${name}`, or `$$` for a literal `$`' };
  }
  return { ok: false, at, reason: 'holds a lone `$`', remedy: 'write `$$` for a literal `$`' };
}

/** The refusal of group 0, of a leading zero, and of more than five digits. */
function refuseNumber(at: string): Substitution {
  const remedy =
    'groups are numbered from 1 without leading zeros; put the whole pattern in `( )` to refer to all of it';
  return { ok: false, at, reason: 'refers to a group by a number that groups do not have', remedy };
}

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
    if (values.path_match_type === 'regex') checkReferences(values, scope);
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

/**
 * Checks that each reference names a group of some include entry, and that capturing from each entry is cheap enough.
 */
function checkReferences({ path_target, path_includes }: TargetValues, scope: FormScope): void {
  const parsed = parseSubstitution(path_target);
  if (!parsed.ok) {
    const { at, reason: message, remedy } = parsed;
    scope.error(['path_target'], { code: 'invalid_reference', message, found: quoteValue(at), remedy });
    return;
  }
  if (parsed.pieces.every((piece) => piece.kind === 'text')) return;
  let groups = 0;
  const names = new Set<string>();
  for (const [index, include] of (path_includes ?? []).entries()) {
    const pattern = scope.patterns.check(include, { ignoreCase: false, of: 'path' });
    // A refused pattern has its own error, and its groups are unknown, so no reference can be checked.
    if (pattern.ok !== true) return;
    const costly = scope.patterns.captures(include);
    if (costly !== null) {
      const found = quoteValue(include);
      scope.error(['path_includes', index], { code: 'capture_budget', message: costly, found });
    }
    groups = Math.max(groups, pattern.groups);
    for (const name of pattern.names) names.add(name);
  }
  for (const piece of parsed.pieces) {
    const found = piece.kind === 'name' && !names.has(piece.name) ? `\${${piece.name}}` : null;
    const missing = piece.kind === 'group' && piece.index > groups ? `$${piece.index}` : found;
    if (missing === null) continue;
    const message = 'refers to a group that no entry of `path_includes` has';
    scope.error(['path_target'], { code: 'unknown_group', message, found: quoteValue(missing) });
  }
}

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

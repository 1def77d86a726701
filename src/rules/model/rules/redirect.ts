/**
 * The form of `redirect` rules, which answer with an HTTP redirect; the request does not reach an origin (semantics
 * §5, §14).
 */
import { z } from 'zod';
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { MAX_LOCATION_CHARACTERS } from '../../../base/vocabulary/limits.ts';
import { REDIRECT_STATUSES, REDIRECT_TARGET_MODES } from '../../../base/vocabulary/vocabulary.ts';
import { type PATH_FIELDS, pathRule, type RuleOf } from '../common.ts';
import { checked, flag, text } from '../fields.ts';
import { crossCheck, type FormValues } from '../form.ts';
import { judgeListName, namesList } from '../list-name.ts';
import type { Problem } from '../report.ts';
import { checkReferences } from '../substitution.ts';
import { judgeRedirectTarget } from '../text-checks.ts';

/** The name of a list. */
const listName = checked(text(), (value) =>
  value === ''
    ? null
    : namesList(value)
      ? judgeListName(value.slice(1))
      : { code: 'list_name', message: 'must be the name of a list after `@`' },
);

/** The fields that only this type has. */
const FIELDS = {
  target: text(MAX_LOCATION_CHARACTERS)
    .default('')
    .describe(
      'required without `targets`: an absolute `http` or `https` URL, or a path of the same site that starts with one `/`; literal text unless `target_mode` says otherwise',
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
  target_mode: z
    .enum(REDIRECT_TARGET_MODES)
    .optional()
    .describe(
      'default: `literal`, which is stored as absent. `captures`: `$1`, `${1}` and `${name}` in `target`, after its host, insert groups of the first include entry that matches; only with `path_match_type: regex`, without `preserve_path`',
    )
    .meta({ examples: ['captures'] }),
  targets: listName
    .optional()
    .describe(
      '`@name` of a list of redirects: the rule answers the entry of the path, and matches no other path; without `target`, `path_includes`, `preserve_path` and `target_mode`; empty: none',
    )
    .meta({ examples: ['@old-urls'] }),
};

/** Checks that there is a target, or a list of them and nothing that only a target has. */
const targets = crossCheck<Readonly<Record<string, unknown>>>(
  ['target', 'targets', 'path_includes', 'path_match_type', 'preserve_path', 'target_mode'],
  (written, scope) => {
    const { target, targets: listed } = written;
    if (listed === undefined || listed === '') {
      const problem = typeof target === 'string' ? judgeRedirectTarget(target) : NO_TARGET;
      if (problem !== null) scope.error(['target'], { found: quoteValue(target), ...problem });
      return;
    }
    for (const [field, isFree] of BESIDE_TARGETS) {
      if (isFree(written[field])) continue;
      const message = 'must be left out while `targets` is set';
      const remedy = field === 'target' ? 'leave one of the two out' : `leave \`${field}\` out`;
      scope.error([field], { code: 'target_mode', message, remedy });
    }
  },
);

const NO_TARGET: Problem = { code: 'missing_field', message: 'is missing; it must be text', found: null };

/** What fields may be beside `targets`: absent, or as they are by default, which answers have. */
const BESIDE_TARGETS: readonly (readonly [string, (value: unknown) => boolean])[] = [
  ['target', (value) => value === undefined || value === ''],
  ['path_includes', (value) => value === undefined || (Array.isArray(value) && value.join() === '/*')],
  ['path_match_type', (value) => value === undefined || value === 'wildcard'],
  ['preserve_path', (value) => value === undefined || value === false],
  ['target_mode', (value) => value === undefined || value === 'literal'],
];

/** The fields that the check of captures reads. */
type TargetValues = Pick<FormValues<typeof FIELDS>, 'target' | 'target_mode' | 'preserve_path'> &
  Pick<FormValues<typeof PATH_FIELDS>, 'path_match_type' | 'path_includes'>;

/** Checks what a target with captures needs of the other fields, and its references. */
const captures = crossCheck<TargetValues>(
  ['target', 'target_mode', 'preserve_path', 'path_match_type', 'path_includes'],
  ({ target, target_mode, preserve_path, path_match_type, path_includes }, scope) => {
    if (target_mode !== 'captures') return;
    if (path_match_type !== 'regex') {
      const message = 'must not be `captures` while `path_match_type` is `wildcard`, which has no groups';
      const remedy = 'set `path_match_type` to `regex`, or leave `target_mode` out';
      scope.error(['target_mode'], { code: 'target_mode', message, remedy });
      return;
    }
    if (preserve_path) {
      const message = 'must not be true while `target_mode` is `captures`';
      const remedy = 'put the path into a group and write that into `target`';
      scope.error(['preserve_path'], { code: 'target_mode', message, remedy });
    }
    checkReferences({ field: 'target', target, includes: path_includes }, scope);
  },
);

/** The form of the type; the answer to a create also carries `www_record`. */
export const redirectForm = pathRule({
  type: 'redirect',
  summary: 'Answer with a redirect',
  example: { path_includes: ['/old/*'], target: '/new', status_code: 301 },
  fields: FIELDS,
  checks: [{ ...targets, asWritten: true, ofAbsence: true }, captures],
  answered: ['www_record'],
  unused: ({ target_mode, targets: listed }) => ({
    ...(target_mode === REDIRECT_TARGET_MODES[0] ? { target_mode: undefined } : {}),
    ...(listed === '' ? { targets: undefined } : {}),
  }),
});

/** A stored rule of the type. */
export type RedirectRule = RuleOf<typeof redirectForm>;

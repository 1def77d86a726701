/** The form of `waf` rules, which inspect requests with the OWASP Core Rule Set (semantics §5). */
import { z } from 'zod';
import {
  MAX_BODY_CAP_KB,
  MAX_PARANOIA,
  MAX_SIGNATURE_ID,
  MAX_WAF_EXCLUSIONS,
  MAX_WAF_THRESHOLD,
} from '../../../base/vocabulary/limits.ts';
import { UNINSPECTED_MODES, WAF_TARGETS } from '../../../base/vocabulary/vocabulary.ts';
import { pathRule, type RuleOf, reportEntry } from '../common.ts';
import { checked, filledText, integer, list, text, textList } from '../fields.ts';
import { crossCheck, type Stored } from '../form.ts';
import type { Problem } from '../report.ts';
import { judgePathEntry } from '../text-checks.ts';

/** The fields of one exclusion; exactly one of `id` and `tag` names its signatures. */
export const EXCLUSION_FIELDS = {
  id: integer(1, MAX_SIGNATURE_ID)
    .nullable()
    .default(null)
    .describe('the signature; null where `tag` names a group')
    .meta({ examples: [942100] }),
  tag: text()
    .default('')
    .describe('every signature with this tag, such as `attack-sqli`; empty where `id` is set')
    .meta({ examples: ['attack-sqli'] }),
  target: checked(text(), judgeTarget)
    .default('')
    .describe(
      'what the signatures do not inspect: `ARGS:comment`, `REQUEST_COOKIES:sess*`, `REQUEST_HEADERS`; empty: the signatures do not count at all',
    )
    .meta({ examples: ['ARGS:comment'] }),
  path: filledText()
    .default('/*')
    .describe('paths where the exclusion applies: a wildcard over the canonical path')
    .meta({ examples: ['/posts/*'] }),
};

/**
 * One exclusion: signatures, one by id or a group by tag, that do not count or do not inspect a target, on some paths.
 * Corresponds to ModSecurity's `ctl:ruleRemoveById`, `ctl:ruleRemoveTargetById` and their variants by tag.
 */
export type WafExclusion = Stored<typeof EXCLUSION_FIELDS>;

/**
 * Checks a target: a variable of the request and, for a collection, an optional `:` and member name, in which `*` is
 * any text.
 */
function judgeTarget(target: string): Problem | null {
  if (target === '') return null;
  const colon = target.indexOf(':');
  const variable = colon < 0 ? target : target.slice(0, colon);
  const code = 'invalid_target';
  if (!Object.hasOwn(WAF_TARGETS, variable)) {
    const message = `must be a variable of the request: ${Object.keys(WAF_TARGETS).join(', ')}`;
    const upper = variable.toUpperCase();
    if (!Object.hasOwn(WAF_TARGETS, upper)) return { code, message };
    return { code, message, remedy: `write \`${upper}\`` };
  }
  if (colon < 0) return null;
  if (WAF_TARGETS[variable as keyof typeof WAF_TARGETS] === 'single') {
    return { code, message: `\`${variable}\` has no members`, remedy: `write \`${variable}\` alone` };
  }
  return colon + 1 < target.length ? null : { code, message: 'must name a member after the colon' };
}

/** Checks that each exclusion names a signature or a group, not both, and has a path that can match. */
const exclusions = crossCheck<{ readonly exclusions: readonly WafExclusion[] }>(
  ['exclusions'],
  (values, scope) => {
    for (const [index, { id, tag, path }] of values.exclusions.entries()) {
      if (scope.full()) return;
      if ((id === null) === (tag === '')) {
        const message = 'must name a signature by `id` or a group by `tag`, and not both';
        scope.error(['exclusions', index], { code: 'exclusion_subject', message, found: null });
      }
      const problem = judgePathEntry(path);
      if (problem !== null) reportEntry(['exclusions', index, 'path'], { entry: path, problem }, scope);
    }
  },
);

/** The form of the type. */
export const wafForm = pathRule({
  type: 'waf',
  summary: 'Score requests by attack signatures, and block at a threshold',
  example: { paranoia: 1, threshold: 5, action_mode: 'dry_run' },
  fields: {
    paranoia: integer(1, MAX_PARANOIA)
      .default(1)
      .describe(
        'paranoia level of the Core Rule Set: a higher one finds more attacks and more false positives',
      )
      .meta({ examples: [2] }),
    threshold: integer(1, MAX_WAF_THRESHOLD)
      .default(5)
      .describe('anomaly score from which on a request is blocked; a critical signature adds 5')
      .meta({ examples: [10] }),
    body_cap_kb: integer(0, MAX_BODY_CAP_KB)
      .default(128)
      .describe('KiB of the request body that are inspected; 0: the body is not inspected')
      .meta({ examples: [256] }),
    rule_excludes: textList()
      .default([])
      .describe('ids of signatures that do not count')
      .meta({ examples: [['942100']] }),
    exclusions: list(z.strictObject(EXCLUSION_FIELDS), MAX_WAF_EXCLUSIONS)
      .default([])
      .describe(
        'signatures that leave out a target, or do not count, on some paths; each names one by `id` or a group by `tag`',
      )
      .meta({ examples: [[{ tag: 'attack-sqli', target: 'ARGS:comment', path: '/posts/*' }]] }),
    on_uninspected: z
      .enum(UNINSPECTED_MODES)
      .default('score')
      .describe(
        'what follows when a body cannot be parsed as its Content-Type says, is in a coding that does not inflate, was not read, or is longer than `body_cap_kb`: `score` adds 5 but for the part beyond the cap, `block` blocks, `pass` does nothing',
      )
      .meta({ examples: ['block'] }),
  },
  nested: { exclusions: Object.keys(EXCLUSION_FIELDS) },
  checks: [exclusions],
});

/** A stored rule of the type; `body_cap_kb` in KiB. */
export type WafRule = RuleOf<typeof wafForm>;

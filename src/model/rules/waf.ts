/** Runs a core rule set of attack signatures. */
import { z } from 'zod';
import {
  MAX_BODY_CAP_KB,
  MAX_PARANOIA,
  MAX_SIGNATURE_ID,
  MAX_WAF_EXCLUSIONS,
  MAX_WAF_THRESHOLD,
} from '../../base/limits.ts';
import { UNINSPECTED_MODES, WAF_TARGETS } from '../../base/vocabulary.ts';
import {
  COMMON_FIELDS,
  COMMON_IGNORED,
  finishCommon,
  finishPath,
  PATH_CHECKS,
  PATH_FIELDS,
  reportEntry,
  type StoredRule,
} from '../common.ts';
import { judgePathEntry } from '../entries.ts';
import { checked, filledText, integer, list, text, textList } from '../fields.ts';
import { crossCheck, form } from '../form.ts';
import type { Problem } from '../report.ts';
import type { WafExclusion, WafRule } from '../types.ts';

const EXCLUSION_FIELDS = {
  id: integer(1, MAX_SIGNATURE_ID).nullable().default(null),
  tag: text().default(''),
  target: checked(text(), judgeTarget).default(''),
  path: filledText().default('/*'),
};

/** A variable of the request, where it has members with `:` and a name; a `*` in the name is any run of characters. */
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

export const wafForm = {
  type: 'waf',
  ...form({
    fields: {
      ...COMMON_FIELDS,
      ...PATH_FIELDS,
      paranoia: integer(1, MAX_PARANOIA).default(1),
      threshold: integer(1, MAX_WAF_THRESHOLD).default(5),
      body_cap_kb: integer(0, MAX_BODY_CAP_KB).default(128),
      rule_excludes: textList().default([]),
      exclusions: list(z.strictObject(EXCLUSION_FIELDS), MAX_WAF_EXCLUSIONS).default([]),
      on_uninspected: z.enum(UNINSPECTED_MODES).default('score'),
    },
    ignored: COMMON_IGNORED,
    nested: { exclusions: Object.keys(EXCLUSION_FIELDS) },
    checks: [...PATH_CHECKS, exclusions],
    finish: (values): StoredRule<WafRule> => ({
      ...finishCommon(values),
      ...finishPath(values),
      paranoia: values.paranoia,
      threshold: values.threshold,
      body_cap_kb: values.body_cap_kb,
      rule_excludes: values.rule_excludes,
      exclusions: values.exclusions,
      on_uninspected: values.on_uninspected,
    }),
  }),
} as const;

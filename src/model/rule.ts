/** Lists the forms of the twelve rule types; each is defined in its own file of `rules/`. */
import type { RuleType } from '../base/vocabulary.ts';
import type { StoredRule } from './common.ts';
import type { Form } from './form.ts';
import { botRouteForm } from './rules/bot-route.ts';
import { cacheForm } from './rules/cache.ts';
import { captchaForm } from './rules/captcha.ts';
import { dropForm } from './rules/drop.ts';
import { errorPageForm } from './rules/error-page.ts';
import { fingerprintForm } from './rules/fingerprint.ts';
import { originPoolForm } from './rules/origin-pool.ts';
import { originRouteForm } from './rules/origin-route.ts';
import { rateLimitForm } from './rules/rate-limit.ts';
import { redirectForm } from './rules/redirect.ts';
import { rewriteForm } from './rules/rewrite.ts';
import { wafForm } from './rules/waf.ts';
import type { Rule } from './types.ts';

/** The form of each rule type, in the order of the phases (semantics §4). */
export const RULE_FORMS = {
  drop: dropForm,
  fingerprint: fingerprintForm,
  bot_route: botRouteForm,
  rate_limit: rateLimitForm,
  waf: wafForm,
  redirect: redirectForm,
  captcha: captchaForm,
  rewrite: rewriteForm,
  cache: cacheForm,
  origin_route: originRouteForm,
  origin_pool: originPoolForm,
  error_page: errorPageForm,
} as const satisfies { readonly [T in RuleType]: { readonly type: T } };

/** The form of one type without the types of its fields, for code that reads rules of any type. */
export function ruleForm(type: RuleType): Form<object & Record<string, never>, StoredRule<Rule>> {
  return RULE_FORMS[type] as unknown as Form<Record<string, never>, StoredRule<Rule>>;
}

/** Lists the forms of the rule types; each is defined in its own file of `rules/`. */
import type { RuleType } from '../../base/vocabulary/vocabulary.ts';
import type { RuleOf, RuleOrigin, StoredRule } from './common.ts';
import type { Form } from './form.ts';
import { botRouteForm } from './rules/bot-route.ts';
import { cacheForm } from './rules/cache.ts';
import { captchaForm } from './rules/captcha.ts';
import { dropForm } from './rules/drop.ts';
import { errorPageForm } from './rules/error-page.ts';
import { fingerprintForm } from './rules/fingerprint.ts';
import { gatewayForm } from './rules/gateway.ts';
import { headersForm } from './rules/headers.ts';
import { originPoolForm } from './rules/origin-pool.ts';
import { originRouteForm } from './rules/origin-route.ts';
import { rateLimitForm } from './rules/rate-limit.ts';
import { redirectForm } from './rules/redirect.ts';
import { rewriteForm } from './rules/rewrite.ts';
import { wafForm } from './rules/waf.ts';

/** The form of each rule type, in the order of the phases (semantics §4). */
export const RULE_FORMS = {
  drop: dropForm,
  fingerprint: fingerprintForm,
  bot_route: botRouteForm,
  rate_limit: rateLimitForm,
  gateway: gatewayForm,
  waf: wafForm,
  redirect: redirectForm,
  captcha: captchaForm,
  rewrite: rewriteForm,
  cache: cacheForm,
  origin_route: originRouteForm,
  origin_pool: originPoolForm,
  error_page: errorPageForm,
  headers: headersForm,
} as const satisfies { readonly [T in RuleType]: { readonly type: T } };

/** A rule of any type; `type` discriminates the union. */
export type Rule = { readonly [T in RuleType]: RuleOf<(typeof RULE_FORMS)[T]> }[RuleType];

/** The addresses that a rule of a type sends requests to, each with its field. */
export function originsOfRule(type: RuleType, fields: StoredRule<Rule>): readonly RuleOrigin[] {
  const { origins } = RULE_FORMS[type] as unknown as {
    readonly origins?: (own: StoredRule<Rule>) => readonly RuleOrigin[];
  };
  return origins?.(fields) ?? [];
}

/** The form of one type without the types of its fields, for code that reads rules of any type. */
export function ruleForm(type: RuleType): Form<object & Record<string, never>, StoredRule<Rule>> {
  return RULE_FORMS[type] as unknown as Form<Record<string, never>, StoredRule<Rule>>;
}

/** Lists the forms of the twelve rule types; each is defined in its own file of `rules/`. */
import type { RuleType } from '../../base/vocabulary/vocabulary.ts';
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

/** What rules of each type do, in one line; the reference and `edgeplan fields` show it. */
export const RULE_SUMMARIES: Readonly<Record<RuleType, string>> = {
  drop: 'Refuse requests by path, address or country',
  fingerprint: 'Drop, challenge or tag clients by their JA4 and JA4H fingerprints',
  bot_route: 'Block, tag or answer classified bots differently',
  rate_limit: 'Count requests for each address, and refuse or challenge what is above the limit',
  waf: 'Score requests by attack signatures, and block at a threshold',
  redirect: 'Answer with a redirect',
  captcha: 'Challenge visitors',
  rewrite: 'Change path and query towards the origin',
  cache: 'Say what the edge and browsers keep, and for how long',
  origin_route: "Send paths to another origin than the record's",
  origin_pool: 'Spread traffic over several origins, with health checks',
  error_page: 'Answer errors with pages of your own',
};

/** The form of one type without the types of its fields, for code that reads rules of any type. */
export function ruleForm(type: RuleType): Form<object & Record<string, never>, StoredRule<Rule>> {
  return RULE_FORMS[type] as unknown as Form<Record<string, never>, StoredRule<Rule>>;
}

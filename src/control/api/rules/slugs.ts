/** The names of rule types in paths (API document, "Edge rules"; `cache` from semantics §5). */
import type { RuleType } from '../../../base/vocabulary/vocabulary.ts';

/** The path segment of each rule type. */
export const RULE_SLUGS = {
  drop: 'drop',
  fingerprint: 'fingerprint',
  bot_route: 'bot-route',
  rate_limit: 'rate-limit',
  waf: 'waf',
  redirect: 'redirect',
  captcha: 'captcha',
  rewrite: 'rewrite',
  cache: 'cache',
  origin_route: 'origin_route',
  origin_pool: 'origin_pool',
  error_page: 'error-page',
} as const satisfies Readonly<Record<RuleType, string>>;

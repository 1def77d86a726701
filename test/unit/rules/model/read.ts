/** What the tests of the model share: the least a rule of each type needs, and short ways to read one. */
import { describeDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import type { RuleType } from '../../../../src/base/vocabulary/vocabulary.ts';
import { parseRule } from '../../../../src/rules/model/parse.ts';

export type Input = Record<string, unknown>;

/** The required fields of each type. A bare drop rule would drop everything, so it has a country. */
export const LEAST: { readonly [T in RuleType]: Input } = {
  drop: { countries: ['RU'] },
  fingerprint: { match_ja4: ['t13d1516h2_8daaf6152771_e5627efa2ab1'], action: 'drop' },
  bot_route: { bot_kinds: ['gptbot'], action: 'block' },
  rate_limit: { limit: 10 },
  gateway: { auth: { require: 'none' } },
  waf: {},
  redirect: { target: '/new' },
  captcha: {},
  rewrite: { path_target: '/v2' },
  cache: {},
  origin_route: { address: '10.0.0.1' },
  origin_pool: { origins: [{ address: '10.0.0.1' }] },
  error_page: { codes: [502] },
  headers: { response: { remove: ['Server'] } },
};

/** The stored fields of a rule, or a failed expectation that shows every mistake. */
export function stored(type: RuleType, input: Input): Input {
  const parsed = parseRule(type, { ...LEAST[type], ...input });
  if (!parsed.ok) throw new Error(parsed.diagnostics.map(describeDiagnostic).join('; '));
  return parsed.fields as unknown as Input;
}

/** Every error of a rule as the text of a 400 would say it; empty when it is accepted. */
export function mistakes(type: RuleType, input: Input): string[] {
  const { diagnostics } = parseRule(type, { ...LEAST[type], ...input });
  return diagnostics.filter(({ severity }) => severity === 'error').map(describeDiagnostic);
}

/** Every mistake of a rule that an earlier version accepted. */
export function mistakesOfStored(type: RuleType, input: Input): string[] {
  const { diagnostics } = parseRule(type, { ...LEAST[type], ...input }, { stored: true });
  return diagnostics.filter(({ severity }) => severity === 'error').map(describeDiagnostic);
}

/** Every warning of a rule. */
export function warnings(type: RuleType, input: Input): string[] {
  const { diagnostics } = parseRule(type, { ...LEAST[type], ...input });
  return diagnostics.filter(({ severity }) => severity === 'warning').map(describeDiagnostic);
}

/** `count` entries made of their index. */
export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

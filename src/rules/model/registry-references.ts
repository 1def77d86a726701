/**
 * Usage plans and token issuers that gateways name (semantics §15). In: the fields of a rule. Out: what it names, with places, or
 * what is wrong with a name.
 */
import type { FieldPath } from '../../base/diagnostics/diagnostic.ts';
import type { RuleType } from '../../base/vocabulary/vocabulary.ts';
import type { StoredRule } from './common.ts';
import { judgeTokenIssuer, judgeUsagePlan, type RegistryNames } from './registry/registry.ts';
import type { Problem } from './report.ts';
import type { GatewayRule, Rule } from './types.ts';

/** A name of an object of the registry in a gateway. */
export interface RegistryReference {
  /** What the object has to be. */
  readonly kind: 'usage_plan' | 'token_issuer';
  readonly name: string;
  /** Below the rule. */
  readonly path: FieldPath;
}

/** What a rule names: nothing, unless it is a gateway. */
export function referencesOf(type: RuleType, fields: StoredRule<Rule>): readonly RegistryReference[] {
  if (type !== 'gateway') return [];
  const { auth, default_plan: plan } = fields as StoredRule<GatewayRule>;
  const issuers = (auth.jwt?.issuers ?? []).map((name, index) => ({
    kind: 'token_issuer' as const,
    name,
    path: ['auth', 'jwt', 'issuers', index],
  }));
  return plan === undefined
    ? issuers
    : [...issuers, { kind: 'usage_plan', name: plan, path: ['default_plan'] }];
}

/** What is wrong with a name; `null`: nothing. */
export function judgeReference({ kind, name }: RegistryReference, known: RegistryNames): Problem | null {
  return kind === 'usage_plan'
    ? judgeUsagePlan(name, known.usage_plans)
    : judgeTokenIssuer(name, known.token_issuers);
}

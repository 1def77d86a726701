/**
 * Lint: what a rule set says that its author very likely does not mean. It reads stored rules, decides nothing and
 * changes nothing; a rule set that compiles may still have findings. In goes a rule set (and, where known, where its
 * parts were written), out come diagnostics in the order of the rules.
 */
import type { Diagnostic, FieldPath, SourcePlace } from '../base/diagnostic.ts';
import type { Rule, RuleSet } from '../model/types.ts';
import { lintBots } from './lint/bots.ts';
import { lintDeprecated } from './lint/deprecated.ts';
import { lintExcludes } from './lint/excludes.ts';
import { indexHosts, indexPaths } from './lint/filter-index.ts';
import type { Finding, LintContext, LintFamily, LintSignatures } from './lint/finding.ts';
import { lintHosts } from './lint/hosts.ts';
import { lintKeys } from './lint/keys.ts';
import { lintNeedless } from './lint/needless.ts';
import { lintOriginDifferences } from './lint/origin-differences.ts';
import { lintPaths } from './lint/paths.ts';
import { lintRedirects } from './lint/redirects.ts';
import { lintScope } from './lint/scope.ts';
import { lintWaf } from './lint/waf.ts';
import { readZone } from './lint/zone.ts';

const FAMILIES: readonly LintFamily[] = [
  lintScope,
  lintHosts,
  lintPaths,
  lintNeedless,
  lintExcludes,
  lintRedirects,
  lintBots,
  lintWaf,
  lintDeprecated,
  lintOriginDifferences,
  lintKeys,
];

/** Where the parts of a rule set were written down. */
export interface LintSources {
  /** The place of a field of a rule, or of the nearest part around it; `undefined` when the rule is not there. */
  place(rule: Rule, field: FieldPath): SourcePlace | undefined;
  /** Whether the author wrote the field. */
  written(rule: Rule, field: string): boolean;
  /** The rule as the author names it: `['rules', 'drop', 'office-only']`. */
  path(rule: Rule): FieldPath;
}

export interface LintOptions {
  /** The signatures that waf rules inspect with; absent, their exclusions are not judged. */
  readonly signatures?: LintSignatures | null;
}

/** Every finding, in the order of the rules and then of their fields. Disabled rules are only told of old fields. */
export function lintRuleSet(
  ruleSet: RuleSet,
  sources?: LintSources,
  { signatures = null }: LintOptions = {},
): readonly Diagnostic[] {
  const live = ruleSet.rules.filter((rule) => rule.enabled);
  const context: LintContext = {
    ruleSet,
    zone: readZone(ruleSet),
    live,
    paths: indexPaths(live),
    hosts: indexHosts(live),
    written: (rule, field) => sources?.written(rule, field) ?? false,
    signatures,
  };
  const order = new Map(ruleSet.rules.map((rule, index) => [rule, index]));
  const findings = FAMILIES.flatMap((family) => family(context));
  return [...findings]
    .sort((a, b) => order.get(a.rule)! - order.get(b.rule)!)
    .map((finding) => toDiagnostic(finding, order.get(finding.rule)!, sources));
}

function toDiagnostic(finding: Finding, index: number, sources: LintSources | undefined): Diagnostic {
  const { code, severity, rule, field, message, found, remedy } = finding;
  const at = sources?.place(rule, field);
  return {
    code,
    severity,
    path: [...(sources?.path(rule) ?? ['rules', index]), ...field],
    message,
    ...(found === undefined ? {} : { found }),
    ...(remedy === undefined ? {} : { remedy }),
    ...(at === undefined ? {} : { at }),
  };
}

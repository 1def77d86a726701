/**
 * Lint: finds rules that very likely do something else than their author intended. It reads stored rules and
 * changes nothing; a rule set that compiles may have findings. Input: a rule set and, if known, the places its
 * parts were written at. Output: diagnostics in the order of the rules.
 */
import type { Diagnostic, FieldPath, SourcePlace } from '../../base/diagnostics/diagnostic.ts';
import { EMPTY_REGISTRY } from '../../rules/model/registry/registry.ts';
import type { Registry, Rule, RuleSet } from '../../rules/model/types.ts';
import { lintBasePaths } from './lint/base-paths.ts';
import { lintEmptyAllowlists } from './lint/empty-lists.ts';
import { lintExcludes, lintScope } from './lint/empty-rules.ts';
import { lintBots, lintDeprecated, lintKeys, lintWaf } from './lint/fields.ts';
import { readZone } from './lint/filters.ts';
import {
  type Finding,
  indexHosts,
  indexPaths,
  type LintContext,
  type LintFamily,
  type LintSignatures,
  type ObjectFinding,
} from './lint/finding.ts';
import { lintGateways, lintRecordCaptchas } from './lint/gateways.ts';
import { lintHosts } from './lint/hosts.ts';
import { lintNeedless } from './lint/needless.ts';
import { lintOriginDifferences, lintPaths } from './lint/paths.ts';
import { lintProved } from './lint/proved.ts';
import { lintRedirects } from './lint/redirects.ts';
import { lintRegistry } from './lint/registry.ts';
import type { ListSources } from './subject.ts';

// Every lint family, in the order their findings of one rule are listed.
const FAMILIES: readonly LintFamily[] = [
  lintScope,
  lintHosts,
  lintPaths,
  lintNeedless,
  lintExcludes,
  lintEmptyAllowlists,
  lintRedirects,
  lintBots,
  lintWaf,
  lintDeprecated,
  lintOriginDifferences,
  lintKeys,
  lintGateways,
  lintBasePaths,
];

/** The places at which the parts of a rule set were written. */
export interface LintSources {
  /**
   * Returns the place of a rule's field, or of the nearest enclosing part; `undefined` when the rule is not in the
   * source.
   */
  place(rule: Rule, field: FieldPath): SourcePlace | undefined;
  /** Whether the author wrote the field, as opposed to its default. */
  written(rule: Rule, field: string): boolean;
  /** The path of the rule in the author's terms: `['rules', 'drop', 'office-only']`. */
  path(rule: Rule): FieldPath;
  /** Returns the place of a part of a record or of an object of the registry: `['consumers', 0, 'acl', 1]`. */
  at(path: FieldPath): SourcePlace;
}

/** Options of a lint run. */
export interface LintOptions extends ListSources {
  /** The signatures that waf rules inspect with; `none`: they inspect with none. Absent: exclusions are not checked. */
  readonly signatures?: LintSignatures | 'none' | null;
  /** Whether to prove what is about several entries or rules together (`lint/proved.ts`). Default: true. */
  readonly proofs?: boolean;
  /** The rule set is a part of a domain without its registry, so nothing is claimed of who may call. Default: false. */
  readonly partial?: boolean;
  /** Milliseconds since the epoch at which credentials count as expired. Default: the time of the call. */
  readonly now?: number;
}

/**
 * Returns every finding, in the order of the rules, then of the families, and at last those about other objects. Disabled rules are
 * checked for deprecated fields only.
 */
export function lintRuleSet(
  ruleSet: RuleSet,
  sources?: LintSources,
  { signatures = null, proofs = true, partial = false, now = Date.now(), ...lists }: LintOptions = {},
): readonly Diagnostic[] {
  const enabled = ruleSet.rules.filter((rule) => rule.enabled);
  const context: LintContext = {
    ruleSet,
    zone: readZone(ruleSet),
    enabled,
    paths: indexPaths(enabled),
    hosts: indexHosts(enabled),
    written: (rule, field) => sources?.written(rule, field) ?? false,
    sources: lists,
    signatures,
    registry: partial ? null : registryOf(ruleSet),
    now,
  };
  const order = new Map(ruleSet.rules.map((rule, index) => [rule, index]));
  const found = FAMILIES.flatMap((family) => family(context));
  const findings = proofs ? [...found, ...lintProved(context, found)] : found;
  const ofRules = [...findings]
    .sort((a, b) => order.get(a.rule)! - order.get(b.rule)!)
    .map((finding) => toDiagnostic(finding, order.get(finding.rule)!, sources));
  const ofObjects = [...lintRecordCaptchas(context), ...lintRegistry(context)].map(
    (finding: ObjectFinding) =>
      sources === undefined ? finding : { ...finding, at: sources.at(finding.path) },
  );
  return [...ofRules, ...ofObjects];
}

/** The objects that gateways refer to; `null`: the rule set has their digest alone. */
function registryOf({ registry = EMPTY_REGISTRY }: RuleSet): Registry | null {
  return 'digest' in registry ? null : registry;
}

/** A finding as a diagnostic, with the place of its field. */
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

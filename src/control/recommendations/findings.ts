/**
 * The findings of lint that are worth a recommendation: those that a visitor or an attacker notices. `…/analysis` lists all.
 *
 * - A rule that can never act (an error of `INERT`): its author counts on it. Proposed is to disable it, which changes no
 *   decision.
 * - A redirect that never ends: visitors get an error. Proposed is to leave out the paths of its target.
 * - A guard that another spelling of the path passes (`exact_path_guard`, `suffix_exclude`). Proposed is to guard the paths
 *   below as well; the folder that an excluded suffix is meant for is not in the rule.
 *
 * A proposed change is linted before it is returned: if it does not end the finding, there is no change.
 */
import type { DiagnosticCode } from '../../base/diagnostics/codes/codes.ts';
import { type Diagnostic, describeDiagnostic, formatPath } from '../../base/diagnostics/diagnostic.ts';
import type { Rule } from '../../rules/model/types.ts';
import { lintRuleSet } from '../../workbench/proofs/lint.ts';
import type { DraftRecommendation, ProposedChange } from './shapes.ts';
import { type RuleFact, ruleName, type StoredFacts } from './stored-facts.ts';

/** Findings that, as errors, mean that a rule never acts. */
const INERT: readonly DiagnosticCode[] = [
  'empty_scope',
  'exclude_swallows_includes',
  'self_redirect',
  'unknown_record',
  'unproxied_record',
];
/** Findings of guards that another spelling of the path passes. */
const PASSED: readonly DiagnosticCode[] = ['exact_path_guard', 'suffix_exclude'];

/** The family. */
export function findings(facts: StoredFacts): readonly DraftRecommendation[] {
  const found = new Map<string, { readonly fact: RuleFact; readonly of: Diagnostic[] }>();
  for (const finding of facts.findings) {
    // Findings about records have no rule.
    const fact = finding.path[0] === 'rules' ? facts.rules[Number(finding.path[1])] : undefined;
    if (fact === undefined || !isNoticed(finding)) continue;
    const key = `${ruleName(fact.rule)}:${finding.code}`;
    const known = found.get(key);
    if (known === undefined) found.set(key, { fact, of: [finding] });
    else known.of.push(finding);
  }
  return [...found.values()].map(({ fact, of }) => describe(fact.rule, of, facts));
}

function isNoticed({ code, severity }: Diagnostic): boolean {
  if (INERT.includes(code)) return severity === 'error';
  return code === 'redirect_loop' || PASSED.includes(code);
}

function describe(
  rule: Rule,
  of: readonly Diagnostic[],
  { domain }: Pick<StoredFacts, 'domain'>,
): DraftRecommendation {
  const [first] = of as readonly [Diagnostic];
  const { code, message, remedy } = first;
  const name = ruleName(rule);
  const fields = of.map(({ path }) => formatPath(path.slice(2)));
  const proposed = propose(rule, of);
  const sentence = describeDiagnostic({ ...first, path: first.path.slice(2) });
  return {
    kind: 'mistaken_rule',
    subject: `${name}:${code}`,
    severity: code === 'redirect_loop' ? 'error' : 'warning',
    message: `rule \`${name}\`: ${sentence}`,
    evidence: { rule: name, code, fields, finding: message, remedy: remedy ?? null },
    change: proposed !== null && endsFinding(proposed, { code, domain }) ? proposed : null,
  };
}

/** The change that a finding suggests; `null`: what is meant is unknown. */
function propose(rule: Rule, of: readonly Diagnostic[]): ProposedChange | null {
  const [{ code }] = of as readonly [Diagnostic];
  const name = ruleName(rule);
  if (INERT.includes(code))
    return {
      summary: `disables rule ${name}, which changes no decision`,
      rules: [{ ...rule, enabled: false }],
    };
  if (code === 'redirect_loop') return withoutTarget(rule);
  return code === 'exact_path_guard' ? withFolders(rule, of) : null;
}

/** A redirect that leaves out the paths below its target. */
function withoutTarget(rule: Rule): ProposedChange | null {
  if (rule.type !== 'redirect' || rule.path_match_type !== 'wildcard') return null;
  const base = 'https://target.invalid';
  if (!URL.canParse(rule.target, base)) return null;
  const path = new URL(rule.target, base).pathname.replace(/\/+$/, '');
  if (path === '') return null;
  return {
    summary: `rule ${ruleName(rule)} does not redirect ${path}/*, where its target is`,
    rules: [{ ...rule, path_excludes: [...rule.path_excludes, `${path}/*`] }],
  };
}

/** A guard that covers the paths below its exact ones too. */
function withFolders(rule: Rule, of: readonly Diagnostic[]): ProposedChange | null {
  if (!('path_includes' in rule) || rule.path_match_type !== 'wildcard') return null;
  const exact = of.flatMap(({ path }) => {
    const [list, index] = path.slice(2);
    return list === 'path_includes' ? (rule.path_includes[Number(index)] ?? []) : [];
  });
  const folders = exact.map((path) => `${path}${path.endsWith('/') ? '' : '/'}*`);
  return {
    summary: `rule ${ruleName(rule)} also matches ${folders.join(', ')}`,
    rules: [{ ...rule, path_includes: [...rule.path_includes, ...folders] }],
  };
}

/** Whether lint finds nothing of the kind in the changed rule. Records matter to no finding that is corrected here. */
function endsFinding(
  { rules = [] }: ProposedChange,
  { code, domain }: { readonly code: DiagnosticCode } & Pick<StoredFacts, 'domain'>,
): boolean {
  return !lintRuleSet({ domain, records: [], rules }, undefined, { proofs: false }).some(
    (finding) => finding.code === code,
  );
}

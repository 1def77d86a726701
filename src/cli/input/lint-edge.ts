/** Lints an edge file that was read: what its reader, the families of lint and the command line itself have to say about it. */
import { type Diagnostic, formatPath } from '../../base/diagnostics/diagnostic.ts';
import { APPLICATION_HOST } from '../../base/vocabulary/vocabulary.ts';
import type { EdgeFile, EdgeSources } from '../../rules/files/edge-file.ts';
import { byPlace } from '../../rules/files/yaml.ts';
import { withoutControlPlane } from '../../rules/model/registry/registry.ts';
import type { Rule, RuleSet } from '../../rules/model/types.ts';
import { type LintSources, lintRuleSet } from '../../workbench/proofs/lint.ts';
import { type ChoiceFlags, signatureNames } from '../open-signatures.ts';

/** A file without errors. */
type SoundFile = Extract<EdgeFile, { readonly ok: true }>;

/** Every finding, in the order of the file. @throws CommandFault when the chosen signatures cannot be opened */
export async function lintEdge(
  { ruleSet, sources, diagnostics }: SoundFile,
  flags: ChoiceFlags,
): Promise<readonly Diagnostic[]> {
  const signatures = await signatureNames(ruleSet, flags);
  const found = lintRuleSet(ruleSet, sourcesOf(sources), { signatures, partial: sources.fragment });
  const reported = [
    ...diagnostics,
    ...found,
    ...applicationNotes(ruleSet, sources),
    ...registryNotes(ruleSet, sources),
  ];
  return [...withoutRepeats(reported)].sort(byPlace);
}

/** The places of rules in an edge file, and the fields that the author wrote. */
function sourcesOf(sources: EdgeSources): LintSources {
  const path = (rule: Rule) => ['rules', sources.rules.get(rule.id)?.index ?? -1];
  return {
    path,
    at: (path) => sources.at(path),
    place: (rule, field) => sources.at([...path(rule), ...field]),
    written: (rule, field) => sources.writes([...path(rule), field]),
  };
}

/** Removes duplicates: the reader of the file reports some of the same mistakes. */
function withoutRepeats(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const seen = new Set<string>();
  return diagnostics.filter(({ code, path }) => {
    const key = `${code} ${formatPath(path)}`;
    const repeated = seen.has(key);
    seen.add(key);
    return !repeated;
  });
}

/** A note for each record that the embedding application answers. */
function applicationNotes({ records }: RuleSet, sources: EdgeSources): readonly Diagnostic[] {
  return records
    .filter(({ destination }) => destination === APPLICATION_HOST)
    .map(({ id }) => {
      const path = ['records', sources.records.get(id)?.index ?? 0];
      const message = 'is answered by the application that embeds the edge: it has no `destination`';
      return { code: 'application_record', severity: 'info', path, message, at: sources.at(path) };
    });
}

/** Warnings about what only a control plane does for gateways. */
function registryNotes({ registry }: RuleSet, sources: EdgeSources): readonly Diagnostic[] {
  if (registry === undefined || 'digest' in registry) return [];
  return withoutControlPlane(registry).map((one) => ({ ...one, at: sources.at(one.path) }));
}

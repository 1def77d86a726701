/** Hosts and paths of a plan's own records and rules, for its self-test. */
import { decodeString, GROUP, META, PATTERN, PATTERN_KIND, type Plan, RECORD } from './layout.ts';

/** Hosts and patterns to test: enough to run every phase and index, few enough to take about a millisecond. */
const MOST_HOSTS = 8;
const MOST_PATTERNS = 64;

/** Names of the plan's first proxied records, wildcards as they are written. */
export function probeNames(plan: Plan): readonly string[] {
  const { meta, words } = plan;
  return Array.from({ length: Math.min(meta[META.groupCount]!, MOST_HOSTS) }, (_, index) => {
    const group = words[meta[META.groups]! + index]!;
    return decodeString(plan, words[group + GROUP.records + RECORD.name]!);
  });
}

/** A host that a record's name covers. */
export function probeHost(name: string): string {
  return name.replace('*', 'edgeplan-self-test');
}

/** A path for each of the plan's first literal patterns and wildcards, its stars filled in. */
export function probePaths(plan: Plan): readonly string[] {
  const paths = new Set<string>(['/edgeplan-self-test/?a=1&a=2']);
  const rows = Math.min(plan.patterns.length / PATTERN.size, MOST_PATTERNS);
  for (let index = 0; index < rows; index++) {
    const row = index * PATTERN.size;
    if (plan.patterns[row + PATTERN.kind] === PATTERN_KIND.dfa) continue;
    const source = decodeString(plan, plan.patterns[row + PATTERN.source]!);
    paths.add(
      source.startsWith('/') ? source.replaceAll('*', 'x') : `/${encodeURIComponent(source.toWellFormed())}`,
    );
  }
  return [...paths];
}

/**
 * Measures which rules matched in some test, which list entries decided, and which regions beside rules were entered. An entry
 * decides when it lets a rule match or, for an exclude or an allowlist, when it alone prevents a match; a condition on a value does
 * both, and counts twice. A region is entered by a
 * request that comes to the rule and misses it by one filter alone; regions that no request can enter do not count.
 */
import { formatPath, type SourcePlace } from '../../base/diagnostics/diagnostic.ts';
import type { ErrorPageAnswer } from '../../engine/evaluator/decision.ts';
import type { RuleTrace, Trace } from '../../engine/evaluator/trace.ts';
import type { EdgeSources } from '../../rules/files/edge-file.ts';
import type { Rule, RuleSet } from '../../rules/model/types.ts';
import { openRegions, type RegionName, type Regions, regionsIn } from '../proofs/regions.ts';
import { conditionEntries } from '../proofs/rule-conditions.ts';
import { knownOf } from '../proofs/rule-types.ts';
import { readSubject } from '../proofs/subject.ts';
import { witnessText } from '../simulation/render-changes.ts';
import type { RuleNames } from './names.ts';

/** One list entry of a rule. */
export interface EntryCoverage {
  /** `path_includes[0]`. */
  readonly entry: string;
  readonly text: string;
  readonly covered: boolean;
  /** A condition, which tests cover twice: where it holds, and, this one, where it alone keeps a request from the rule. */
  readonly missed?: true;
  readonly at?: SourcePlace;
}

/** A region beside a rule. */
export interface RegionCoverage {
  /** The filter by which alone its requests miss the rule. */
  readonly region: RegionName;
  readonly covered: boolean;
  /** A request of the region as operands of `simulate`; `null`: it is covered, or none was found within the budget. */
  readonly request: string | null;
}

/** The coverage of one rule. */
export interface RuleCoverage {
  readonly rule: string;
  /** Matched in some test, in dry_run too. */
  readonly covered: boolean;
  readonly at?: SourcePlace;
  readonly entries: readonly EntryCoverage[];
  readonly regions: readonly RegionCoverage[];
}

/** The coverage of a rule set. */
export interface CoverageReport {
  readonly rules: readonly RuleCoverage[];
  readonly counts: {
    readonly rules: number;
    readonly coveredRules: number;
    readonly entries: number;
    readonly coveredEntries: number;
    readonly regions: number;
    readonly coveredRegions: number;
  };
  /** Covered rules and entries as a percentage of all, without regions; 100 when there is nothing to cover. */
  readonly percent: number;
}

/** Collects coverage. */
export interface Coverage {
  /** Adds the rules and entries that one traced request covers. */
  note(trace: Trace): void;
  /** Adds the error pages that matched a status; the trace of a request does not contain it. */
  noteAnswer(answer: ErrorPageAnswer, trace: Trace): void;
  /** The coverage so far. */
  report(): CoverageReport;
}

/** The rules that are measured, and their compiled plan. */
interface Subject {
  readonly bytes: Uint8Array;
  readonly ruleSet: RuleSet;
  readonly sources: EdgeSources;
  readonly names: RuleNames;
}

/** Creates the coverage of the enabled rules; disabled rules cannot match. */
export function createCoverage(subject: Subject): Coverage {
  const rules = new Set<string>();
  const entries = new Set<string>();
  const regions = new Set<string>();
  const noteRule = (rule: RuleTrace, matched: boolean): void => {
    const ref = `${rule.type}/${rule.id}`;
    if (matched) rules.add(ref);
    for (const entry of deciding(rule, matched)) entries.add(`${ref} ${entry}`);
  };
  return {
    note(trace) {
      for (const rule of rulesOf(trace)) noteRule(rule, rule.outcome === 'matched');
      for (const { rule, region } of regionsIn(trace)) regions.add(`${rule.type}/${rule.id} ${region}`);
    },
    noteAnswer(answer, trace) {
      const matched = new Set(answer.matches.map(({ type, id }) => `${type}/${id}`));
      for (const rule of rulesOf(trace)) {
        if (rule.type === 'error_page' && matched.has(`${rule.type}/${rule.id}`)) noteRule(rule, true);
      }
    },
    report: () => reportOf(subject, { rules, entries, regions }),
  };
}

function rulesOf(trace: Trace): readonly RuleTrace[] {
  return trace.phases.flatMap((phase) => phase.rules);
}

/** Lists whose entries prevent a match. */
const EXCLUDING: readonly string[] = ['host_excludes', 'path_excludes'];

/** The entries that decided the outcome of a rule; one that alone prevented a match, of conditions, as `missed <entry>`. */
function deciding(rule: RuleTrace, matched: boolean): readonly string[] {
  if (matched)
    return rule.checks.flatMap(({ entry, pass }) => (entry === undefined || pass !== true ? [] : [entry]));
  const failed = rule.checks.filter(({ pass }) => pass !== true);
  const [only] = failed;
  if (failed.length !== 1 || only?.entry === undefined || only.pass !== false) return [];
  if (only.entry.startsWith('conditions.')) return [missed(only.entry)];
  const list = only.entry.replace(/\[.*/, '');
  const allows = rule.reason.code === 'country_listed' || rule.reason.code === 'ip_listed';
  return EXCLUDING.includes(list) || allows ? [only.entry] : [];
}

function missed(entry: string): string {
  return `missed ${entry}`;
}

/** What is covered: `<type>/<id>`, `<type>/<id> <entry>`, and `<type>/<id> <region>`. */
interface Covered {
  readonly rules: ReadonlySet<string>;
  readonly entries: ReadonlySet<string>;
  readonly regions: ReadonlySet<string>;
}

/** Builds the report. */
function reportOf(subject: Subject, covered: Covered): CoverageReport {
  const regions = openRegions(readSubject(subject.bytes, { trusted: true }));
  const rules = subject.ruleSet.rules
    .filter((rule) => rule.enabled)
    .map((rule) => ({
      ...ruleCoverage(rule, subject, covered),
      regions: regionCoverage(rule, regions, covered),
    }));
  return sumOf(rules);
}

/** The coverage of several rule sets together. */
export function sumOfCoverage(reports: readonly CoverageReport[]): CoverageReport {
  return sumOf(reports.flatMap(({ rules }) => rules));
}

/** Counts what is covered. */
function sumOf(rules: readonly RuleCoverage[]): CoverageReport {
  const entries = rules.flatMap((rule) => rule.entries);
  const regions = rules.flatMap((rule) => rule.regions);
  const coveredRules = rules.filter((rule) => rule.covered).length;
  const coveredEntries = entries.filter((entry) => entry.covered).length;
  const all = rules.length + entries.length;
  const percent = all === 0 ? 100 : ((coveredRules + coveredEntries) / all) * 100;
  return {
    rules,
    counts: {
      ...{ rules: rules.length, coveredRules, entries: entries.length, coveredEntries },
      ...{ regions: regions.length, coveredRegions: regions.filter(({ covered }) => covered).length },
    },
    percent,
  };
}

/** The regions beside a rule that a request can enter. */
function regionCoverage({ type, id }: Rule, regions: Regions, covered: Covered): readonly RegionCoverage[] {
  return regions.of(type, id).flatMap((region): readonly RegionCoverage[] => {
    if (covered.regions.has(`${type}/${id} ${region}`)) return [{ region, covered: true, request: null }];
    const found = regions.find(type, id, region);
    if (found.kind === 'empty') return [];
    return [{ region, covered: false, request: found.kind === 'found' ? witnessText(found.witness) : null }];
  });
}

/** The coverage of one rule and its entries. */
function ruleCoverage(
  rule: Rule,
  { sources, names, ruleSet }: Subject,
  covered: Covered,
): Omit<RuleCoverage, 'regions'> {
  const ref = `${rule.type}/${rule.id}`;
  const index = ruleSet.rules.indexOf(rule);
  const at = names.placeOf(rule);
  return {
    rule: names.nameOf(rule),
    covered: covered.rules.has(ref),
    ...(at === undefined ? {} : { at }),
    entries: [
      ...entriesOf(rule).map(({ list, position, text }) => {
        const entry = position === null ? list : `${list}[${position}]`;
        const path = ['rules', index, list, ...(position === null ? [] : [position])];
        return { entry, text, covered: covered.entries.has(`${ref} ${entry}`), at: sources.at(path) };
      }),
      ...conditionEntries(rule.conditions).map(({ path, text, decides }): EntryCoverage => {
        const entry = formatPath(path);
        const isMiss = decides === 'miss';
        return {
          ...{ entry, text, covered: covered.entries.has(`${ref} ${isMiss ? missed(entry) : entry}`) },
          ...(isMiss ? { missed: true } : {}),
          at: sources.at(['rules', index, ...path]),
        };
      }),
    ],
  };
}

/** An entry of a filter list. */
interface ListEntry {
  readonly list: string;
  /** Position in the list; `null` for the deprecated `host_pattern`. */
  readonly position: number | null;
  readonly text: string;
}

/** Every list entry of a rule's filters but its conditions, except a path list of `/*`, which admits every path. */
function entriesOf(rule: Rule): readonly ListEntry[] {
  const fields = rule as object as Readonly<Record<string, readonly string[] | undefined>>;
  const pattern =
    rule.host_pattern === '' ? [] : [{ list: 'host_pattern', position: null, text: rule.host_pattern }];
  return [
    ...listed('host_includes', rule.host_includes),
    ...pattern,
    ...listed('host_excludes', rule.host_excludes),
    ...paths(rule),
    ...knownOf(rule.type).entries.flatMap((list) => listed(list, fields[list] ?? [])),
  ];
}

/** The entries of the path lists. */
function paths(rule: Rule): readonly ListEntry[] {
  if (!('path_includes' in rule)) return [];
  const everything = rule.path_includes.length === 1 && rule.path_includes[0] === '/*';
  return [
    ...(everything ? [] : listed('path_includes', rule.path_includes)),
    ...listed('path_excludes', rule.path_excludes),
  ];
}

/** The entries of one list. */
function listed(list: string, texts: readonly string[]): readonly ListEntry[] {
  return texts.map((text, position) => ({ list, position, text }));
}

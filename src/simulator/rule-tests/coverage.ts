/**
 * Which rules the tests made act, and which list entries ever decided. An entry decides when it is the one that lets a
 * rule match, or, of an exclude or an allowlist, the only thing that keeps a rule from matching.
 */
import type { SourcePlace } from '../../base/diagnostic.ts';
import type { ErrorPageAnswer } from '../../evaluator/decision.ts';
import type { RuleTrace, Trace } from '../../evaluator/trace.ts';
import type { EdgeSources } from '../../files/edge-file.ts';
import type { Rule, RuleSet } from '../../model/types.ts';
import type { RuleNames } from './names.ts';

/** One list entry of a rule. */
export interface EntryCoverage {
  /** `path_includes[0]`. */
  readonly entry: string;
  readonly text: string;
  readonly covered: boolean;
  readonly at?: SourcePlace;
}

export interface RuleCoverage {
  readonly rule: string;
  /** Matched in some test, in dry_run too. */
  readonly covered: boolean;
  readonly at?: SourcePlace;
  readonly entries: readonly EntryCoverage[];
}

export interface CoverageReport {
  readonly rules: readonly RuleCoverage[];
  readonly counts: {
    readonly rules: number;
    readonly coveredRules: number;
    readonly entries: number;
    readonly coveredEntries: number;
  };
  /** Covered rules and entries of all, from 0 to 100; 100 when there is nothing to cover. */
  readonly percent: number;
}

export interface Coverage {
  note(trace: Trace): void;
  /** The error pages that matched; the trace alone cannot know the status. */
  noteAnswer(answer: ErrorPageAnswer, trace: Trace): void;
  report(): CoverageReport;
}

interface Subject {
  readonly ruleSet: RuleSet;
  readonly sources: EdgeSources;
  readonly names: RuleNames;
}

/** Coverage of enabled rules; disabled ones cannot be tested. */
export function createCoverage(subject: Subject): Coverage {
  const rules = new Set<string>();
  const entries = new Set<string>();
  const noteRule = (rule: RuleTrace, matched: boolean): void => {
    const ref = `${rule.type}/${rule.id}`;
    if (matched) rules.add(ref);
    for (const entry of deciding(rule, matched)) entries.add(`${ref} ${entry}`);
  };
  return {
    note(trace) {
      for (const rule of rulesOf(trace)) noteRule(rule, rule.outcome === 'matched');
    },
    noteAnswer(answer, trace) {
      const matched = new Set(answer.matches.map(({ type, id }) => `${type}/${id}`));
      for (const rule of rulesOf(trace)) {
        if (rule.type === 'error_page' && matched.has(`${rule.type}/${rule.id}`)) noteRule(rule, true);
      }
    },
    report: () => reportOf(subject, { rules, entries }),
  };
}

function rulesOf(trace: Trace): readonly RuleTrace[] {
  return trace.phases.flatMap((phase) => phase.rules);
}

/** Lists whose entries keep a rule from matching. */
const KEEPING: readonly string[] = ['host_excludes', 'path_excludes'];

function deciding(rule: RuleTrace, matched: boolean): readonly string[] {
  if (matched)
    return rule.checks.flatMap(({ entry, pass }) => (entry === undefined || pass !== true ? [] : [entry]));
  const failed = rule.checks.filter(({ pass }) => pass !== true);
  const [only] = failed;
  if (failed.length !== 1 || only?.entry === undefined || only.pass !== false) return [];
  const list = only.entry.replace(/\[.*/, '');
  const allows = rule.reason.code === 'country_listed' || rule.reason.code === 'ip_listed';
  return KEEPING.includes(list) || allows ? [only.entry] : [];
}

interface Covered {
  readonly rules: ReadonlySet<string>;
  readonly entries: ReadonlySet<string>;
}

function reportOf(subject: Subject, covered: Covered): CoverageReport {
  const rules = subject.ruleSet.rules
    .filter((rule) => rule.enabled)
    .map((rule) => ruleCoverage(rule, subject, covered));
  const entries = rules.flatMap((rule) => rule.entries);
  const coveredRules = rules.filter((rule) => rule.covered).length;
  const coveredEntries = entries.filter((entry) => entry.covered).length;
  const all = rules.length + entries.length;
  const percent = all === 0 ? 100 : ((coveredRules + coveredEntries) / all) * 100;
  return {
    rules,
    counts: { rules: rules.length, coveredRules, entries: entries.length, coveredEntries },
    percent,
  };
}

function ruleCoverage(rule: Rule, { sources, names, ruleSet }: Subject, covered: Covered): RuleCoverage {
  const ref = `${rule.type}/${rule.id}`;
  const index = ruleSet.rules.indexOf(rule);
  const at = names.placeOf(rule);
  return {
    rule: names.nameOf(rule),
    covered: covered.rules.has(ref),
    ...(at === undefined ? {} : { at }),
    entries: entriesOf(rule).map(({ list, position, text }) => {
      const entry = position === null ? list : `${list}[${position}]`;
      const path = ['rules', index, list, ...(position === null ? [] : [position])];
      return { entry, text, covered: covered.entries.has(`${ref} ${entry}`), at: sources.at(path) };
    }),
  };
}

interface ListEntry {
  readonly list: string;
  /** `null` for the legacy single pattern. */
  readonly position: number | null;
  readonly text: string;
}

/** Every list entry of a rule's filters. The path list that stands for every path is none. */
function entriesOf(rule: Rule): readonly ListEntry[] {
  const pattern =
    rule.host_pattern === '' ? [] : [{ list: 'host_pattern', position: null, text: rule.host_pattern }];
  return [
    ...listed('host_includes', rule.host_includes),
    ...pattern,
    ...listed('host_excludes', rule.host_excludes),
    ...paths(rule),
    ...(rule.type === 'drop' ? [...listed('countries', rule.countries), ...listed('ips', rule.ips)] : []),
    ...(rule.type === 'bot_route' ? listed('bot_kinds', rule.bot_kinds) : []),
    ...(rule.type === 'fingerprint'
      ? [...listed('match_ja4', rule.match_ja4), ...listed('match_ja4h', rule.match_ja4h)]
      : []),
  ];
}

function paths(rule: Rule): readonly ListEntry[] {
  if (!('path_includes' in rule)) return [];
  const everything = rule.path_includes.length === 1 && rule.path_includes[0] === '/*';
  return [
    ...(everything ? [] : listed('path_includes', rule.path_includes)),
    ...listed('path_excludes', rule.path_excludes),
  ];
}

function listed(list: string, texts: readonly string[]): readonly ListEntry[] {
  return texts.map((text, position) => ({ list, position, text }));
}

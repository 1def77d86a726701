/** Reports a mutation run: as lines for a terminal, and as one JSON document. */
import type { SourcePlace } from '../../base/diagnostics/diagnostic.ts';
import type { EdgeSources } from '../../rules/files/edge-file.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import type { RuleNames } from '../rule-tests/names.ts';
import { percentText } from '../rule-tests/report.ts';
import { quantity, type RenderedLine, span } from '../simulation/render-text.ts';
import { MAX_MUTANT_STEPS, type MutantResult, type MutationRun } from './mutate.ts';
import { fieldText } from './witness-test.ts';

/** Survivors, and mutants left open, that the report for people lists. */
const MAX_PRINTED = 20;

/** What became of a mutant, with its names and place. */
export interface MutantReport {
  /** `drop/office-only`. */
  readonly rule: string;
  /** `path_includes[0]`; empty: the rule as a whole. */
  readonly field: string;
  readonly operator: MutantResult['mutant']['operator'];
  readonly change: string;
  readonly at?: SourcePlace;
  readonly judged: MutantResult['judged'];
}

/** Mutants by what became of them. */
type MutantCounts = Readonly<Record<MutantResult['judged']['outcome'], number>>;

/** The report of a run, or of several together. */
export interface MutationReport {
  readonly mutants: readonly MutantReport[];
  readonly counts: MutantCounts;
  /** All mutants that there are, of which those reported may be a selection. */
  readonly total: number;
  readonly seed: number;
  /** Killed mutants in percent of all but the equivalent ones; 100 if there are no others. */
  readonly score: number;
}

/** The rules that were mutated. */
interface Reported {
  readonly ruleSet: RuleSet;
  readonly sources: EdgeSources;
  readonly names: RuleNames;
  readonly seed: number;
}

/** The report of a run. */
export function mutationReport(
  results: readonly MutantResult[],
  { total }: Pick<MutationRun, 'total'>,
  { ruleSet, sources, names, seed }: Reported,
): MutationReport {
  const mutants = results.map(({ mutant, judged }): MutantReport => {
    const { rule, field, operator, change } = mutant;
    const at = sources.at(['rules', ruleSet.rules.indexOf(rule), ...field]);
    const next = operator === 'swap_rules' ? mutant.differing[1] : undefined;
    const words = next === undefined ? change : `after \`${names.nameOf(next)}\``;
    return { rule: names.nameOf(rule), field: fieldText(field), operator, change: words, at, judged };
  });
  return reportOf(mutants, total, seed);
}

function reportOf(mutants: readonly MutantReport[], total: number, seed: number): MutationReport {
  const count = (outcome: keyof MutantCounts): number =>
    mutants.filter(({ judged }) => judged.outcome === outcome).length;
  const counts = {
    killed: count('killed'),
    survived: count('survived'),
    equivalent: count('equivalent'),
    unknown: count('unknown'),
  };
  const wanted = mutants.length - counts.equivalent;
  return { mutants, counts, total, seed, score: wanted === 0 ? 100 : (counts.killed / wanted) * 100 };
}

/** The report of several rule sets together. */
export function sumOfMutations(reports: readonly MutationReport[]): MutationReport {
  const total = reports.reduce((sum, report) => sum + report.total, 0);
  return reportOf(
    reports.flatMap(({ mutants }) => mutants),
    total,
    reports[0]?.seed ?? 0,
  );
}

/** `drop/office-only path_includes[0]: `/admin/*` → `/admin*``. */
export function mutantText({ rule, field, change }: MutantReport): string {
  return `${rule}${field === '' ? '' : ` ${field}`}: ${change}`;
}

/** What a survivor does, and the test that it fails. */
export function survivorText({ judged }: MutantReport): string {
  if (judged.outcome !== 'survived') return '';
  const { request, was, now, test } = judged.shown;
  return `${request}\n${was} → ${now}\nno test notices; this one does:\n${test}`;
}

/** The sum, every survivor with a test for it, and what is left open. */
export function mutationLines(report: MutationReport): readonly RenderedLine[] {
  const { mutants, counts, total, seed, score } = report;
  const survivors = mutants.filter(({ judged }) => judged.outcome === 'survived');
  const left = survivors.length - MAX_PRINTED;
  const parts = [
    quantity(mutants.length, 'mutant'),
    `${counts.killed} killed`,
    `${counts.survived} survived`,
    `${counts.equivalent} equivalent`,
    ...(counts.unknown === 0 ? [] : [`${counts.unknown} unknown`]),
    percentText(score),
  ];
  const tested = [[], [span('  tests that kill the survivors, to be added to the test file:', 'dim')], []];
  return [
    [span('  mutation  ', 'dim'), span(parts.join(' · '))],
    ...(total > mutants.length
      ? [[span(`    a selection of ${total} mutants, by the seed ${seed}`, 'dim')]]
      : []),
    ...survivors.slice(0, MAX_PRINTED).flatMap(survivorLines),
    ...(left > 0 ? [[span(`    and ${left} more survivors; --json lists all`, 'dim')]] : []),
    ...openLines(mutants),
    ...(survivors.length > 0 ? tested : []),
    ...distinctTests(survivors.slice(0, MAX_PRINTED)).flatMap(testLines),
  ];
}

function place(at: SourcePlace | undefined): string {
  return at === undefined ? '' : `   ${at.file}:${at.line}`;
}

function survivorLines(mutant: MutantReport): readonly RenderedLine[] {
  if (mutant.judged.outcome !== 'survived') return [];
  const { was, now } = mutant.judged.shown;
  return [
    [span('    ○ ', 'warn'), span(mutantText(mutant)), span(place(mutant.at), 'dim')],
    [span('        '), span(was, 'good'), span(' → ', 'dim'), span(now, 'bad')],
  ];
}

/** Survivors with different tests: one test often kills several. */
function distinctTests(survivors: readonly MutantReport[]): readonly MutantReport[] {
  const bodyOf = ({ judged }: MutantReport): string =>
    judged.outcome === 'survived' ? judged.shown.test.replace(/^.*\n/, '') : '';
  return [...new Map([...survivors].reverse().map((one) => [bodyOf(one), one])).values()].reverse();
}

function testLines({ judged }: MutantReport): readonly RenderedLine[] {
  if (judged.outcome !== 'survived') return [];
  return judged.shown.test.split('\n').map((line) => [span(line)]);
}

/** The mutants that are neither killed nor judged, by reason. */
function openLines(mutants: readonly MutantReport[]): readonly RenderedLine[] {
  const because = (reason: keyof typeof REASONS): readonly MutantReport[] =>
    mutants.filter(({ judged }) => judged.outcome === 'unknown' && judged.reason === reason);
  return (Object.keys(REASONS) as (keyof typeof REASONS)[]).flatMap((reason) => {
    const open = because(reason);
    if (open.length === 0) return [];
    const more = open.length - MAX_PRINTED;
    return [
      [span(`    ${REASONS[reason]}:`, 'dim')],
      ...open
        .slice(0, MAX_PRINTED)
        .map((one) => [span('    ? ', 'warn'), span(mutantText(one)), span(place(one.at), 'dim')]),
      ...(more > 0 ? [[span(`    and ${more} more; --json lists all`, 'dim')]] : []),
    ];
  });
}

/** Why a mutant is left open. */
export const REASONS = {
  symbols: 'unknown, since only counters, scores or turns of a balancer may show a difference',
  phase_end: 'unknown, since tags or challenges may act otherwise where their phase ends the request',
  budget: `unknown, since ${MAX_MUTANT_STEPS} steps were not enough for a proof`,
} as const;

/** The JSON document of a report. */
export function mutationDocument({ mutants, counts, total, seed, score }: MutationReport): object {
  return {
    score,
    counts: { mutants: mutants.length, of: total, ...counts },
    seed,
    mutants: mutants.map(({ judged, at, ...mutant }) => ({
      ...mutant,
      at: at ?? null,
      outcome: judged.outcome,
      ...(judged.outcome === 'killed' ? { killed_by: judged.by } : {}),
      ...(judged.outcome === 'unknown' ? { reason: judged.reason } : {}),
      ...(judged.outcome === 'survived'
        ? {
            request: judged.shown.witness,
            was: judged.shown.was,
            now: judged.shown.now,
            test: judged.shown.test,
          }
        : {}),
    })),
  };
}

/** `edgeplan test --mutate`: its options, and the run with its progress on a terminal. */
import { InvalidArgumentError, Option } from 'commander';
import type { EdgeSources } from '../../rules/files/edge-file.ts';
import { MAX_MUTANTS } from '../../workbench/mutation/limits.ts';
import { type MutantResult, type MutationSubject, startMutation } from '../../workbench/mutation/mutate.ts';
import { type MutationReport, mutationReport } from '../../workbench/mutation/report.ts';
import { percentText } from '../../workbench/rule-tests/report.ts';
import { grouped } from '../print/quantities.ts';
import { barText } from '../replay/progress.ts';

/** The options, as commander parses them. */
export interface MutationFlags {
  readonly mutate?: boolean;
  /** The lowest score in percent that passes; implies `mutate`. */
  readonly mutateMin?: number;
  readonly mutateMost: number;
  readonly mutateSeed: number;
}

/** What is mutated, with the places of its rules. */
interface MutatedRules extends MutationSubject {
  readonly sources: EdgeSources;
}

/** The options of the command; `readPercent` parses a percentage. */
export function mutationOptions(readPercent: (text: string) => number): readonly Option[] {
  return [
    new Option('--mutate', 'make small mistakes in the rules, and list those that no test notices'),
    new Option(
      '--mutate-min <percent>',
      'fail when the tests notice fewer of the mistakes; implies --mutate',
    ).argParser(readPercent),
    new Option('--mutate-most <count>', 'mistakes that are tried; of more, a selection')
      .argParser(readCount)
      .default(MAX_MUTANTS),
    new Option('--mutate-seed <number>', 'the seed of the selection').argParser(readSeed).default(1),
  ];
}

function readCount(text: string): number {
  const count = Number(text);
  if (!/^\d{1,6}$/.test(text) || count === 0) throw new InvalidArgumentError('write a number from 1.');
  return count;
}

function readSeed(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('write a whole number of at most 9 digits.');
  return Number(text);
}

/** Whether mutants are wanted. */
export function wantsMutation({ mutate, mutateMin }: MutationFlags): boolean {
  return mutate === true || mutateMin !== undefined;
}

/** Tries all mutants. */
export function runMutation(rules: MutatedRules, flags: MutationFlags): MutationReport {
  const seed = flags.mutateSeed;
  const run = startMutation(rules, { most: flags.mutateMost, seed });
  const results: MutantResult[] = [];
  const progress = createMutationProgress(run.count);
  for (const result of run.results) {
    results.push(result);
    progress.draw(results.length);
  }
  progress.clear();
  return mutationReport(results, run, { ...rules, seed });
}

/** Why the score fails the command; `null`: it does not. */
export function lowScoreText(report: MutationReport | null, { mutateMin }: MutationFlags): string | null {
  if (report === null || mutateMin === undefined || report.score >= mutateMin) return null;
  return `the mutation score is ${percentText(report.score)}, below the ${mutateMin} % of --mutate-min`;
}

/** Milliseconds between two lines. */
const REDRAWN_MS = 200;

/** A line on a terminal's stderr that is written again. */
function createMutationProgress(count: number): {
  readonly draw: (done: number) => void;
  readonly clear: () => void;
} {
  const shown = process.stderr.isTTY === true;
  let drawn = performance.now();
  return {
    draw(done) {
      const now = performance.now();
      if (!shown || now - drawn < REDRAWN_MS) return;
      drawn = now;
      process.stderr.write(
        `\r\u001b[K${barText(done, count)}  ${grouped(done)} of ${grouped(count)} mutants`,
      );
    },
    clear() {
      if (shown) process.stderr.write('\r\u001b[K');
    },
  };
}

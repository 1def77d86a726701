/** The report of `edgeplan doctor` as lines and as JSON. */
import { type RenderedLine, span, type Tone, visible } from '../../workbench/simulation/render-text.ts';
import type { CheckFinding, FindingState } from './check.ts';

/** A finding with the check that it comes from. */
export interface NamedFinding extends CheckFinding {
  readonly check: string;
}

/** The mark, the word and the tone of each state. */
const STATES: Readonly<Record<FindingState, { mark: string; word: string; tone: Tone }>> = {
  fine: { mark: '✔', word: 'fine', tone: 'good' },
  warning: { mark: '⚠', word: 'warning', tone: 'warn' },
  failure: { mark: '✘', word: 'failure', tone: 'bad' },
  skipped: { mark: '–', word: 'skipped', tone: 'dim' },
};

/** Columns of the state and of the name of a check. */
const WIDTHS = { state: 9, check: 14 } as const;

/** A line for each finding, and one below it for what to do. */
export function findingLines(findings: readonly NamedFinding[]): readonly RenderedLine[] {
  return findings.flatMap(({ state, check, found, remedy }) => {
    const { mark, word, tone } = STATES[state];
    const line: RenderedLine = [
      span(`${mark} `, tone),
      span(word.padEnd(WIDTHS.state), tone),
      span(check.padEnd(WIDTHS.check)),
      span(visible(found)),
    ];
    if (remedy === undefined) return [line];
    return [line, [span(`${' '.repeat(2 + WIDTHS.state + WIDTHS.check)}→ ${visible(remedy)}`, 'dim')]];
  });
}

/** `8 fine, 1 warning, 1 failure`. */
export function summaryText(findings: readonly CheckFinding[]): string {
  const count = (state: FindingState): number => findings.filter((one) => one.state === state).length;
  const plural = (state: 'warning' | 'failure'): string =>
    `${count(state)} ${state}${count(state) === 1 ? '' : 's'}`;
  return `${count('fine')} fine, ${plural('warning')}, ${plural('failure')}, ${count('skipped')} skipped`;
}

/** The fields of the JSON document. */
export function reportFields(findings: readonly NamedFinding[]): object {
  return {
    healthy: findings.every(({ state }) => state !== 'failure'),
    findings: findings.map(({ check, state, found, remedy }) => ({
      check,
      state,
      found,
      remedy: remedy ?? null,
    })),
  };
}

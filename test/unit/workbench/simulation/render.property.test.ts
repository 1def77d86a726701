import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RULE_TYPES } from '../../../../src/base/vocabulary/vocabulary.ts';
import { EFFECTS } from '../../../../src/engine/evaluator/decision.ts';
import {
  CHECKS,
  OUTCOMES,
  PHASE_OUTCOMES,
  PHASES,
  REASONS,
  type RuleTrace,
} from '../../../../src/engine/evaluator/trace.ts';
import { paint } from '../../../../src/workbench/simulation/paint.ts';
import { renderTrace } from '../../../../src/workbench/simulation/render.ts';
import { columns } from '../../../../src/workbench/simulation/render-text.ts';
import { renderWhy } from '../../../../src/workbench/simulation/render-why.ts';
import { BLOCKED, FORWARDED, SHOP_TRACE, shopDocument } from './sample.ts';

const text = fc.string({ unit: 'binary', maxLength: 40 });

const check = fc.record(
  {
    check: fc.constantFrom(...CHECKS),
    pass: fc.constantFrom(true, false, null),
    text,
    entry: fc.constantFrom('path_includes[0]', 'ips[12]'),
  },
  { requiredKeys: ['check', 'pass', 'text'] },
);

const rule: fc.Arbitrary<RuleTrace> = fc.record({
  type: fc.constantFrom(...RULE_TYPES),
  id: fc.integer({ min: 1, max: 1_000_000 }),
  priority: fc.integer({ min: 0, max: 1_000_000 }),
  mode: fc.constantFrom('enforce', 'dry_run'),
  outcome: fc.constantFrom(...OUTCOMES),
  effect: fc.constantFrom('none', ...EFFECTS),
  reason: fc.record({ code: fc.constantFrom(...REASONS), text }),
  checks: fc.array(check, { maxLength: 6 }),
});

// Many rules, most of them in one phase, so that phases fold rules of every kind.
const rules = fc.uniqueArray(rule, { selector: (one) => one.id, maxLength: 50, size: 'max' });
const HOMES = [1, 1, 1, 1, 4, 10, 11] as const;

/** Rules spread over all phases, in order. */
const document = fc
  .record({
    rules,
    outcomes: fc.array(fc.constantFrom(...PHASE_OUTCOMES), { minLength: 12, maxLength: 12 }),
    notes: fc.array(fc.option(text), { minLength: 12, maxLength: 12 }),
    decision: fc.constantFrom(FORWARDED, BLOCKED, { ...FORWARDED, shadow: BLOCKED }),
    key: text.filter((key) => !key.includes('#')),
  })
  .map(({ rules: all, outcomes, notes, decision, key }) => {
    const phases = PHASES.map((name, index) => ({
      name,
      outcome: outcomes[index] ?? 'continue',
      note: notes[index] ?? null,
      rules: all.filter((one) => HOMES[one.id % HOMES.length] === index),
    }));
    const sources = new Map(all.slice(0, 5).map((one) => [one.id, { key, at: 'edge.yaml:7' }]));
    return shopDocument({ trace: { ...SHOP_TRACE, phases, decision }, sources });
  });

/** The part between the outcome and the assumptions. */
function tableOf(shown: string): string {
  return shown.split('\n\n').slice(2, -1).join('\n\n');
}

const LABEL = new RegExp(`[●◇·○~✘] (?:${RULE_TYPES.join('|')}) #[0-9]+(?= |$)`, 'gm');

describe('any trace document', () => {
  it('can be printed at any width, and no line of the table is wider', () => {
    fc.assert(
      fc.property(document, fc.integer({ min: 40, max: 200 }), fc.boolean(), (one, width, all) => {
        const shown = paint(renderTrace(one, { width, all }), false);
        for (const line of tableOf(shown).split('\n')) expect(columns(line)).toBeLessThanOrEqual(width);
      }),
    );
  });

  it('shows every rule exactly once with `all`', () => {
    fc.assert(
      fc.property(document, (one) => {
        const shown = tableOf(paint(renderTrace(one, { width: Number.POSITIVE_INFINITY, all: true }), false));
        const labels = (shown.match(LABEL) ?? []).map((label) => label.slice(2)).sort();
        const expected = one.phases
          .flatMap((phase) => phase.rules.map((note) => `${note.type} #${note.id}`))
          .sort();
        expect(labels).toEqual(expected);
      }),
    );
  });

  it('shows or counts every rule without `all`', () => {
    fc.assert(
      fc.property(document, (one) => {
        const shown = tableOf(
          paint(renderTrace(one, { width: Number.POSITIVE_INFINITY, all: false }), false),
        );
        const listed = shown.match(LABEL)?.length ?? 0;
        const counted = [
          ...shown.matchAll(
            /(?:^|[·+] )(\d+) (?:skipped by .+?|skipped: .+?|not reached|not used|not in scope|disabled)(?= ·|$)/gm,
          ),
          ...shown.matchAll(/~ (\d+) depend on the status/g),
        ];
        const waiting = [...shown.matchAll(/○ not reached \((\d+) rules?\)$/gm)];
        const hidden = [...counted, ...waiting].reduce((sum, match) => sum + Number(match[1]), 0);
        expect(listed + hidden).toBe(one.phases.flatMap((phase) => phase.rules).length);
      }),
    );
  });

  it('prints no control characters', () => {
    fc.assert(
      fc.property(document, (one) => {
        const shown = paint(renderTrace(one, { width: 80, all: true }), false);
        expect(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/.test(shown)).toBe(false);
      }),
    );
  });

  it('explains every rule at any width', () => {
    fc.assert(
      fc.property(document, fc.integer({ min: 40, max: 200 }), (one, width) => {
        for (const note of one.phases.flatMap((phase) => phase.rules)) {
          const shown = paint(renderWhy(note, { width, wouldMatch: null, signatures: null }), false);
          for (const line of shown.split('\n')) expect(columns(line)).toBeLessThanOrEqual(width);
        }
      }),
    );
  });
});

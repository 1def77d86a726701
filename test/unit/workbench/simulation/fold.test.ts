import { describe, expect, it } from 'vitest';
import type { RuleTrace } from '../../../../src/engine/evaluator/trace.ts';
import { paint } from '../../../../src/workbench/simulation/paint.ts';
import { renderTrace } from '../../../../src/workbench/simulation/render.ts';
import { phase, rule, SHOP_TRACE, shopDocument } from './sample.ts';

/** The lines of one phase with these rules. */
function phaseText(rules: readonly RuleTrace[], { all = false } = {}): readonly string[] {
  const document = shopDocument({
    trace: { ...SHOP_TRACE, phases: [phase('drop', rules)] },
    sources: new Map(),
  });
  const text = paint(renderTrace(document, { width: Number.POSITIVE_INFINITY, all }), false);
  const lines = text.split('\n');
  const from = lines.findIndex((line) => line.includes(' 1 drop '));
  return lines
    .slice(from, lines.indexOf('', from))
    .map((line) => line.slice('   1 drop        '.length).trimEnd());
}

/** A skipped rule; `lacks`: the fact that the request does not have. */
function skipped(id: number, code: RuleTrace['reason']['code'], lacks?: 'ja4' | 'ja4h'): RuleTrace {
  const checks = lacks === undefined ? [] : [{ check: lacks, pass: null, text: 'not given' }];
  return rule({ type: 'drop', id, outcome: 'skipped', reason: [code, 'so it is'], checks });
}

const hit = rule({
  type: 'drop',
  id: 57,
  outcome: 'matched',
  effect: 'block',
  reason: ['over_limit', 'hit'],
});

describe('a phase folds', () => {
  it('the rules that one kind of filter excluded into one line', () => {
    const rules = [skipped(1, 'path_not_included'), skipped(2, 'path_excluded'), hit];
    expect(phaseText(rules)).toEqual(['✘ drop #57  blocked  hit', '+ 2 skipped by path']);
  });

  it('the rules of several kinds with a number for each kind', () => {
    const rules = [
      skipped(1, 'path_not_included'),
      skipped(2, 'host_excluded'),
      skipped(3, 'path_not_included'),
      hit,
    ];
    expect(phaseText(rules).at(-1)).toBe('+ 3 skipped by path (2), host (1)');
  });

  it('the rules that need a fact which is not given apart from the others', () => {
    const rules = [
      skipped(1, 'missing_input', 'ja4'),
      skipped(2, 'missing_input', 'ja4'),
      skipped(3, 'missing_input', 'ja4h'),
      skipped(4, 'country_unknown'),
      skipped(5, 'ip_not_listed'),
    ];
    expect(phaseText(rules)).toEqual([
      '+ 1 skipped by address · 4 skipped: no JA4 given (2), no JA4H given (1), no country given (1)',
    ]);
  });

  it('the rules behind the one that ended the request, but no rule that another one displaced', () => {
    const behind = (id: number) =>
      rule({ type: 'drop', id, outcome: 'not_reached', reason: ['request_ended', 'settled before'] });
    const displaced = rule({
      type: 'drop',
      id: 9,
      outcome: 'not_reached',
      reason: ['slot_taken', 'drop #57 comes first'],
    });
    expect(phaseText([hit, behind(1), displaced, behind(2)])).toEqual([
      '✘ drop #57  blocked   hit',
      '○ drop #9   not used  drop #57 comes first',
      '+ 2 not reached',
    ]);
  });

  it('several rules that depend on the answer into a line with their names', () => {
    const waits = (id: number) =>
      rule({ type: 'error_page', id, outcome: 'conditional', reason: ['needs_response', 'applies to 502'] });
    expect(phaseText([waits(12), waits(13)])).toEqual(['~ 2 depend on the status of the answer: #12, #13']);
    expect(phaseText([waits(12)])).toEqual(['~ error_page #12  depends  applies to 502']);
  });

  it('nothing with `all`', () => {
    const rules = [skipped(1, 'path_not_included'), skipped(2, 'path_not_included'), hit];
    expect(phaseText(rules, { all: true })).toHaveLength(3);
  });
});

describe('a phase shows', () => {
  it('the reason of its only rule that filters excluded', () => {
    expect(phaseText([skipped(1, 'path_not_included'), skipped(2, 'disabled')])).toEqual([
      '· drop #1  skipped  so it is',
      '+ 1 disabled',
    ]);
  });

  it('a skipped rule in full if its reason is of no known kind', () => {
    const rules = [skipped(1, 'path_not_included'), skipped(2, 'self_redirect'), skipped(3, 'host_excluded')];
    expect(phaseText(rules)).toEqual(['· drop #2  skipped  so it is', '+ 2 skipped by path (1), host (1)']);
  });
});

describe('the hint at the end', () => {
  it('names the rule that decided by its key', () => {
    const text = paint(renderTrace(shopDocument(), { width: 200, all: false }), false);
    expect(text).toContain('--why api explains one rule');
  });

  it('names a rule without a key by its id, and by its type if another type has the id', () => {
    const without = (rules: readonly RuleTrace[]) =>
      paint(
        renderTrace(
          shopDocument({ trace: { ...SHOP_TRACE, phases: [phase('drop', rules)] }, sources: new Map() }),
          { width: 200, all: false },
        ),
        false,
      );
    expect(without([hit])).toContain('--why 57 explains');
    const other = rule({
      type: 'waf',
      id: 57,
      outcome: 'skipped',
      reason: ['path_excluded', 'elsewhere'],
    });
    expect(without([hit, other])).toContain('--why drop/57 explains');
  });
});

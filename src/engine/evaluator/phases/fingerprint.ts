/** Phase 2: tags accumulate; the first drop, or challenge not yet solved, ends the request. */
import { FINGERPRINT_ACTIONS } from '../../../base/vocabulary/vocabulary.ts';
import { FLAG_ACTION_SHIFT, SLOT, typeIndex } from '../../plan/layout.ts';
import { type JudgedCheck, judged, listText, type RuleExplanation } from '../checks.ts';
import type { Effect } from '../decision.ts';
import { isEdgeOwn } from '../facts.ts';
import { isCleared } from '../identity.ts';
import { textsAt } from '../loaded.ts';
import { fingerprintEntry } from '../predicates.ts';
import { acts, addTag, type Context, end, nextMatch, type Run, record, refOf, slotWord } from '../run.ts';

const FINGERPRINT = typeIndex('fingerprint');

/** Runs the phase; true when it ended the request. */
export function fingerprint(context: Context, run: Run): boolean {
  for (let slot = nextMatch(context, FINGERPRINT); slot >= 0; slot = nextMatch(context, FINGERPRINT)) {
    const effect = effectOf(context, slot);
    record(context, run, slot, effect);
    if (!acts(context, run, slot)) continue;
    if (effect === 'tag') addTag(context, run, slot);
    else if (effect === 'block' || (effect === 'challenge' && !isEdgeOwn(context.facts))) {
      return end(run, effect === 'block' ? 'block' : 'challenge', {
        status: 403,
        rule: refOf(context, slot),
      });
    }
  }
  return false;
}

/** The effect of a rule that matched; a solved challenge is `passed`. */
function effectOf(context: Context, slot: number): Effect {
  const action = FINGERPRINT_ACTIONS[slotWord(context, slot, SLOT.flags) >>> FLAG_ACTION_SHIFT];
  if (action === 'drop') return 'block';
  if (action === 'tag') return 'tag';
  return isCleared(context.facts, context.loaded, slot) ? 'passed' : 'challenge';
}

/** What a trace says of fingerprint rules. */
export const fingerprintExplanation: RuleExplanation = { hasPaths: false, checks: fingerprintChecks };

/** The checks of the JA4 and JA4H lists, for those that the rule has. */
function fingerprintChecks(context: Context, slot: number): readonly JudgedCheck[] {
  const { words } = context.loaded.plan;
  const first = slotWord(context, slot, SLOT.kinds);
  const second = first + 1 + words[first]!;
  const { ja4, ja4h } = context.facts;
  return [
    ...fingerprintCheck(context, first, { name: 'ja4', field: 'match_ja4', given: ja4 }),
    ...fingerprintCheck(context, second, { name: 'ja4h', field: 'match_ja4h', given: ja4h }),
  ];
}

/** A fingerprint of the request, and the field of rules that lists its kind. */
interface GivenFingerprint {
  readonly name: 'ja4' | 'ja4h';
  readonly field: 'match_ja4' | 'match_ja4h';
  readonly given: string | null;
}

function fingerprintCheck(
  context: Context,
  offset: number,
  { name, field, given }: GivenFingerprint,
): readonly JudgedCheck[] {
  const listed = textsAt(context.loaded, offset);
  if (listed.length === 0) return [];
  const label = name.toUpperCase();
  if (given === null)
    return [
      judged(name, null, `no ${label} was given, so nothing to compare`, 'missing_input', `${field}[0]`),
    ];
  const entry = fingerprintEntry(context.loaded, offset, given);
  if (entry < 0) {
    const text = `${label} ${given} is not in ${field} ${listText(listed)}`;
    return [judged(name, false, text, 'fingerprint_not_listed', `${field}[0]`)];
  }
  const text = `${label} ${given} matches ${listed[entry]}`;
  return [judged(name, true, text, 'fingerprint_not_listed', `${field}[${entry}]`)];
}

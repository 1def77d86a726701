/** Phase 2: tags accumulate; the first drop, or challenge not yet solved, ends the request. */
import { FINGERPRINT_ACTIONS } from '../../../base/vocabulary/vocabulary.ts';
import { FLAG_ACTION_SHIFT, SLOT, typeIndex } from '../../plan/layout.ts';
import type { Effect } from '../decision.ts';
import { isEdgeOwn } from '../facts.ts';
import { isCleared } from '../identity.ts';
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

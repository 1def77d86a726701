/**
 * Phase 3: tags accumulate; of the other actions the first match wins. `alt_origin` pins the origin without ending the
 * request, and tags after it still accumulate.
 */
import { BOT_ACTIONS } from '../../../base/vocabulary/vocabulary.ts';
import { BOT_FIELDS, FLAG_ACTION_SHIFT, SLOT, typeIndex } from '../../plan/layout.ts';
import { EXEMPT } from '../facts.ts';
import { textOf } from '../loaded.ts';
import { acts, addTag, type Context, end, nextMatch, type Run, record, refOf, slotWord } from '../run.ts';

const BOT_ROUTE = typeIndex('bot_route');

/** Runs the phase; true when it ended the request. */
export function botRoute(context: Context, run: Run): boolean {
  for (let slot = nextMatch(context, BOT_ROUTE); slot >= 0; slot = nextMatch(context, BOT_ROUTE)) {
    const action = BOT_ACTIONS[slotWord(context, slot, SLOT.flags) >>> FLAG_ACTION_SHIFT]!;
    if (action === 'tag') {
      record(context, run, slot, 'tag');
      if (acts(context, run, slot)) addTag(context, run, slot);
      continue;
    }
    if (run.pinned >= 0) continue;
    const effect = action === 'alt_content' ? 'respond' : action;
    record(context, run, slot, effect);
    if (!acts(context, run, slot)) continue;
    if (effect === 'alt_origin') pin(run, slot);
    else if (effect === 'block') return end(run, 'block', { status: 403, rule: refOf(context, slot) });
    else return respond(context, run, slot);
  }
  return false;
}

/** Sends the request to the rule's origin, whatever routes and pools match; later phases see the exemption. */
function pin(run: Run, slot: number): void {
  run.pinned = slot;
  run.exempt |= EXEMPT.pinned;
}

/** Ends the request with the rule's own status and body (`alt_content`). */
function respond(context: Context, run: Run, slot: number): true {
  const { words } = context.loaded.plan;
  const fields = slotWord(context, slot, SLOT.fields);
  run.body = textOf(context.loaded, words[fields + BOT_FIELDS.body]!);
  return end(run, 'respond', { status: words[fields + BOT_FIELDS.status]!, rule: refOf(context, slot) });
}

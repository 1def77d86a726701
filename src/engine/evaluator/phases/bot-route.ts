/**
 * Phase 3: tags accumulate; of the other actions the first match wins. `alt_origin` pins the origin without ending the
 * request, and tags after it still accumulate.
 */
import { BOT_ACTIONS, BOT_KINDS } from '../../../base/vocabulary/vocabulary.ts';
import { BOT_FIELDS, FLAG, FLAG_ACTION_SHIFT, SLOT, typeIndex } from '../../plan/layout.ts';
import { botSource, botText, type JudgedCheck, judged, listText, type RuleExplanation } from '../checks.ts';
import { botOf, EXEMPT, OTHER_BOT } from '../facts.ts';
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

/** What a trace says of bot_route rules. */
export const botRouteExplanation: RuleExplanation = {
  hasPaths: false,
  checks: (context, slot) => [kindCheck(context, slot), ...verifiedCheck(context, slot)],
};

/** The check of the bot kinds. */
function kindCheck(context: Context, slot: number): JudgedCheck {
  const { words } = context.loaded.plan;
  const offset = slotWord(context, slot, SLOT.kinds);
  const kinds = [...words.subarray(offset + 2, offset + 2 + words[offset + 1]!)];
  const listed = listText(kinds.map((kind) => (kind === OTHER_BOT ? '*' : BOT_KINDS[kind]!)));
  const kind = botOf(context.facts);
  if (kind < 0) {
    const why =
      botSource(context.facts) === 'given' ? 'the visitor is not a bot' : 'the user agent names no known bot';
    return judged('kind', false, why, 'bot_not_classified', 'bot_kinds[0]');
  }
  const place = kinds.findIndex((listedKind) => listedKind === kind || listedKind === OTHER_BOT);
  const name = botText(context);
  if (place < 0)
    return judged(
      'kind',
      false,
      `bot ${name} is not in bot_kinds ${listed}`,
      'bot_not_listed',
      'bot_kinds[0]',
    );
  return judged(
    'kind',
    true,
    `bot ${name} is in bot_kinds ${listed}`,
    'bot_not_listed',
    `bot_kinds[${place}]`,
  );
}

/** The check of `require_verified`; absent if the rule does not require it. */
function verifiedCheck(context: Context, slot: number): readonly JudgedCheck[] {
  if ((slotWord(context, slot, SLOT.flags) & FLAG.requireVerified) === 0) return [];
  const name = botText(context);
  if (name === null)
    return [judged('verified', false, 'no bot, so nothing is verified', 'bot_not_classified')];
  const { botVerified } = context.facts;
  const text = botVerified
    ? `bot ${name} is verified`
    : `bot ${name} is only declared in the user agent; the rule needs a verified bot`;
  return [judged('verified', botVerified, text, 'bot_unverified')];
}

/** Phase 8: the first rewrite changes the path and query that the origin gets. */
import { encodeUri } from '../../../base/octets/octets.ts';
import { hasDotSegment, mergeLeadingSlashes } from '../../../base/paths/path.ts';
import { REWRITE_QUERY_MODES } from '../../../base/vocabulary/vocabulary.ts';
import { FLAG_ACTION_SHIFT, REWRITE_FIELDS, SLOT, typeIndex } from '../../plan/layout.ts';
import type { RuleExplanation } from '../checks.ts';
import { textOf } from '../loaded.ts';
import { acts, type Context, end, endPhase, nextMatch, type Run, record, refOf, slotWord } from '../run.ts';
import { groupsText, sentCaptures, substitute } from './captures.ts';

const REWRITE = typeIndex('rewrite');

/**
 * Writes `run.path` if the path changes, and the rule's slot for `rewrittenQuery`. Ends the request if the new
 * path has a dot segment.
 */
export function rewrite(context: Context, run: Run): boolean {
  for (let slot = nextMatch(context, REWRITE); slot >= 0; slot = nextMatch(context, REWRITE)) {
    const path = rewrittenPath(context, slot);
    const refused = path !== null && hasDotSegment(path);
    record(context, run, slot, refused ? 'refuse' : 'rewrite');
    if (!acts(context, run, slot)) continue;
    endPhase(context, REWRITE);
    if (refused) return end(run, 'refuse', { status: 400, rule: refOf(context, slot) });
    run.path = path;
    run.rewrittenBy = slot;
    return false;
  }
  return false;
}

/** The path that the origin gets, or `null` if the rule does not change it. */
function rewrittenPath(context: Context, slot: number): string | null {
  const { loaded } = context;
  const { words } = loaded.plan;
  const fields = slotWord(context, slot, SLOT.fields);
  const target = textOf(loaded, words[fields + REWRITE_FIELDS.target]!);
  if (target === '') return null;
  if (!takesGroups(context, slot)) return encodeUri(mergeLeadingSlashes(target));
  const captures = sentCaptures(context, slot);
  return encodeUri(mergeLeadingSlashes(substitute(target, { captures, most: Number.POSITIVE_INFINITY })));
}

/** Whether the rule's paths are regexes, whose groups its target may name. */
function takesGroups(context: Context, slot: number): boolean {
  return context.loaded.plan.words[slotWord(context, slot, SLOT.fields) + REWRITE_FIELDS.regex] === 1;
}

/** The query the origin gets; `run.query` is the visitor's, reduced by the cache rule. */
export function rewrittenQuery(context: Context, run: Run): string | null {
  const slot = run.rewrittenBy;
  if (slot < 0) return run.query;
  const mode = REWRITE_QUERY_MODES[slotWord(context, slot, SLOT.flags) >>> FLAG_ACTION_SHIFT];
  if (mode === 'strip') return null;
  if (mode === 'preserve') return run.query;
  const { words } = context.loaded.plan;
  const fields = slotWord(context, slot, SLOT.fields);
  return encodeUri(textOf(context.loaded, words[fields + REWRITE_FIELDS.query]!));
}

/** What a trace says of rewrite rules. */
export const rewriteExplanation: RuleExplanation = {
  reason: ({ context }, slot, effect) =>
    effect === 'refuse'
      ? { code: 'dot_segment', text: `${rewriteText(context, slot)} holds a dot segment` }
      : { code: 'rewritten', text: rewriteText(context, slot) },
};

function rewriteText(context: Context, slot: number): string {
  const { path } = context.facts;
  const target = rewrittenPath(context, slot);
  if (target === null) return `${path} is kept`;
  return `${path} → ${target}${takesGroups(context, slot) ? groupsText(context, slot) : ''}`;
}

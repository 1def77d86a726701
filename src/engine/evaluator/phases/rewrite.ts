/** Phase 8: the first rewrite changes the path and query that the origin gets. */
import { encodeUri } from '../../../base/octets/octets.ts';
import { hasDotSegment, mergeLeadingSlashes } from '../../../base/paths/path.ts';
import { MAX_LOCATION_CHARACTERS } from '../../../base/vocabulary/limits.ts';
import { REWRITE_QUERY_MODES } from '../../../base/vocabulary/vocabulary.ts';
import { FLAG_ACTION_SHIFT, REWRITE_FIELDS, SLOT, typeIndex } from '../../plan/layout.ts';
import type { RuleExplanation } from '../checks.ts';
import { textOf } from '../loaded.ts';
import { acts, type Context, end, endPhase, nextMatch, type Run, record, refOf, slotWord } from '../run.ts';
import { groupsText, sentCaptures, substitute } from './captures.ts';

const REWRITE = typeIndex('rewrite');

/**
 * Writes `run.path` if the path changes, and the rule's slot for `rewrittenQuery`. Ends the request if the new
 * path has a dot segment, or its groups make it too long.
 */
export function rewrite(context: Context, run: Run): boolean {
  for (let slot = nextMatch(context, REWRITE); slot >= 0; slot = nextMatch(context, REWRITE)) {
    const path = rewrittenPath(context, slot);
    const status = path === null ? 0 : refusalOf(path);
    record(context, run, slot, status === 0 ? 'rewrite' : 'refuse');
    if (!acts(context, run, slot)) continue;
    endPhase(context, REWRITE);
    if (status !== 0) return end(run, 'refuse', { status, rule: refOf(context, slot) });
    run.path = path;
    run.rewrittenBy = slot;
    return false;
  }
  return false;
}

/** The status that refuses a path which no origin may get, or 0. A target may name one group many times. */
function refusalOf(path: string): 0 | 400 | 414 {
  if (path.length > MAX_LOCATION_CHARACTERS) return 414;
  return hasDotSegment(path) ? 400 : 0;
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
  const path = substitute(target, { captures, most: MAX_LOCATION_CHARACTERS });
  return encodeUri(mergeLeadingSlashes(path));
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
  reason({ context }, slot, effect) {
    if (effect !== 'refuse') return { code: 'rewritten', text: rewriteText(context, slot) };
    if (refusalOf(rewrittenPath(context, slot)!) === 400)
      return { code: 'dot_segment', text: `${rewriteText(context, slot)} holds a dot segment` };
    const text = `its path is longer than ${MAX_LOCATION_CHARACTERS} characters`;
    return { code: 'long_location', text };
  },
};

function rewriteText(context: Context, slot: number): string {
  const { path } = context.facts;
  const target = rewrittenPath(context, slot);
  if (target === null) return `${path} is kept`;
  return `${path} → ${target}${takesGroups(context, slot) ? groupsText(context, slot) : ''}`;
}

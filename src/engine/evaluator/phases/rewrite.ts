/** Phase 8: the first rewrite changes the path and query that the origin gets. */
import { encodeUri } from '../../../base/octets/octets.ts';
import { hasDotSegment, mergeLeadingSlashes } from '../../../base/paths/path.ts';
import { readSentPath, sentPart } from '../../../base/paths/sent-path.ts';
import { type CaptureGroups, captureGroups } from '../../../base/regex/regex.ts';
import { REWRITE_QUERY_MODES } from '../../../base/vocabulary/vocabulary.ts';
import { FILTER, FLAG_ACTION_SHIFT, NONE, REWRITE_FIELDS, SLOT, typeIndex } from '../../plan/layout.ts';
import type { RuleExplanation } from '../checks.ts';
import { sourceOf, textOf } from '../loaded.ts';
import { pathEntry } from '../predicates.ts';
import { acts, type Context, end, endPhase, nextMatch, type Run, record, refOf, slotWord } from '../run.ts';

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
  const isRegex = words[fields + REWRITE_FIELDS.regex] === 1;
  return encodeUri(mergeLeadingSlashes(isRegex ? substitute(target, sentCaptures(context, slot)) : target));
}

/** Groups, and the form of the path that they are parts of. */
interface PathCaptures extends CaptureGroups {
  readonly of: string;
}

/**
 * The groups of the first include entry that matches the path, or else the path without parameters. `null`: the rule's
 * entries are wildcards, or it has none.
 */
function capturesOf(context: Context, slot: number): PathCaptures | null {
  const { loaded, facts } = context;
  const { words } = loaded.plan;
  const offset = slotWord(context, slot, SLOT.path);
  const isRegex = words[slotWord(context, slot, SLOT.fields) + REWRITE_FIELDS.regex] === 1;
  if (offset === NONE || !isRegex) return null;
  const from = offset + FILTER.patterns;
  const entry = pathEntry(loaded, { from, to: from + words[offset + FILTER.includes]! }, facts, false);
  if (entry < 0) return null;
  const source = sourceOf(loaded, words[from + entry]!);
  const { path, pathWithoutParameters } = facts;
  const found = captureGroups(source, false, path);
  if (found !== null) return { ...found, of: path };
  if (pathWithoutParameters === null) return null;
  const twin = captureGroups(source, false, pathWithoutParameters);
  return twin === null ? null : { ...twin, of: pathWithoutParameters };
}

/** The groups as the visitor sent them, so that escapes and doubled slashes arrive as they were. */
function sentCaptures(context: Context, slot: number): CaptureGroups | null {
  const captures = capturesOf(context, slot);
  if (captures === null) return null;
  const { path, forwarded, pathWithoutParameters } = context.facts;
  const sent = readSentPath(captures.of, forwarded, captures.of === path || pathWithoutParameters === null);
  const { starts } = captures;
  const groups = captures.groups.map((text, index) =>
    text === null ? null : sentPart(sent, { from: starts[index]!, text }),
  );
  return { ...captures, groups };
}

/** `$1` (longest run of digits), `${1}`, `${name}` and `$$`; a group that took no part is empty. */
function substitute(target: string, captures: CaptureGroups | null): string {
  let out = '';
  let at = 0;
  for (let dollar = target.indexOf('$'); dollar >= 0; dollar = target.indexOf('$', at)) {
    out += target.slice(at, dollar);
    at = dollar + 1;
    if (target[at] === '$') {
      out += '$';
      at++;
      continue;
    }
    const braced = target[at] === '{';
    let stop = braced ? target.indexOf('}', at) : at;
    if (!braced) while (isDigit(target.charCodeAt(stop))) stop++;
    const name = target.slice(braced ? at + 1 : at, stop);
    out += groupOf(captures, name);
    at = braced ? stop + 1 : stop;
  }
  return out + target.slice(at);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function groupOf(captures: CaptureGroups | null, name: string): string {
  if (captures === null) return '';
  const index = isDigit(name.charCodeAt(0)) ? Number(name) : captures.names.indexOf(name);
  return captures.groups[index] ?? '';
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
  const captures = target === null ? null : capturesOf(context, slot);
  const groups = (captures?.groups ?? []).slice(1).map((group, index) => `$${index + 1} = ${group ?? ''}`);
  const noted = groups.length === 0 ? '' : ` (${groups.join(', ')})`;
  return target === null ? `${path} is kept` : `${path} → ${target}${noted}`;
}

/**
 * The groups of a rule's path patterns, as the visitor sent them, and the texts into which rules insert them (semantics §5
 * rewrite, §14). In: a rule that matched, and its text with references. Out: the text with the groups in their places.
 */
import { readSentPath, sentPart } from '../../../base/paths/sent-path.ts';
import { type CaptureGroups, captureGroups } from '../../../base/regex/regex.ts';
import { FILTER, NONE, SLOT } from '../../plan/layout.ts';
import { sourceOf } from '../loaded.ts';
import { pathEntry } from '../predicates.ts';
import { type Context, slotWord } from '../run.ts';

/** Groups, and the form of the path that they are parts of. */
interface PathCaptures extends CaptureGroups {
  readonly of: string;
}

/**
 * The groups of the first include entry that matches the path, or else the path without parameters; the rule's entries are
 * regexes. `null`: it has none.
 */
function capturesOf(context: Context, slot: number): PathCaptures | null {
  const { loaded, facts } = context;
  const { words } = loaded.plan;
  const offset = slotWord(context, slot, SLOT.path);
  if (offset === NONE) return null;
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
export function sentCaptures(context: Context, slot: number): CaptureGroups | null {
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

/** How groups are inserted. */
interface Substituting {
  readonly captures: CaptureGroups | null;
  /** Characters at most. */
  readonly most: number;
}

/**
 * `$1` (longest run of digits), `${1}`, `${name}` and `$$`; a group that took no part is empty. A text that becomes too long is
 * cut after the group that exceeds `most`.
 */
export function substitute(target: string, { captures, most }: Substituting): string {
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
    if (out.length > most) return out;
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

/** The groups as a trace reports them, ` ($1 = a, $2 = b)`; empty without groups. */
export function groupsText(context: Context, slot: number): string {
  const captures = capturesOf(context, slot);
  const groups = (captures?.groups ?? []).slice(1).map((group, index) => `$${index + 1} = ${group ?? ''}`);
  return groups.length === 0 ? '' : ` (${groups.join(', ')})`;
}

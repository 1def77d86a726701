/**
 * Groups of a regex over the path in the target of a redirect. In: a value of `return` or `rewrite`, and the regex whose groups
 * it names. Out: the target under `target_mode: captures`, and the regex that is the one path include of the rule.
 */

import type { PathGroups } from './path-groups.ts';
import {
  isQuery,
  type RedirectTarget,
  settleTarget,
  type ValueContext,
  valuePieces,
  withoutMark,
} from './targets.ts';

/** What a value is part of. */
export interface CapturePlace {
  /** The query is appended, as `rewrite` does. */
  readonly appendsQuery: boolean;
  /** nginx escapes captures, as in redirects of `rewrite`. */
  readonly escapes: boolean;
}

/** Reads a target with groups; a text is the reason why a redirect rule cannot have it. */
export function captureTarget(
  value: string,
  { host, bindings }: ValueContext,
  groups: PathGroups,
  { appendsQuery, escapes }: CapturePlace,
): RedirectTarget | string {
  let text = '';
  let query = appendsQuery;
  let isOpen = false;
  const differences: string[] = [];
  const used = new Set<number>();
  const pieces = valuePieces(value, bindings);
  for (const [index, piece] of pieces.entries()) {
    const next = pieces[index + 1];
    if (piece.kind === 'text') {
      if (query && !appendsQuery) return 'text behind the query of the request has no place in a target';
      const bare = isQuery(next) ? withoutMark(piece.text, differences) : piece.text;
      text += bare.replaceAll('$', '$$$$').replaceAll(' ', '%20');
      continue;
    }
    const { name } = piece;
    const group = groupNumber(name, groups);
    if (group !== null) {
      if (group > groups.count) continue;
      used.add(group);
      const isInQuery = text.includes('?');
      isOpen ||= (isInQuery || !escapes) && !isPlain(groups.texts[group - 1] ?? '');
      text += `\${${groups.names[group - 1] ?? group}}`;
    } else if (name === 'scheme' && index === 0) text += '$scheme';
    else if (name === 'host' || name === 'http_host') text += host ?? '$host';
    else if (isQuery(piece) || (name === 'is_args' && isQuery(next))) query = true;
    else return `\`$${name}\` has no equivalent in a target with captures`;
  }
  const placed = placeFirst(text, groups, used);
  if (typeof placed === 'string') return placed;
  if (isOpen) differences.push(escapes ? ESCAPED_IN_QUERY : ESCAPED);
  const settled = settleTarget(placed.text, { path: false, query, host, differences });
  return typeof settled === 'string' ? settled : { ...settled, captures: placed.source };
}

const ESCAPED = 'captures are inserted with the escapes that the visitor sent; nginx inserts them decoded';
const ESCAPED_IN_QUERY =
  'in a query `&` and `+` of captures are escaped; nginx escapes them where the path has escapes';

/** The number of the group that a variable is; `null`: it is another variable. */
function groupNumber(name: string, { names }: PathGroups): number | null {
  if (/^[1-9]$/.test(name)) return Number(name);
  const index = names.indexOf(name);
  return index < 0 ? null : index + 1;
}

/** Whether a group matches letters, digits, `_` and `-` alone, which have no escapes. */
function isPlain(text: string): boolean {
  return /^(?:(?:\\[dw]|\[(?:\\[dw]|[\w-])+\]|[\w-])(?:[*+?]|\{\d+(?:,\d*)?\})?|\|)*$/.test(text);
}

/** The target whose first group has a slash before it, and the regex that it is of. */
function placeFirst(
  text: string,
  { source, texts }: PathGroups,
  used: ReadonlySet<number>,
): { readonly text: string; readonly source: string } | string {
  const [, before = ''] = /^((?:https?:\/\/|\$scheme:\/\/)[^/?#{]*|)\$\{/.exec(text) ?? [];
  const isFirst = text.startsWith('${') || before !== '';
  if (!isFirst) return { text, source };
  if (before.endsWith('://')) return 'a capture cannot be in the host of a target';
  const startsPath = /^\^\((?!\?)/.test(source) && /^\$\{1\}/.test(text.slice(before.length));
  const [first = ''] = texts;
  if (!startsPath)
    return 'a capture that is no path from its first slash on cannot start the path of a target';
  const rest = text.slice(before.length);
  // Slashes at the start of a path merge; behind a host the slash goes out of the group.
  if (before === '') return { text: `/${rest}`, source };
  if (!first.startsWith('/') || first.includes('|') || used.size > 1)
    return 'a capture without a slash before it cannot follow the host of a target';
  if (/^\/[*+?{]/.test(first))
    return 'a capture without a slash before it cannot follow the host of a target';
  return { text: `${before}/${rest}`, source: `^/(${source.slice('^(/'.length)}` };
}

/** Tests a text against a pattern of the plan. */
import { regexMatches } from '../base/regex.ts';
import { PATTERN, PATTERN_KIND } from '../plan/layout.ts';
import { type LoadedPlan, type Matcher, textOf, textsAt } from './loaded.ts';
import { dfaMatches } from './regex-dfa.ts';

/** Pattern `number`, decoded at its first use. */
export function matcherOf(loaded: LoadedPlan, number: number): Matcher {
  const known = loaded.matchers[number];
  if (known !== undefined) return known;
  const { patterns } = loaded.plan;
  const row = number * PATTERN.size;
  const kind = patterns[row + PATTERN.kind]!;
  const data = patterns[row + PATTERN.data]!;
  const isRegex = kind === PATTERN_KIND.dfa || kind === PATTERN_KIND.regex;
  const isPieces = kind === PATTERN_KIND.pieces;
  const text = isRegex ? patterns[row + PATTERN.source]! : isPieces ? 0 : data;
  const matcher: Matcher = {
    kind,
    text: textOf(loaded, text),
    pieces: isPieces ? textsAt(loaded, data) : [],
    data,
  };
  loaded.matchers[number] = matcher;
  return matcher;
}

/** The entry as the customer wrote it. */
export function sourceOf(loaded: LoadedPlan, number: number): string {
  return textOf(loaded, loaded.plan.patterns[number * PATTERN.size + PATTERN.source]!);
}

/** Whether pattern `number` matches the whole of `text` (wildcards) or somewhere in it (regexes). */
export function patternMatches(loaded: LoadedPlan, number: number, text: string): boolean {
  const matcher = matcherOf(loaded, number);
  switch (matcher.kind) {
    case PATTERN_KIND.any:
      return true;
    case PATTERN_KIND.exact:
      return text === matcher.text;
    case PATTERN_KIND.prefix:
      return text.startsWith(matcher.text);
    case PATTERN_KIND.suffix:
      return text.endsWith(matcher.text);
    case PATTERN_KIND.contains:
      return text.includes(matcher.text);
    case PATTERN_KIND.pieces:
      return piecesMatch(matcher.pieces, text);
    case PATTERN_KIND.dfa:
      return dfaMatches(loaded.plan.dfas, matcher.data, text);
    default:
      return regexMatches(matcher.text, matcher.data === 1, text);
  }
}

/** Leftmost is best for every inner piece, so there is nothing to backtrack. */
function piecesMatch(pieces: readonly string[], text: string): boolean {
  const last = pieces.length - 1;
  const head = pieces[0]!;
  const tail = pieces[last]!;
  const end = text.length - tail.length;
  if (head.length > end || !text.startsWith(head) || !text.endsWith(tail)) return false;
  let at = head.length;
  for (let index = 1; index < last; index++) {
    const piece = pieces[index]!;
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= end;
}

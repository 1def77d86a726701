/** Tests a text against a pattern of the plan. */
import { dfaMatches } from '../../base/regex/run.ts';
import { PATTERN, PATTERN_KIND } from '../plan/layout.ts';
import { type LoadedMatcher, type LoadedPlan, type RegexMemo, textOf, textsAt } from './loaded.ts';

/** Pattern `number`, decoded at its first use. */
export function matcherOf(loaded: LoadedPlan, number: number): LoadedMatcher {
  const known = loaded.matchers[number];
  if (known !== undefined) return known;
  const { patterns } = loaded.plan;
  const row = number * PATTERN.size;
  const kind = patterns[row + PATTERN.kind]!;
  const data = patterns[row + PATTERN.data]!;
  const isRegex = kind === PATTERN_KIND.dfa;
  const isPieces = kind === PATTERN_KIND.pieces;
  const text = isRegex ? patterns[row + PATTERN.source]! : isPieces ? 0 : data;
  const matcher: LoadedMatcher = {
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
    default:
      return regexMatches(loaded, number, text);
  }
}

/** Runs the automaton of a regex, at most once per text. */
function regexMatches(loaded: LoadedPlan, number: number, text: string): boolean {
  const memo = memoOf(loaded, text);
  const verdict = memo.verdicts[number]!;
  if (verdict >= memo.round * 2) return verdict % 2 === 1;
  const matched = dfaMatches(loaded.plan.dfas, matcherOf(loaded, number).data, text);
  memo.verdicts[number] = memo.round * 2 + (matched ? 1 : 0);
  return matched;
}

/** The memo of `text`; a new text replaces the least recently used of the three. */
function memoOf(loaded: LoadedPlan, text: string): RegexMemo {
  const { recent } = loaded;
  const [last, before, oldest] = recent;
  if (last.text === text) return last;
  recent[1] = last;
  if (before.text === text) {
    recent[0] = before;
    return before;
  }
  recent[0] = oldest;
  recent[2] = before;
  if (oldest.text !== text) {
    oldest.text = text;
    oldest.round++;
  }
  return oldest;
}

/** Matches a wildcard's pieces. The leftmost place is the best for every inner piece, so no backtracking is needed. */
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

/** Reads expressions that replace the whole path: the regex whose groups they insert, and the text that inserts them. */
import type { ImportedFilter } from '../filter.ts';
import { combineTests, escapeRegex, literalOf, passes, regexText, type TextTest } from '../text-test.ts';
import type { CloudflareValue } from './parse-expression.ts';

/** The regex of the whole path with its groups, and the target that inserts them. */
export interface PathReplacement {
  readonly test: TextTest;
  readonly target: string;
}

/** Reads an expression; a text is the reason why it has no equivalent. */
export function readPath(value: CloudflareValue): PathReplacement | string {
  const reason =
    'of path expressions only `concat`, `regex_replace` from the start and `wildcard_replace` have an equivalent';
  if (value.kind !== 'call') return reason;
  const isPath = (one: CloudflareValue | undefined): boolean =>
    one?.kind === 'field' && one.name === 'http.request.uri.path';
  const texts = value.args.map((one) => (one.kind === 'text' ? one.text : ''));
  if (value.name === 'concat') {
    const [before = '', after = ''] = [texts[0] ?? '', texts[2] ?? ''];
    const isPrefix = value.args.length === 2 && value.args[0]!.kind === 'text' && isPath(value.args[1]);
    return isPrefix ? replacement('^(.*)$', `${escapeDollar(before)}\${1}${after}`) : reason;
  }
  if (!isPath(value.args[0])) return reason;
  if (value.name === 'regex_replace') return regexReplacement(texts[1] ?? '', texts[2] ?? '') ?? reason;
  if (value.name !== 'wildcard_replace') return reason;
  const pieces = (texts[1] ?? '').split('*');
  const isStrict = texts[3]?.includes('s') === true;
  return replacement(`${isStrict ? '' : '(?i)'}^${pieces.map(escapeRegex).join('(.*)')}$`, texts[2] ?? '');
}

function escapeDollar(text: string): string {
  return text.replaceAll('$', '$$$$');
}

function replacement(source: string, target: string): PathReplacement | string {
  const test = regexText(source);
  return typeof test === 'string' ? test : { test, target };
}

/** `regex_replace` replaces the first match alone, so that what follows a literal start stays. */
function regexReplacement(source: string, target: string): PathReplacement | string | null {
  if (/^\^(?:[\w/~:@,;=&!-]|\\[./-])+$/.test(source)) {
    const rest = target.includes('$') ? null : `${target}\${1}`;
    return rest === null ? null : replacement(`${source}(.*)$`, rest);
  }
  return source.startsWith('^') && source.endsWith('$') && !source.endsWith('\\$') && !source.includes('|')
    ? replacement(source, target)
    : null;
}

/** The include entry of a rewrite: its regex, where the filter has no paths outside or beside it. */
export function narrowed(test: TextTest, { pathIncludes }: ImportedFilter): TextTest | string {
  if (pathIncludes === null) return test;
  const both = combineTests(pathIncludes, [test]);
  const isWhole = both?.length === 1 && JSON.stringify(both[0]) === JSON.stringify(test);
  if (isWhole) return test;
  const [first] = pathIncludes;
  if (pathIncludes.length === 1 && test.kind === 'regex' && isSameWildcard(first!, test.source)) return test;
  // One literal path that the regex matches has the same groups as the regex on that path.
  const [only] = pathIncludes;
  const literal = only === undefined || pathIncludes.length > 1 ? null : literalOf(only);
  if (literal !== null && !passes(test, literal))
    return 'its path expression does not match the paths of its filter';
  return 'its filter has other paths than its path expression, and one rule has one regex';
}

/** Whether a regex with groups is that of a wildcard, which the filter has without them. */
function isSameWildcard(filter: TextTest, source: string): boolean {
  if (filter.kind === 'pieces') return `^${filter.pieces.map(escapeRegex).join('(.*)')}$` === source;
  return filter.source === source.replaceAll('(.*)', '.*').replace(/\.\*\$$/, '');
}

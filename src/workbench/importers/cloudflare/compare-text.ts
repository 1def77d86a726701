/** Comparisons of the host, the path and the URL of a request. */
import type { ImportedCondition } from '../filter.ts';
import {
  containsText,
  endsWithText,
  equalsText,
  regexText,
  startsWithText,
  type TextTest,
  wildcardText,
  withoutCase,
} from '../text-test.ts';
import type { CloudflareExpression } from './parse-expression.ts';
import type { ReadField } from './read-field.ts';
import { type TextComparison, unknown, wider } from './reading.ts';

/** A test of the host or the path; any other field has no equivalent. */
export function textCondition(
  expression: CloudflareExpression,
  { name, key, index, folding, isDecoded, isLength }: ReadField,
  { operator, operands }: TextComparison,
): ImportedCondition {
  const isHost = name === 'http.host';
  if (name === 'http.request.uri.path.extension' && folding === null && !isDecoded && !isLength)
    return extensionCondition(expression, operator, operands);
  const isOther = key !== null || index !== null || isDecoded || isLength;
  if (isOther || (!isHost && name !== 'http.request.uri.path'))
    return unknown(expression, `has no equivalent: no rule has a filter on \`${name}\``);
  if (!isHost && operands.some((text) => /[%\\]|[^\u0021-\u007e]/.test(text)) && operator !== 'matches') {
    return unknown(
      expression,
      'has no exact equivalent: Cloudflare compares percent-encoded paths, rules decoded ones',
    );
  }
  if (folding !== null && isNeverFolded(operator, operands, folding))
    return { kind: 'constant', value: false };
  const tests: TextTest[] = [];
  for (const text of operands) {
    const test = testOf(operator, isHost && operator !== 'matches' ? text.toLowerCase() : text);
    if (typeof test === 'string') return unknown(expression, `has no equivalent: ${test}`);
    tests.push(folding !== null && !isHost ? withoutCase(test) : test);
  }
  return { kind: isHost ? 'host' : 'path', tests };
}

/** Whether no result of `lower` or `upper` compares with one of the texts: it has letters of the other case. */
export function isNeverFolded(
  operator: string,
  texts: readonly string[],
  folding: 'lower' | 'upper',
): boolean {
  // A regex has letters of its own, and `wildcard` ignores case.
  if (operator === 'matches' || operator === 'wildcard') return false;
  return texts.every((text) => text !== (folding === 'lower' ? text.toLowerCase() : text.toUpperCase()));
}

/** The test of an operator; a text says why it has none. */
function testOf(operator: string, text: string): TextTest | string {
  switch (operator) {
    case 'eq':
    case 'in':
      return equalsText(text);
    case 'contains':
      return containsText(text);
    case 'starts_with':
      return startsWithText(text);
    case 'ends_with':
      return endsWithText(text);
    case 'matches':
      return regexText(text);
    case 'wildcard':
      return withoutCase(wildcardText(text));
    case 'strict wildcard':
      return wildcardText(text);
    default:
      return `texts have no operator \`${operator}\``;
  }
}

function extensionCondition(
  expression: CloudflareExpression,
  operator: string,
  names: readonly string[],
): ImportedCondition {
  if (operator !== 'in' && operator !== 'eq') return unknown(expression, 'has no equivalent in a filter');
  if (names.some((name) => !/^[a-z0-9_-]+$/.test(name)))
    return unknown(expression, 'names an unusual extension');
  return { kind: 'path', tests: names.map((name) => withoutCase(endsWithText(`.${name}`))) };
}

const WITH_QUERY = 'the edge compares the path alone, and Cloudflare with its query';

/** A test of `http.request.uri` or `http.request.full_uri`, which have the query too; `null`: another field. */
export function urlCondition(
  expression: CloudflareExpression,
  { name, key, index, folding, isDecoded, isLength }: ReadField,
  compared: TextComparison,
): ImportedCondition | null {
  if (key !== null || index !== null || folding !== null || isDecoded || isLength) return null;
  const isFull = name === 'http.request.full_uri';
  if (!isFull && name !== 'http.request.uri') return null;
  const { operands, operator, reading } = compared;
  if (isFull && operands.length === 1 && operator.endsWith('wildcard') && operands[0]!.startsWith('http*://'))
    return anySchemeCondition(expression, compared);
  const of: ImportedCondition[] = [];
  for (const operand of operands) {
    const url = readUrl(operand, operator, isFull);
    if (url === null)
      return unknown(
        expression,
        'has no equivalent: a URL has its query too, and of it only whole paths and their start have a filter',
      );
    of.push(url);
  }
  const condition: ImportedCondition = of.length === 1 ? of[0]! : { kind: 'any', of };
  return operator === 'eq' || operator === 'in' || !operands.every(hasOpenEnd(operator))
    ? wider(expression, { reading, condition, difference: WITH_QUERY })
    : condition;
}

/** Whether anything may follow what is compared. */
const hasOpenEnd =
  (operator: string) =>
  (text: string): boolean =>
    operator === 'starts_with' || text.endsWith('*');

/** A URL, or the start of one, as a condition; `null`: it has another form. */
function readUrl(text: string, operator: string, isFull: boolean): ImportedCondition | null {
  const isWildcard = operator === 'wildcard' || operator === 'strict wildcard';
  if (!isWildcard && !['eq', 'in', 'starts_with'].includes(operator)) return null;
  const form = isFull ? /^(https?):\/\/([^/?*]+)(\/[^?]*)$/ : /^()()(\/[^?]*)$/;
  const [, scheme, host, path] = form.exec(text) ?? [];
  const literal = isWildcard ? path?.replace(/\*$/, '') : path;
  if (
    literal === undefined ||
    /[%\\#]|[^\u0021-\u007e]/.test(literal) ||
    (isWildcard && literal.includes('*'))
  )
    return null;
  const isStart = operator === 'starts_with' || (isWildcard && literal !== path);
  const test = isStart ? startsWithText(literal) : equalsText(literal);
  const paths: ImportedCondition = {
    kind: 'path',
    tests: [operator === 'wildcard' ? withoutCase(test) : test],
  };
  if (!isFull) return paths;
  return {
    kind: 'all',
    of: [
      { kind: 'fact', fact: { member: 'schemes', values: [scheme!], negated: false } },
      { kind: 'host', tests: [equalsText(host!.toLowerCase())] },
      paths,
    ],
  };
}

/** `wildcard "http*://host/path*"`, as single redirects have it. */
function anySchemeCondition(
  expression: CloudflareExpression,
  { operands, operator, reading }: TextComparison,
): ImportedCondition {
  const [, host, path] = /^http\*:\/\/([^/*?]+)(\/[^*?%]*)\*$/.exec(operands[0]!) ?? [];
  if (host === undefined || path === undefined) {
    return unknown(expression, 'has no equivalent: of full URLs only `http*://host/path*` has one');
  }
  reading.differences.push(
    `at Cloudflare a URL of another host that contains \`://${host}${path}\` matches too`,
  );
  const test = startsWithText(path);
  const tests = [operator === 'wildcard' && /[a-z]/i.test(path) ? withoutCase(test) : test];
  return {
    kind: 'all',
    of: [
      { kind: 'host', tests: [equalsText(host.toLowerCase())] },
      { kind: 'path', tests },
    ],
  };
}

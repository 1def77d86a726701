/** Translates a parsed expression to a condition over the filters of rules; what has no filter is named. */
import { BOT_KINDS } from '../../../base/vocabulary/vocabulary.ts';
import { type AddressSet, readAddresses, uniteAddresses } from '../addresses.ts';
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
import type { CloudflareExpression, CloudflareValue } from './parse-expression.ts';

/** A condition, and what it has beyond Cloudflare's or lacks. */
export interface ReadCondition {
  readonly condition: ImportedCondition;
  readonly differences: readonly string[];
}

/** Reads an expression. */
export function readCondition(expression: CloudflareExpression): ReadCondition {
  const differences: string[] = [];
  return { condition: conditionOf(expression, differences), differences };
}

function conditionOf(expression: CloudflareExpression, differences: string[]): ImportedCondition {
  switch (expression.kind) {
    case 'and':
      return { kind: 'all', of: expression.of.map((one) => conditionOf(one, differences)) };
    case 'or':
      return { kind: 'any', of: expression.of.map((one) => conditionOf(one, differences)) };
    case 'not':
      return { kind: 'not', of: conditionOf(expression.of, differences) };
    case 'xor':
      return unknown(expression, 'has no equivalent: filters have no `xor`');
    case 'value':
      return valueCondition(expression, expression.value, differences);
    case 'compare':
      return comparison(expression, differences);
  }
}

function unknown({ text }: { readonly text: string }, reason: string): ImportedCondition {
  return { kind: 'unknown', text, reason };
}

/** A boolean field or function. */
function valueCondition(
  expression: CloudflareExpression,
  value: CloudflareValue,
  differences: string[],
): ImportedCondition {
  if (value.kind === 'field' && (value.name === 'true' || value.name === 'false')) {
    return { kind: 'constant', value: value.name === 'true' };
  }
  if (value.kind === 'field' && value.name === 'cf.client.bot') {
    differences.push('the edge verifies bots by its own list of operators, not by that of Cloudflare');
    return { kind: 'bot', kinds: ['*'], verified: true, text: 'cf.client.bot' };
  }
  if (value.kind === 'call' && ['starts_with', 'ends_with'].includes(value.name) && value.args.length === 2) {
    const [field, operand] = value.args;
    if (operand!.kind === 'text') {
      return textCondition(expression, { field: field!, operator: value.name, operands: [operand!.text] });
    }
  }
  return unknown(expression, 'has no equivalent in a filter');
}

function comparison(
  expression: Extract<CloudflareExpression, { kind: 'compare' }>,
  differences: string[],
): ImportedCondition {
  const { left, operator, right } = expression;
  const negated = operator === 'ne';
  const wrap = (condition: ImportedCondition): ImportedCondition =>
    negated && condition.kind !== 'unknown' ? { kind: 'not', of: condition } : condition;
  const plain = negated ? 'eq' : operator;
  if (left.kind === 'field') {
    const { name } = left;
    if (name === 'ip.src') return wrap(addressCondition(expression, plain));
    if (name === 'ip.src.country' || name === 'ip.geoip.country')
      return wrap(countryCondition(expression, plain));
    if (name === 'http.user_agent') return wrap(agentCondition(expression, plain, differences));
    if (name === 'http.request.uri.path.extension') return wrap(extensionCondition(expression, plain));
    if (name === 'http.request.full_uri') return wrap(fullUriCondition(expression, plain, differences));
  }
  const operands = right.map((value) => (value.kind === 'text' ? value.text : null));
  if (operands.some((text) => text === null))
    return unknown(expression, 'compares with a value that is no text');
  return wrap(
    textCondition(expression, { field: left, operator: plain, operands: operands as readonly string[] }),
  );
}

/** A test of a host or a path. */
interface TextComparison {
  readonly field: CloudflareValue;
  readonly operator: string;
  readonly operands: readonly string[];
}

function textCondition(
  expression: CloudflareExpression,
  { field, operator, operands }: TextComparison,
): ImportedCondition {
  const inner =
    field.kind === 'call' && field.name === 'lower' && field.args.length === 1 ? field.args[0]! : field;
  const isLower = inner !== field;
  const name = inner.kind === 'field' ? inner.name : '';
  if (name === 'http.request.uri' && operator === 'starts_with' && !operands[0]!.includes('?')) {
    return textCondition(expression, {
      field: { kind: 'field', name: 'http.request.uri.path' },
      operator,
      operands,
    });
  }
  const isHost = name === 'http.host';
  if (!isHost && name !== 'http.request.uri.path') {
    return unknown(
      expression,
      `has no equivalent: no rule has a filter on \`${name === '' ? expression.text : name}\``,
    );
  }
  if (!isHost && operands.some((text) => /[%\\]|[^\u0021-\u007e]/.test(text)) && operator !== 'matches') {
    return unknown(
      expression,
      'has no exact equivalent: Cloudflare compares percent-encoded paths, rules decoded ones',
    );
  }
  if (isLower && operands.some((text) => text !== text.toLowerCase()) && operator !== 'matches') {
    return { kind: 'constant', value: false };
  }
  const tests: TextTest[] = [];
  for (const text of operands) {
    const test = testOf(operator, isHost ? text.toLowerCase() : text);
    if (typeof test === 'string') return unknown(expression, `has no equivalent: ${test}`);
    tests.push(isLower && !isHost ? withoutCase(test) : test);
  }
  return { kind: isHost ? 'host' : 'path', tests };
}

/** The test of an operator; a text says why there is none. */
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

function addressCondition(
  expression: Extract<CloudflareExpression, { kind: 'compare' }>,
  operator: string,
): ImportedCondition {
  const { right } = expression;
  if (operator !== 'in' && operator !== 'eq') return unknown(expression, 'has no equivalent in a filter');
  const sets: AddressSet[] = [];
  for (const value of right) {
    const text = value.kind === 'word' ? value.text : '';
    if (text.startsWith('$'))
      return unknown(expression, 'names a list of the account, whose entries are not in the file');
    const set = readAddresses(text.replace('..', '-'));
    if (set === null) return unknown(expression, 'has an entry that is no address');
    sets.push(set);
  }
  return { kind: 'ip', addresses: uniteAddresses(sets) };
}

function countryCondition(
  expression: Extract<CloudflareExpression, { kind: 'compare' }>,
  operator: string,
): ImportedCondition {
  const codes = expression.right.map((value) => (value.kind === 'text' ? value.text : ''));
  if (operator !== 'in' && operator !== 'eq') return unknown(expression, 'has no equivalent in a filter');
  const special = codes.find((code) => !/^[A-Z]{2}$/.test(code) || ['XX', 'T1'].includes(code));
  if (special !== undefined)
    return unknown(expression, `names \`${special}\`, which is no country of ISO 3166-1`);
  return { kind: 'country', codes };
}

/** `contains` with the name of a bot that the edge classifies. */
function agentCondition(
  expression: Extract<CloudflareExpression, { kind: 'compare' }>,
  operator: string,
  differences: string[],
): ImportedCondition {
  const [value] = expression.right;
  const name = value?.kind === 'text' ? value.text.toLowerCase() : '';
  const kind = BOT_KINDS.find((one) => one === name && one !== 'generic-bot');
  if (operator !== 'contains' || kind === undefined) {
    return unknown(expression, 'has no equivalent: no rule has a filter on `http.user_agent`');
  }
  differences.push(
    `the edge finds \`${kind}\` in the User-Agent without regard to case, and one bot in each request`,
  );
  return { kind: 'bot', kinds: [kind], verified: false, text: expression.text };
}

function extensionCondition(
  expression: Extract<CloudflareExpression, { kind: 'compare' }>,
  operator: string,
): ImportedCondition {
  if (operator !== 'in' && operator !== 'eq') return unknown(expression, 'has no equivalent in a filter');
  const names = expression.right.map((value) => (value.kind === 'text' ? value.text : ''));
  if (names.some((name) => !/^[a-z0-9_-]+$/.test(name)))
    return unknown(expression, 'names an unusual extension');
  return { kind: 'path', tests: names.map((name) => withoutCase(endsWithText(`.${name}`))) };
}

/** `wildcard "http*://host/path*"`, as single redirects have it. */
function fullUriCondition(
  expression: Extract<CloudflareExpression, { kind: 'compare' }>,
  operator: string,
  differences: string[],
): ImportedCondition {
  const [value] = expression.right;
  const pattern = value?.kind === 'text' ? value.text : '';
  const [, host, path] = /^http\*:\/\/([^/*?]+)(\/[^*?%]*)\*$/.exec(pattern) ?? [];
  const isWildcard = operator === 'wildcard' || operator === 'strict wildcard';
  if (!isWildcard || host === undefined || path === undefined) {
    return unknown(expression, 'has no equivalent: of full URLs only `http*://host/path*` has one');
  }
  differences.push(`at Cloudflare a URL of another host that contains \`://${host}${path}\` matches too`);
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

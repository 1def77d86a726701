/** Translates a parsed expression to a condition over the filters of rules; what has no filter is named. */
import type { ImportedCondition } from '../filter.ts';
import { textCondition, urlCondition } from './compare-text.ts';
import { eachCondition, hasCondition, valueComparison } from './compare-value.ts';
import { visitorCondition } from './compare-visitor.ts';
import type { CloudflareExpression, CloudflareValue } from './parse-expression.ts';
import { readField } from './read-field.ts';
import {
  type Comparison,
  type ExpressionReading,
  opposite,
  type TextComparison,
  unknown,
} from './reading.ts';

/** A condition, and what it has beyond Cloudflare's or lacks. */
export interface ReadCondition {
  readonly condition: ImportedCondition;
  readonly differences: readonly string[];
}

/** Reads an expression. */
export function readCondition(
  expression: CloudflareExpression,
  { lists = new Map(), isException = false }: Partial<Pick<ExpressionReading, 'lists' | 'isException'>> = {},
): ReadCondition {
  const differences: string[] = [];
  const condition = conditionOf(expression, { lists, differences, isException });
  return { condition, differences: [...new Set(differences)] };
}

function conditionOf(expression: CloudflareExpression, reading: ExpressionReading): ImportedCondition {
  switch (expression.kind) {
    case 'and':
      return { kind: 'all', of: expression.of.map((one) => conditionOf(one, reading)) };
    case 'or':
      return { kind: 'any', of: expression.of.map((one) => conditionOf(one, reading)) };
    case 'not':
      return { kind: 'not', of: conditionOf(expression.of, opposite(reading)) };
    case 'xor':
      return unknown(expression, 'has no equivalent: filters have no `xor`');
    case 'value':
      return booleanCondition(expression, expression.value, reading);
    case 'compare':
      return comparison(expression, reading);
  }
}

const OTHER_BOTS = 'the edge verifies bots by its own list of operators, not by that of Cloudflare';

/** A boolean field or function. */
function booleanCondition(
  expression: CloudflareExpression,
  value: CloudflareValue,
  reading: ExpressionReading,
): ImportedCondition {
  if (value.kind === 'each') return eachCondition(expression, value, reading);
  if (value.kind === 'call') return callCondition(expression, value, reading);
  const name = value.kind === 'field' ? value.name : '';
  if (name === 'true' || name === 'false') return { kind: 'constant', value: name === 'true' };
  if (name === 'ssl') return { kind: 'fact', fact: { member: 'schemes', values: ['https'], negated: false } };
  if (name === 'cf.client.bot' || name === 'cf.bot_management.verified_bot') {
    reading.differences.push(OTHER_BOTS);
    return { kind: 'bot', kinds: ['*'], verified: true, text: name };
  }
  return unknown(expression, 'has no equivalent in a filter');
}

/** `starts_with`, `ends_with`, `has_key`, `has_value`. */
function callCondition(
  expression: CloudflareExpression,
  { name, args }: Extract<CloudflareValue, { kind: 'call' }>,
  reading: ExpressionReading,
): ImportedCondition {
  const [field, operand] = args;
  if (args.length === 2 && operand!.kind === 'text') {
    if (name === 'starts_with' || name === 'ends_with')
      return textComparison(expression, {
        field: field!,
        operator: name,
        operands: [operand!.text],
        reading,
      });
    if (name === 'has_key' || name === 'has_value')
      return hasCondition(expression, { name, field: field!, text: operand!.text, reading });
  }
  return unknown(expression, 'has no equivalent in a filter');
}

function comparison(expression: Comparison, reading: ExpressionReading): ImportedCondition {
  const { left, operator, right } = expression;
  const [first] = right;
  if (first?.kind === 'field' && (first.name === 'true' || first.name === 'false')) {
    if (operator !== 'eq' && operator !== 'ne') return unknown(expression, 'has no equivalent in a filter');
    const isOpposite = (first.name === 'true') === (operator === 'ne');
    const read = booleanCondition(expression, left, isOpposite ? opposite(reading) : reading);
    return isOpposite && read.kind !== 'unknown' ? { kind: 'not', of: read } : read;
  }
  if (operator === 'ne') {
    const read = positive({ ...expression, operator: 'eq' }, opposite(reading));
    return read.kind === 'unknown' ? read : differsOf(expression, read, reading);
  }
  return positive(expression, reading);
}

/** The opposite of an equality; a value that is missing compares with nothing, and equals nothing either. */
function differsOf(
  expression: Comparison,
  equal: ImportedCondition,
  reading: ExpressionReading,
): ImportedCondition {
  const differs: ImportedCondition = { kind: 'not', of: equal };
  const field = readField(expression.left);
  if (field === null || field.key === null || field.isLength) return differs;
  const map = { kind: 'field', name: field.name } as const;
  const has = hasCondition(expression, { name: 'has_key', field: map, text: field.key, reading });
  return { kind: 'all', of: [has, differs] };
}

/** A comparison other than `ne`. */
function positive(expression: Comparison, reading: ExpressionReading): ImportedCondition {
  const { left, operator, right } = expression;
  const visitor = visitorCondition(expression, reading);
  if (visitor !== null) return visitor;
  const operands = right.map((value) => (value.kind === 'text' ? value.text : null));
  const field = readField(left);
  if (operands.some((text) => text === null) && field?.isLength !== true)
    return unknown(expression, 'compares with a value that is no text');
  return textComparison(expression, {
    field: left,
    operator,
    operands: field?.isLength === true ? right.map(wordOf) : (operands as readonly string[]),
    reading,
  });
}

function wordOf(value: CloudflareValue): string {
  return value.kind === 'word' ? value.text : '';
}

function textComparison(expression: CloudflareExpression, compared: TextComparison): ImportedCondition {
  const field = readField(compared.field);
  if (field === null)
    return unknown(expression, `has no equivalent: no rule has a filter on \`${expression.text}\``);
  return (
    valueComparison(expression, field, compared) ??
    urlCondition(expression, field, compared) ??
    textCondition(expression, field, compared)
  );
}

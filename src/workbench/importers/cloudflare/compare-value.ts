/** Comparisons of headers, cookies, query parameters and fingerprints. */
import type { ValueComparison, ValueMember } from '../../../base/vocabulary/vocabulary.ts';
import type { ImportedCondition } from '../filter.ts';
import { presentValue, valueCondition } from '../value-test.ts';
import { isNeverFolded } from './compare-text.ts';
import type { CloudflareExpression, CloudflareValue } from './parse-expression.ts';
import { type ReadField, readField } from './read-field.ts';
import { type ExpressionReading, type TextComparison, unknown, wider } from './reading.ts';

/** Fields that are the text of a header, empty without one. */
const HEADER_FIELDS: Readonly<Record<string, string>> = {
  'http.user_agent': 'user-agent',
  'http.referer': 'referer',
  'http.cookie': 'cookie',
};

/** Fields that are arrays by name. */
const MAPS: Readonly<Record<string, ValueMember>> = {
  'http.request.headers': 'headers',
  'http.request.cookies': 'cookies',
  'http.request.uri.args': 'query',
};

/** The names of such an array. */
const NAMES: Readonly<Record<string, ValueMember>> = {
  'http.request.headers.names': 'headers',
  'http.request.cookies.names': 'cookies',
  'http.request.uri.args.names': 'query',
};

const COMPARISONS: Readonly<Record<string, ValueComparison>> = {
  eq: 'equals',
  in: 'equals',
  contains: 'contains',
  starts_with: 'prefix',
  ends_with: 'suffix',
  matches: 'regex',
  wildcard: 'wildcard',
  'strict wildcard': 'wildcard',
};

const DECODED = 'the edge compares query parameters decoded, and Cloudflare as they are sent';

/** What is compared, and with what. */
type Compared = Omit<TextComparison, 'field'>;

/** The condition of a comparison; `null`: it compares something else. */
export function valueComparison(
  expression: CloudflareExpression,
  field: ReadField,
  compared: Compared,
): ImportedCondition | null {
  if (field.name === 'cf.bot_management.ja4') return fingerprintCondition(expression, field, compared);
  const name = own(HEADER_FIELDS, field.name);
  const member = name === undefined ? own(MAPS, field.name) : 'headers';
  if (member === undefined || (name === undefined) !== (field.key !== null)) return null;
  if (field.isLength) return lengthCondition(expression, field, compared);
  if (name === undefined && field.index !== 0)
    return unknown(expression, 'has no equivalent: a condition reads every value, or any of them');
  if (name !== undefined && field.index !== null) return null;
  if (name === undefined && !(member === 'headers' && isSingle(field.key!))) {
    const difference = `of several values of \`${field.key}\` any counts at the edge, and at Cloudflare the first`;
    compared.reading.differences.push(difference);
  }
  return textOfValue(
    expression,
    { field, member, name: name ?? field.key!, absentIsEmpty: name !== undefined },
    compared,
  );
}

function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Whether requests have one line of a header (RFC 9110 §5.3: others are invalid). */
function isSingle(name: string): boolean {
  return ['user-agent', 'referer', 'cookie', 'authorization', 'content-type', 'origin'].includes(name);
}

/** A value that is compared. */
interface ComparedValue {
  readonly field: ReadField;
  readonly member: ValueMember;
  readonly name: string;
  readonly absentIsEmpty: boolean;
}

function textOfValue(
  expression: CloudflareExpression,
  { field, member, name, absentIsEmpty }: ComparedValue,
  { operator, operands, reading }: Compared,
): ImportedCondition {
  const { folding, isDecoded } = field;
  const comparison = own(COMPARISONS, operator);
  if (comparison === undefined)
    return unknown(expression, `has no equivalent: texts have no operator \`${operator}\``);
  const reason = reasonAgainst({ member, isDecoded, folding }, comparison, operands);
  if (reason !== null) return unknown(expression, reason);
  if (folding !== null && isNeverFolded(operator, operands, folding))
    return { kind: 'constant', value: false };
  if (member === 'query' && !isDecoded) reading.differences.push(DECODED);
  const condition = valueCondition({
    member,
    name,
    comparison,
    texts: operands,
    ignoreCase: folding !== null || operator === 'wildcard',
    absentIsEmpty,
  });
  return typeof condition === 'string' ? unknown(expression, condition) : condition;
}

/** Why a comparison has no equivalent; `null`: it has one. */
function reasonAgainst(
  { member, isDecoded, folding }: { readonly member: ValueMember } & Pick<ReadField, 'isDecoded' | 'folding'>,
  comparison: ValueComparison,
  texts: readonly string[],
): string | null {
  if (isDecoded && member !== 'query')
    return 'has no equivalent: conditions read headers and cookies as they are sent';
  if (
    member === 'query' &&
    !isDecoded &&
    (comparison === 'regex' || texts.some((text) => /[%+&]|[^\u0021-\u007e]/.test(text)))
  )
    return 'has no equivalent: Cloudflare compares query parameters as they are sent, conditions decoded';
  if (comparison === 'wildcard' && texts.some((text) => text.includes('\\')))
    return 'has no equivalent: wildcards of conditions have no escapes';
  if (comparison === 'regex' && folding !== null && texts.some((text) => hasOtherCase(text, folding)))
    return 'has no equivalent: its regex has letters that the conversion of case leaves out';
  return null;
}

/** Whether a regex has letters of the case that `lower` or `upper` leave out; classes such as `\S` are none. */
function hasOtherCase(source: string, folding: 'lower' | 'upper'): boolean {
  const plain = source.replace(/\\./g, '');
  return (folding === 'lower' ? /[A-Z]/ : /[a-z]/).test(plain);
}

/** `len(field)` compared with 0 or 1: whether there is a text, or an array. */
function lengthCondition(
  expression: CloudflareExpression,
  field: ReadField,
  { operator, operands, reading }: Compared,
): ImportedCondition {
  const { name, key, index, folding, isDecoded } = field;
  const header = own(HEADER_FIELDS, name);
  const shown = `${operator} ${operands.join(' ')}`;
  const other = unknown(expression, 'has no equivalent: conditions compare no lengths');
  if (folding !== null || isDecoded || index !== null) return other;
  if (header !== undefined) {
    const empty = textOfValue(
      expression,
      { field: { ...field, isLength: false }, member: 'headers', name: header, absentIsEmpty: true },
      { operator: 'eq', operands: [''], reading },
    );
    if (['eq 0', 'lt 1', 'le 0'].includes(shown)) return empty;
    return ['gt 0', 'ge 1'].includes(shown) ? { kind: 'not', of: empty } : other;
  }
  if (!['gt 0', 'ge 1', 'ge 0'].includes(shown)) return other;
  return presence(expression, { member: MAPS[name]!, name: key! }, reading);
}

function presence(
  expression: CloudflareExpression,
  { member, name }: { readonly member: ValueMember; readonly name: string },
  reading: ExpressionReading,
): ImportedCondition {
  if (member === 'query' && !/^[\w.~[\]-]+$/.test(name))
    return unknown(expression, 'names a query parameter with characters that are sent in several ways');
  const condition = presentValue(member, name);
  if (member === 'query') reading.differences.push(DECODED);
  return typeof condition === 'string' ? unknown(expression, condition) : condition;
}

/** `has_key(map, "name")`, and `has_value(map["name"], "text")`. */
export function hasCondition(
  expression: CloudflareExpression,
  {
    name,
    field: value,
    text,
    reading,
  }: {
    readonly name: 'has_key' | 'has_value';
    readonly field: CloudflareValue;
    readonly text: string;
    readonly reading: ExpressionReading;
  },
): ImportedCondition {
  const field = readField(value);
  const member = field === null ? undefined : own(MAPS, field.name);
  const isPlain =
    field !== null && field.index === null && field.folding === null && !field.isDecoded && !field.isLength;
  if (member === undefined || !isPlain || (field.key === null) !== (name === 'has_key'))
    return unknown(expression, 'has no equivalent in a filter');
  if (field.key === null) return presence(expression, { member, name: text }, reading);
  const compared = { operator: 'eq', operands: [text], reading };
  return textOfValue(expression, { field, member, name: field.key, absentIsEmpty: false }, compared);
}

/** `any(… [*] eq "text")`, and `all(… [*] ne "text")`, which no value meets that equals it. */
export function eachCondition(
  expression: CloudflareExpression,
  { name, of }: Extract<CloudflareValue, { kind: 'each' }>,
  reading: ExpressionReading,
): ImportedCondition {
  const read = of === null ? null : readEach(of);
  const reason = 'has no equivalent: a condition holds when one value compares, or when none does';
  if (read === null || (name === 'any') === read.isNegated) return unknown(expression, reason);
  const inner = { ...reading, isException: reading.isException !== read.isNegated };
  const condition = elementCondition(expression, read.field, { ...read, reading: inner });
  return read.isNegated && condition.kind !== 'unknown' ? { kind: 'not', of: condition } : condition;
}

/** The one comparison inside `any` or `all`. */
interface EachComparison {
  readonly field: ReadField;
  readonly operator: string;
  readonly operands: readonly string[];
  readonly isNegated: boolean;
}

function readEach(expression: CloudflareExpression): EachComparison | null {
  if (expression.kind === 'not') {
    const inner = readEach(expression.of);
    return inner === null ? null : { ...inner, isNegated: !inner.isNegated };
  }
  if (expression.kind === 'value' && expression.value.kind === 'call') {
    const { name, args } = expression.value;
    const [value, operand] = args;
    if (args.length !== 2 || operand!.kind !== 'text' || !['starts_with', 'ends_with'].includes(name))
      return null;
    const field = readField(value!);
    return field === null ? null : { field, operator: name, operands: [operand!.text], isNegated: false };
  }
  if (expression.kind !== 'compare') return null;
  const field = readField(expression.left);
  const operands = expression.right.map((value) => (value.kind === 'text' ? value.text : null));
  if (field === null || operands.includes(null)) return null;
  const isNegated = expression.operator === 'ne';
  const operator = isNegated ? 'eq' : expression.operator;
  return { field, operator, operands: operands as readonly string[], isNegated };
}

/** The condition that an element of an array compares. */
function elementCondition(
  expression: CloudflareExpression,
  field: ReadField,
  compared: Compared,
): ImportedCondition {
  if (field.index !== 'each' || field.isLength) return unknown(expression, 'has no equivalent in a filter');
  const member = own(MAPS, field.name);
  if (member !== undefined && field.key !== null)
    return textOfValue(expression, { field, member, name: field.key, absentIsEmpty: false }, compared);
  const named = own(NAMES, field.name);
  if (named === undefined || field.key !== null || field.isDecoded)
    return unknown(expression, 'has no equivalent in a filter');
  return nameCondition(expression, { member: named, folding: field.folding }, compared);
}

/** The condition that one of the names is that of a header, a cookie or a parameter. */
function nameCondition(
  expression: CloudflareExpression,
  { member, folding }: { readonly member: ValueMember } & Pick<ReadField, 'folding'>,
  { operator, operands, reading }: Compared,
): ImportedCondition {
  if (operator !== 'eq' && operator !== 'in')
    return unknown(expression, 'has no equivalent: conditions name headers');
  if (member === 'headers' ? folding === 'upper' : folding !== null)
    return unknown(expression, 'has no equivalent: conditions compare names of parameters with case');
  if (folding === 'lower' && isNeverFolded(operator, operands, folding))
    return { kind: 'constant', value: false };
  const of = operands.map((name) => presence(expression, { member, name }, reading));
  const condition: ImportedCondition = of.length === 1 ? of[0]! : { kind: 'any', of };
  if (member !== 'headers' || folding !== null) return condition;
  const difference = 'the edge compares names of headers without case, and Cloudflare as they are sent';
  return wider(expression, { reading, condition, difference });
}

/** A JA4 fingerprint, whole or its start. */
function fingerprintCondition(
  expression: CloudflareExpression,
  { key, index, folding, isDecoded, isLength }: ReadField,
  { operator, operands }: Compared,
): ImportedCondition {
  const isPlain = key === null && index === null && folding === null && !isDecoded && !isLength;
  const texts = operator === 'starts_with' ? operands.map((text) => `${text}*`) : operands;
  const isStart = operator === 'starts_with' || operator === 'strict wildcard';
  const form = isStart ? /^[0-9a-z_]+\*?$/ : /^[0-9a-z_]+$/;
  const isKnown = isStart || operator === 'eq' || operator === 'in';
  if (!isPlain || !isKnown || texts.some((text) => !form.test(text)))
    return unknown(expression, 'has no equivalent: rules compare whole fingerprints, or their start');
  return { kind: 'fact', fact: { member: 'ja4', values: texts, negated: false } };
}

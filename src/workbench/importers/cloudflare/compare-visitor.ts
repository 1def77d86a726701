/** Comparisons of who asks, and how: the address, the country, the network, the method and the scheme; hosts of a list. */
import { isAsn } from '../../../base/addresses/asn.ts';
import { type AddressSet, readAddresses, uniteAddresses } from '../addresses.ts';
import type { ImportedCondition } from '../filter.ts';
import { asnCondition, inAccountList } from './account-lists.ts';
import type { CloudflareValue } from './parse-expression.ts';
import { type Comparison, type ExpressionReading, unknown } from './reading.ts';

/** The condition of a comparison with `eq` or `in`; `null`: it compares something else. */
export function visitorCondition(
  expression: Comparison,
  reading: ExpressionReading,
): ImportedCondition | null {
  const { left, operator, right } = expression;
  const read = left.kind === 'field' && Object.hasOwn(READERS, left.name) ? READERS[left.name] : undefined;
  if (read === undefined || (read === hostListCondition && listName(right) === null)) return null;
  return operator === 'in' || operator === 'eq'
    ? read(expression, reading)
    : unknown(expression, 'has no equivalent in a filter');
}

type Read = (expression: Comparison, reading: ExpressionReading) => ImportedCondition;

/** By the name of the field. */
const READERS: Readonly<Partial<Record<string, Read>>> = {
  'ip.src': addressCondition,
  'ip.src.country': countryCondition,
  'ip.geoip.country': countryCondition,
  'ip.src.asnum': networkCondition,
  'ip.geoip.asnum': networkCondition,
  'http.request.method': methodCondition,
  'http.request.scheme': schemeCondition,
  'http.host': hostListCondition,
};

/** The name of a list of the account; `null`: the values are others. */
function listName(values: readonly CloudflareValue[]): string | null {
  const [value] = values;
  return values.length === 1 && value!.kind === 'word' && value!.text.startsWith('$')
    ? value!.text.slice(1)
    : null;
}

function addressCondition(expression: Comparison, { lists }: ExpressionReading): ImportedCondition {
  const { right } = expression;
  const name = listName(right);
  if (name !== null) {
    const listed = inAccountList(lists, { name, field: 'ip' });
    return typeof listed === 'string' ? unknown(expression, listed) : listed;
  }
  const sets: AddressSet[] = [];
  for (const value of right) {
    const set = readAddresses((value.kind === 'word' ? value.text : '').replace('..', '-'));
    if (set === null) return unknown(expression, 'has an entry that is no address');
    sets.push(set);
  }
  return { kind: 'ip', addresses: uniteAddresses(sets) };
}

function hostListCondition(expression: Comparison, { lists }: ExpressionReading): ImportedCondition {
  const listed = inAccountList(lists, { name: listName(expression.right)!, field: 'hostname' });
  return typeof listed === 'string' ? unknown(expression, listed) : listed;
}

function textsOf({ right }: Comparison): readonly string[] {
  return right.map((value) => (value.kind === 'text' ? value.text : ''));
}

function countryCondition(expression: Comparison): ImportedCondition {
  const codes = textsOf(expression);
  const special = codes.find((code) => !/^[A-Z]{2}$/.test(code) || ['XX', 'T1'].includes(code));
  if (special !== undefined)
    return unknown(expression, `names \`${special}\`, which is no country of ISO 3166-1`);
  return { kind: 'country', codes };
}

/** Numbers that a range of them is written out to at most. */
const MAX_RANGE = 1_000;

/** The numbers of words such as `64496` and `64496..64511`; `null`: a word is another, or a range is too long. */
export function numbersOf(values: readonly CloudflareValue[]): readonly number[] | null {
  const numbers: number[] = [];
  for (const value of values) {
    const [, first, last] =
      /^(\d{1,10})(?:\.\.(\d{1,10}))?$/.exec(value.kind === 'word' ? value.text : '') ?? [];
    if (first === undefined) return null;
    const from = Number(first);
    const to = last === undefined ? from : Number(last);
    if (to - from >= MAX_RANGE) return null;
    for (let number = from; number <= to; number++) numbers.push(number);
  }
  return numbers;
}

function networkCondition(expression: Comparison, { lists }: ExpressionReading): ImportedCondition {
  const name = listName(expression.right);
  const listed = name === null ? null : inAccountList(lists, { name, field: 'asn' });
  if (typeof listed === 'string') return unknown(expression, listed);
  if (listed !== null) return listed;
  const numbers = numbersOf(expression.right);
  if (numbers === null || !numbers.every(isAsn))
    return unknown(expression, 'names what is no number of a network');
  return asnCondition(numbers);
}

function methodCondition(expression: Comparison): ImportedCondition {
  const values = textsOf(expression);
  if (values.some((value) => !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(value)))
    return unknown(expression, 'names what is no method');
  return { kind: 'fact', fact: { member: 'methods', values, negated: false } };
}

function schemeCondition(expression: Comparison): ImportedCondition {
  const values = textsOf(expression);
  if (values.some((value) => value !== 'http' && value !== 'https'))
    return unknown(expression, 'names what is no scheme of a request');
  return { kind: 'fact', fact: { member: 'schemes', values, negated: false } };
}

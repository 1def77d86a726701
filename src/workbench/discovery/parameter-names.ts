/** Names of discovered path parameters, after the word before them: `{orderId}` after `orders`. */
import { MAX_PARAMETER_NAME } from './limits.ts';

/** What the values of a parameter have been. */
export type ParameterType = 'integer' | 'uuid' | 'date' | 'string';

/** The name of a parameter. `before`: the segments before it, names of parameters in braces. `used`: names in the same template. */
export function parameterName(
  before: readonly string[],
  { type, used }: { readonly type: ParameterType; readonly used: readonly string[] },
): string {
  const word = before.findLast((segment) => !segment.startsWith('{'));
  const stem = word === undefined ? '' : camelCase(singular(word));
  const name = type === 'date' ? 'date' : stem === '' ? 'id' : `${stem}Id`;
  if (!used.includes(name)) return name;
  for (let number = 2; ; number++) if (!used.includes(`${name}${number}`)) return `${name}${number}`;
}

/** The singular of an English noun, as far as its ending shows it. */
function singular(word: string): string {
  const lower = word.toLowerCase();
  if (lower.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (['sses', 'xes', 'ches', 'shes', 'uses'].some((end) => lower.endsWith(end))) return word.slice(0, -2);
  const isPlural = lower.endsWith('s') && !lower.endsWith('ss') && !lower.endsWith('us') && word.length > 2;
  return isPlural ? word.slice(0, -1) : word;
}

/** ASCII letters and digits in camel case; empty: the text has no letter to begin with. */
function camelCase(text: string): string {
  const words = text.split(/[^0-9A-Za-z]+/).filter((word) => word !== '');
  const joined = words.map((word, index) => (index === 0 ? firstLower(word) : firstUpper(word))).join('');
  return /^[A-Za-z]/.test(joined) ? joined.slice(0, MAX_PARAMETER_NAME - 2) : '';
}

function firstLower(word: string): string {
  return word === word.toUpperCase() ? word.toLowerCase() : `${word[0]!.toLowerCase()}${word.slice(1)}`;
}

function firstUpper(word: string): string {
  return `${word[0]!.toUpperCase()}${word.slice(1)}`;
}

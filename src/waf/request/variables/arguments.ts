/** The arguments of a query. */
import { parseUrlEncoded } from '../bodies/urlencoded.ts';
import type { NamedValue } from './headers.ts';

export function queryArguments(query: string): readonly NamedValue[] {
  return parseUrlEncoded({ text: query }).args;
}

/** The arguments of a query. */
import { parseUrlEncoded } from '../bodies/urlencoded.ts';
import type { Named } from './headers.ts';

export function queryArguments(query: string): readonly Named[] {
  return parseUrlEncoded({ text: query }).args;
}

/** The variable ARGS_GET: the arguments of a query string. */
import { parseUrlEncoded } from '../bodies/urlencoded.ts';
import type { NamedValue } from '../named-value.ts';

/** Parses a query, without its `?`, as a form (URL Standard, `application/x-www-form-urlencoded`). */
export function queryArguments(query: string): readonly NamedValue[] {
  return parseUrlEncoded({ text: query }).args;
}

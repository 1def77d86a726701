/**
 * Reads the strings of a GraphQL document (GraphQL specification, October 2021, §2): `{ user(id: "1") }` has the arguments
 * `graphql`, the whole text, and `graphql.id` = `1`. Its grammar is not checked.
 */
import { isAlphanumeric, isSpace } from '../../octets/latin1.ts';
import { trim } from '../../transformations/texts.ts';
import { readJsonString } from './json.ts';
import {
  addTo,
  type BodyInput,
  type BodyMembers,
  EMPTY_BODY,
  type ParsedBody,
  report,
} from './parsed-body.ts';

const BLOCK = '"""';

/** Parses a body. */
export function parseGraphql({ text, truncated }: BodyInput): ParsedBody {
  const gathered: BodyMembers = { parser: 'graphql', args: [], error: null };
  addTo(gathered, gathered.args, { name: 'graphql', value: text });
  let name = '';
  for (let at = 0; at < text.length; ) {
    const character = text.charAt(at);
    if (character === '#') at = lineEnd(text, at);
    else if (character === '"') {
      const { value, end, closed } = stringAt(text, at);
      if (!closed && !truncated) report(gathered, 'it ends inside a string');
      if (!addTo(gathered, gathered.args, { name: name === '' ? 'graphql' : `graphql.${name}`, value }))
        break;
      at = end;
    } else if (isNameOctet(text.charCodeAt(at))) {
      const start = at;
      while (isNameOctet(text.charCodeAt(at))) at++;
      // The name of an argument or field stays until the next one: values of a list have the name of the list.
      if (followsColon(text, at)) name = text.slice(start, at);
    } else at++;
  }
  return { ...EMPTY_BODY, args: gathered.args, error: gathered.error };
}

function isNameOctet(code: number): boolean {
  return code === 95 || isAlphanumeric(code);
}

function followsColon(text: string, from: number): boolean {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return text[at] === ':';
}

function lineEnd(text: string, from: number): number {
  const feed = text.indexOf('\n', from);
  return feed < 0 ? text.length : feed + 1;
}

/** Reads the string or block string (§2.9.4) whose first quote is at `start`. */
function stringAt(
  text: string,
  start: number,
): { readonly value: string; readonly end: number; readonly closed: boolean } {
  if (!text.startsWith(BLOCK, start)) return readJsonString(text, start, false);
  const from = start + BLOCK.length;
  let end = text.indexOf(BLOCK, from);
  while (end > 0 && text[end - 1] === '\\') end = text.indexOf(BLOCK, end + 1);
  if (end < 0) return { value: text.slice(from), end: text.length, closed: false };
  return { value: trim(text.slice(from, end)), end: end + BLOCK.length, closed: true };
}

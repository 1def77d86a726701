/**
 * Removes secrets from targets and URLs that are logged: user and password, and in a query the values of parameters whose names
 * suggest a secret (`base/http/secret-names.ts`, which has the headers that are logged too).
 */
import { isSecretName } from '../../../base/http/secret-names.ts';
import { decodeQueryPart } from '../../../engine/evaluator/values.ts';

/** Replaces a secret value. A plain word, so that a redacted target is still a valid target. */
export const REDACTED = 'REDACTED';

/** The base64url of `{"`. */
const TOKEN_START = 'eyJ';

/** Whether a text is a JSON Web Token (RFC 7519), whatever its name. */
function isToken(text: string): boolean {
  return text.startsWith(TOKEN_START) && text.length > 16;
}

/** Characters that end a parameter for some parser; a fragment of parameters may follow a query. */
const SEPARATORS = '&;?#';

const NONE: ReadonlySet<string> = new Set();

/** Whether a parameter's name, as written in a query, is one of these. */
function isAmong(secrets: ReadonlySet<string>, name: string): boolean {
  return secrets.size > 0 && secrets.has(decodeQueryPart(name));
}

/**
 * A query or fragment with its secret values replaced; the same text if it has none.
 * @param secrets names of parameters with credentials, beside those that suggest a secret
 */
export function redactQuery(query: string, secrets: ReadonlySet<string> = NONE): string {
  if (!query.includes('=') && !query.includes(TOKEN_START)) return query;
  let redacted = '';
  for (let at = 0; at <= query.length; ) {
    let end = at;
    let equals = -1;
    // PERF: one scan for both ends; a search for `=` would read the rest of the query for each parameter without one.
    for (; end < query.length && !SEPARATORS.includes(query[end]!); end++) {
      if (equals < 0 && query[end] === '=') equals = end;
    }
    const split = equals < 0 ? end : equals;
    const name = query.slice(at, split);
    const isCredential = split < end && isAmong(secrets, name);
    // Gateways read a value up to the next parameter (`credentials/sources.ts`): a key may have the other separators.
    if (isCredential) while (end < query.length && query[end] !== '&' && query[end] !== '#') end++;
    const value = query.slice(split + 1, end);
    // Some links have a token as their whole query.
    const isNamed = !isToken(name);
    const secret = value !== '' && (isToken(value) || !isNamed || isSecretName(name) || isCredential);
    redacted += isNamed ? name : REDACTED;
    if (split < end) redacted += `=${secret ? REDACTED : value}`;
    if (end < query.length) redacted += query[end];
    at = end + 1;
  }
  return redacted;
}

/** A target or URL without its secrets: user and password before the host, values in the query and the fragment. */
export function redactTarget(target: string, secrets: ReadonlySet<string> = NONE): string {
  const mark = firstOf(target, '?#');
  if (mark < 0) return withoutUser(target);
  return withoutUser(target.slice(0, mark + 1)) + redactQuery(target.slice(mark + 1), secrets);
}

function firstOf(text: string, marks: string): number {
  for (let at = 0; at < text.length; at++) if (marks.includes(text[at]!)) return at;
  return -1;
}

function withoutUser(url: string): string {
  const authority = url.indexOf('//');
  if (authority < 0) return url;
  const slash = url.indexOf('/', authority + 2);
  const end = slash < 0 ? url.length : slash;
  const sign = url.lastIndexOf('@', end - 1);
  return sign < authority + 2 ? url : `${url.slice(0, authority + 2)}${url.slice(sign + 1)}`;
}

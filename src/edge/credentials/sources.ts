/**
 * Where the credentials of a request are. In: the request, and the sources that its gateway takes credentials from. Out: the API
 * key and the token as texts, or why they are refused unread: one source has several values, or two sources differ.
 */

import type { CredentialSource, IdentityFailure } from '../../base/vocabulary/vocabulary.ts';
import type { CredentialsWanted } from '../../engine/evaluator/gateways.ts';
import type { EdgeRequest } from '../../engine/evaluator/request.ts';
import { decodeQueryPart } from '../../engine/evaluator/values.ts';
import type { RegisteredIssuer } from '../../engine/plan/registry.ts';

/** The credentials of a request, not verified yet. */
export interface FoundCredentials {
  /** The API key; `null`: the request has none. */
  readonly key: string | null;
  readonly token: FoundToken | null;
  /** Why they are refused unread; `null`: they are to be verified. */
  readonly failure: IdentityFailure | null;
}

/** A token, not verified yet. */
export interface FoundToken {
  readonly text: string;
  /** The issuers that take tokens from where it was. */
  readonly issuers: readonly RegisteredIssuer[];
}

const NONE: FoundCredentials = Object.freeze({ key: null, token: null, failure: null });

/** The API key and the token of a request. */
export function findCredentials(request: EdgeRequest, wanted: CredentialsWanted): FoundCredentials {
  const token = findToken(request, wanted);
  if (typeof token === 'string') return { ...NONE, failure: token };
  const key = findKey(request, wanted);
  if (key === null) return token === null ? NONE : { ...NONE, token };
  return key.failure === null ? { ...NONE, key: key.text, token } : { ...NONE, failure: key.failure };
}

/** The text of a source, or why it is refused. */
type SourceText =
  | { readonly text: string; readonly failure: null }
  | { readonly failure: 'doubled' | 'conflict' };

const DOUBLED: SourceText = Object.freeze({ failure: 'doubled' });
const CONFLICT: SourceText = Object.freeze({ failure: 'conflict' });

function findKey(request: EdgeRequest, { apiKeySources, issuers }: CredentialsWanted): SourceText | null {
  let found: SourceText | null = null;
  for (const source of apiKeySources) {
    const read = readSource(request, source, keyIn);
    if (read === null) continue;
    if (read.failure !== null) return read;
    if (isToken(read.text) && issuers.some(({ sources }) => isAmong(sources, source))) continue;
    if (found !== null && found.failure === null && found.text !== read.text) return CONFLICT;
    found = read;
  }
  return found;
}

/** The token; a failure: there are several, even if each is valid, since their claims may differ. */
function findToken(
  request: EdgeRequest,
  { apiKeySources, issuers }: CredentialsWanted,
): FoundToken | IdentityFailure | null {
  let text: string | null = null;
  const takers: RegisteredIssuer[] = [];
  for (const issuer of issuers) {
    for (const source of issuer.sources) {
      const read = readSource(request, source, tokenIn);
      if (read === null) continue;
      if (read.failure !== null) return read.failure;
      if (!isToken(read.text) && isAmong(apiKeySources, source)) continue;
      if (text !== null && text !== read.text) return 'conflict';
      text = read.text;
      if (takers.at(-1) !== issuer) takers.push(issuer);
    }
  }
  return text === null ? null : { text, issuers: takers };
}

/** Whether a text has the form of a compact JWS; where keys and tokens have one source, that divides them. */
function isToken(text: string): boolean {
  const first = text.indexOf('.');
  const second = text.indexOf('.', first + 1);
  return first > 0 && second > 0 && text.indexOf('.', second + 1) < 0;
}

function isAmong(sources: readonly CredentialSource[], { in: place, name }: CredentialSource): boolean {
  return sources.some(
    (one) =>
      one.in === place &&
      (place === 'header' ? one.name.toLowerCase() === name.toLowerCase() : one.name === name),
  );
}

/** The credential in the value of a header of this lower-case name; `null`: the value has another scheme. */
type ReadValue = (name: string, value: string) => string | null;

/** The text in a source; `null`: it has none. An empty value counts as none, unless it is one of several. */
function readSource(request: EdgeRequest, source: CredentialSource, readValue: ReadValue): SourceText | null {
  const values = valuesOf(request, source);
  if (values.length > 1) return DOUBLED;
  const [value = ''] = values;
  if (value === '') return null;
  const text = source.in === 'header' ? readValue(source.name.toLowerCase(), value) : value;
  return text === null || text === '' ? null : { text, failure: null };
}

/** `ApiKey <key>`, `Bearer <key>` or the key alone in `Authorization`; other headers have the key alone. */
function keyIn(name: string, value: string): string | null {
  if (name !== 'authorization') return value;
  return afterScheme(value, 'apikey') ?? afterScheme(value, 'bearer') ?? (value.includes(' ') ? null : value);
}

/** `Bearer <token>` (RFC 6750 §2.1); other headers than `Authorization` may have the token alone. */
function tokenIn(name: string, value: string): string | null {
  return afterScheme(value, 'bearer') ?? (name === 'authorization' ? null : value);
}

/** What follows an authentication scheme (RFC 9110 §11.1); `null`: the value is of another scheme. */
function afterScheme(value: string, scheme: string): string | null {
  if (value.slice(0, scheme.length).toLowerCase() !== scheme) return null;
  if (value.length === scheme.length) return '';
  return value[scheme.length] === ' ' ? value.slice(scheme.length + 1).trim() : null;
}

// The values of a source, read as conditions read them.

const NO_VALUES: readonly string[] = Object.freeze([]);

function valuesOf(request: EdgeRequest, { in: place, name }: CredentialSource): readonly string[] {
  if (place === 'header') return linesOf(request, name.toLowerCase());
  if (place === 'query') return parametersOf(request.target, name);
  return linesOf(request, 'cookie').flatMap((line) => cookiesOf(line, name));
}

/** The lines of a header. */
function linesOf({ headers }: EdgeRequest, name: string): readonly string[] {
  const value = headers === undefined || !Object.hasOwn(headers, name) ? undefined : headers[name];
  if (value === undefined) return NO_VALUES;
  return typeof value === 'string' ? [value.trim()] : value.map((line) => line.trim());
}

function parametersOf(target: string, name: string): readonly string[] {
  const mark = target.indexOf('?');
  if (mark < 0) return NO_VALUES;
  const values: string[] = [];
  const hash = target.indexOf('#', mark);
  for (const part of target.slice(mark + 1, hash < 0 ? target.length : hash).split('&')) {
    const equals = part.indexOf('=');
    const sent = equals < 0 ? part : part.slice(0, equals);
    if (decodeQueryPart(sent) === name)
      values.push(equals < 0 ? '' : decodeQueryPart(part.slice(equals + 1)));
  }
  return values;
}

function cookiesOf(line: string, name: string): readonly string[] {
  const values: string[] = [];
  for (const part of line.split(';')) {
    const equals = part.indexOf('=');
    if (equals >= 0 && part.slice(0, equals).trim() === name) values.push(part.slice(equals + 1).trim());
  }
  return values;
}

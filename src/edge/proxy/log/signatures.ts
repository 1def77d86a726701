/**
 * The signatures of a log line. In: the matches of a verdict, which the engine has redacted by its own names of secrets, and
 * the request. Out: the matches with the highest scores, with what the log's own rules allow of what they matched.
 */
import { isSecretName, LOGGED_HEADERS } from '../../../base/http/secret-names.ts';
import type { Decision, EdgeRequest } from '../../../engine/evaluator/index.ts';
import { MAX_HOST, MAX_SIGNATURE_NAME, MAX_SIGNATURE_PART } from '../limits.ts';
import { redactTarget } from './redact.ts';

/** What signatures found. */
export type Verdict = NonNullable<Decision['waf']>;

/** A signature that matched. */
export interface LoggedSignature {
  readonly id: number;
  /** The message of the signature. */
  readonly name: string;
  /** `sqli`, `xss`, …; empty: none. */
  readonly category: string;
  /** What it added to the score. */
  readonly score: number;
  /** The variable, `ARGS:id`; empty: the signature inspects none. */
  readonly target: string;
  /** An excerpt around the match; a value that may be a secret is only described: `(35 octets, not shown)`. */
  readonly part: string;
}

/** What of the signatures is logged. */
export interface ShownParts {
  readonly request: EdgeRequest;
  /** Query parameters and cookies whose values are secrets, beside those whose names suggest it. */
  readonly secrets: ReadonlySet<string>;
  /** Signatures of one verdict. */
  readonly most: number;
}

/** The signatures with the highest scores; of equal scores the lower id first. */
export function logSignatures(
  matches: Verdict['matches'],
  { most, ...shown }: ShownParts,
): readonly LoggedSignature[] {
  const chosen =
    matches.length <= most
      ? matches
      : [...matches].sort((left, right) => right.score - left.score || left.id - right.id).slice(0, most);
  return chosen.map((match) => logSignature(match, shown));
}

function logSignature(
  { id, message, category, score, variable, value }: Verdict['matches'][number],
  shown: Omit<ShownParts, 'most'>,
): LoggedSignature {
  const isShown = HIDDEN.test(value) || mayShow(variable, value, shown);
  return {
    id,
    name: (isShown ? message : withoutValue(message, value)).slice(0, MAX_SIGNATURE_NAME),
    category,
    score,
    target: variable.slice(0, MAX_HOST),
    part: isShown ? value.slice(0, MAX_SIGNATURE_PART) : NOT_SHOWN,
  };
}

/** What the engine reports of a value that may be a secret. */
const HIDDEN = /^\(\d{1,9} octets, not shown\)$/;
/** In place of a part that the engine shows and the log does not. */
const NOT_SHOWN = '(not shown)';
/** How a JSON Web Token begins (RFC 7519). */
const TOKEN_START = 'eyJ';

/** Variables that contain the whole target, and so all arguments of the query. */
const WHOLE_TARGETS: ReadonlySet<string> = new Set([
  'QUERY_STRING',
  'REQUEST_LINE',
  'REQUEST_URI',
  'REQUEST_URI_RAW',
]);
/** Variables that contain a whole body: the name that a part belongs to is not in the excerpt. */
const WHOLE_BODIES: ReadonlySet<string> = new Set(['REQUEST_BODY', 'XML']);

/** Whether a part may be logged: by the rules for the same text elsewhere in the line. */
function mayShow(variable: string, value: string, shown: Omit<ShownParts, 'most'>): boolean {
  const { request, secrets } = shown;
  if (value.includes(TOKEN_START)) return false;
  const colon = variable.indexOf(':');
  const collection = colon < 0 ? variable : variable.slice(0, colon);
  if (WHOLE_BODIES.has(collection)) return false;
  if (WHOLE_TARGETS.has(collection)) return redactTarget(request.target, secrets) === request.target;
  if (colon < 0) return true;
  const name = variable.slice(colon + 1);
  if (collection === 'REQUEST_HEADERS') return mayShowHeader(name.toLowerCase(), shown);
  // A nested name may be of a secret as a whole, or by one of its steps: `user.code`, `user[pin]`.
  return (
    !secrets.has(name) && !isSecretName(name) && !name.split(/[.[\]:]/).some((step) => isSecretName(step))
  );
}

function mayShowHeader(
  name: string,
  { request: { headers = {} }, secrets }: Omit<ShownParts, 'most'>,
): boolean {
  if (!LOGGED_HEADERS.has(name)) return false;
  if (name !== 'referer') return true;
  return [headers[name] ?? []].flat().every((url) => redactTarget(url, secrets) === url);
}

/** Characters of a value by which it is found in a message, which may have it cut short. */
const FOUND_BY = 4;

/** A message up to where it has the value: a signature may write it there. */
function withoutValue(message: string, value: string): string {
  const at = value === '' ? -1 : message.indexOf(value.slice(0, FOUND_BY));
  return at < 0 ? message : message.slice(0, at);
}

/**
 * The text of a reported match: the variable, and an excerpt of the value around the match, without anything that may be a
 * secret. Variables are logged, so their names have no content of a body.
 */
import type { WafText, WafVariable } from '../../plan/signature-program.ts';
import { DETECTORS, isDetector } from '../detectors/detectors.ts';
import { literalOf } from '../patterns/literal-index.ts';
import { patternEnd } from '../patterns/pattern.ts';
import type { RequestMember } from './members.ts';
import type { CompiledRuleSet } from './rule-set.ts';
import type { RuleMatch } from './rules.ts';
import { expand, type Transaction } from './transaction.ts';
import { headerOf, processorOf } from './variables.ts';

/** Maximum length, in characters, of the excerpt around a match in a report. */
const MAX_REPORTED_PIECE = 64;
/** Maximum length, in characters, of a signature's message in a report, which is one line. */
const MAX_REPORTED_MESSAGE = 200;

/** Headers whose values are never shown. */
const SECRET_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'set-cookie',
]);

/** Words in names of secrets, in lower case and without `-` and `_`. */
const SECRET_WORDS = [
  'accesskey',
  'apikey',
  'auth',
  'credential',
  'cvv',
  'passphrase',
  'passwd',
  'password',
  'privatekey',
  'pwd',
  'secret',
  'session',
  'signature',
  'token',
];

/** The most octets of a value that are searched for the name of a secret; longer values are not shown. */
const MAX_SEARCHED = 4_096;

function namesSecret(text: string): boolean {
  const bare = text.slice(0, MAX_SEARCHED).toLowerCase().replaceAll('-', '').replaceAll('_', '');
  return SECRET_WORDS.some((word) => bare.includes(word));
}

/** Whether a matched value may be a secret: by its name, or because it contains whole arguments that may be secret. */
function isSecret({ member, text }: RuleMatch): boolean {
  const name = member.name.toLowerCase();
  switch (member.variable) {
    case 'REQUEST_HEADERS':
      return SECRET_HEADERS.has(name) || namesSecret(name);
    case 'REQUEST_COOKIES':
      return true;
    case 'QUERY_STRING':
    case 'REQUEST_BODY':
    case 'REQUEST_LINE':
    case 'REQUEST_URI':
    case 'REQUEST_URI_RAW':
    case 'XML':
      return text.length > MAX_SEARCHED || namesSecret(text);
    case 'MATCHED_VAR':
    case 'MATCHED_VARS':
      return true;
    default:
      return name.length > MAX_SEARCHED || namesSecret(name);
  }
}

/** What the names of arguments, cookies and form fields look like; another text may be anything, a whole body too. */
const ORDINARY_NAME = /^[A-Za-z0-9_.\-[\]$:]{1,64}$/;
/** How a JSON Web Token begins, the base64url of `{"` (RFC 7519), in any case: TX has its names in lower case. */
const TOKEN_START = 'eyj';
/** The names of XML members are XPath expressions, not part of a document. */
const FIXED_NAMES: ReadonlySet<string> = new Set(['/*', '//@*']);

/** The variable of a match as reports show it: `ARGS:id`, or `ARGS_NAMES:(35 octets)` for what may be no name. */
export function reportedVariable({ member }: RuleMatch, transaction: Transaction): string {
  const { variable, name, display } = member;
  // A count has the name that the signature states.
  if (name === '' || display.startsWith('&')) return display;
  return isShown(member, transaction) ? display : `${variable}:(${name.length} octets)`;
}

function isShown({ variable, name }: RequestMember, transaction: Transaction): boolean {
  switch (variable) {
    case 'XML':
      return FIXED_NAMES.has(name);
    case 'MULTIPART_FILENAME':
    case 'MATCHED_VARS':
    case 'MATCHED_VARS_NAMES':
      // Their members are named by values.
      return false;
    default:
      return (
        ORDINARY_NAME.test(name) &&
        !name.toLowerCase().startsWith(TOKEN_START) &&
        !isBodyText(variable, name, transaction)
      );
  }
}

/**
 * Whether a name is text of a body: any part of a body of another type that a signature had read as a form, and what has
 * no value in a form, such as a token or base64 with its padding.
 */
function isBodyText(variable: WafVariable, name: string, { body, headers }: Transaction): boolean {
  if (body === null || body.processor !== 'URLENCODED') return false;
  const isForm = processorOf(headerOf(headers, 'content-type')) === 'URLENCODED';
  // Rules may make TX variables of the names of arguments.
  const isTx = variable === 'TX';
  if (!isTx && !variable.startsWith('ARGS')) return false;
  return body.parsed.args.some((arg) => {
    if (arg.name === '' || (isForm && arg.value !== '' && !arg.value.startsWith('='))) return false;
    return isTx ? name.includes(arg.name.toLowerCase()) : name === arg.name;
  });
}

/** Returns the excerpt around the match, or only the length of a value that may be a secret. */
export function reportedValue(found: RuleMatch, level: CompiledRuleSet, transaction: Transaction): string {
  if (isSecret(found)) return `(${found.text.length} octets, not shown)`;
  const end = endOf(found, level, transaction);
  return excerpt(found.text, end);
}

/** The approximate end of the match in octets; 0 for operators without a place. */
function endOf({ link, text }: RuleMatch, level: CompiledRuleSet, transaction: Transaction): number {
  const { operator, negated } = link.condition;
  if (negated) return 0;
  if (operator.kind === 'rx') return patternEnd(level.matchers[operator.pattern]!, text, transaction.meter);
  if (operator.kind !== 'pm') return 0;
  const phrase = literalOf(level.index, level.setOfPhrases(operator.phrases), text);
  return phrase === null ? 0 : text.indexOf(phrase) + phrase.length;
}

/** At most `MAX_REPORTED_PIECE` characters around a place, with `…` if text was cut off. */
function excerpt(text: string, end: number): string {
  if (text.length <= MAX_REPORTED_PIECE) return printable(text);
  const room = MAX_REPORTED_PIECE - 2;
  const from = Math.max(0, Math.min(end - (room >> 1), text.length - room));
  const to = Math.min(text.length, from + room);
  return `${from > 0 ? '…' : ''}${printable(text.slice(from, to))}${to < text.length ? '…' : ''}`;
}

/** Replaces control characters and octets above 127 by `\xXX`. */
function printable(text: string): string {
  let out = '';
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    out += code >= 32 && code < 127 ? text[at] : `\\x${code.toString(16).padStart(2, '0')}`;
  }
  return out;
}

/** Returns the construct that the detector of a match found, which has no text of the value; `null`: it has no detector. */
export function reportedConstruct({ link, text }: RuleMatch): string | null {
  const { operator, negated } = link.condition;
  return negated || !isDetector(operator.kind) ? null : DETECTORS[operator.kind].find(text);
}

/** What a report shows of a match. */
export interface ReportedMatch {
  readonly variable: string;
  readonly value: string;
}

/** Expands a signature's message. Macros over the request become what is reported of it, so that it shows no more. */
export function reportedMessage(
  message: WafText,
  { variable, value }: ReportedMatch,
  transaction: Transaction,
): string {
  let out = '';
  for (const part of message) {
    if (part.kind === 'literal') out += part.text;
    else if (part.variable === 'TX' && !isCapture(part.name)) out += expand([part], transaction);
    else if (part.variable === 'MATCHED_VAR_NAME') out += variable;
    else out += value;
  }
  return printable(out.slice(0, MAX_REPORTED_MESSAGE));
}

function isCapture(name: string | null): boolean {
  return name !== null && name.length === 1 && name >= '0' && name <= '9';
}

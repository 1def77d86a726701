/**
 * Detects LDAP injection: `detectLdap` for `@detectLdap`. A search filter (RFC 4515) nests components in brackets:
 * `(&(uid=…)(userPassword=…))`. Reports values that close the component that they are in and begin another one, that
 * extend the filter by `|`, `&` or `!`, or that cut it off with a null octet. Brackets that close what the value itself
 * opens (`f(x) and (y)`) are not reported.
 */
import { KIND } from '../../../base/octets/octet-kinds.ts';
import { isAlphanumeric, isSpace } from '../octets/latin1.ts';

/** The kinds of octets (`base/octets/octet-kinds.ts`) of which every detected value has one. */
export const LDAP_KINDS = KIND.round;
/** The length in octets of the shortest value that is detected: `*)` and a null octet. */
export const SHORTEST_LDAP = 3;

/** The octets of a value that are read: a value in a filter is short. */
const LONGEST_VALUE = 512;
/** The longest name of an attribute that is compared. */
const LONGEST_ATTRIBUTE = 32;

/** Attributes of RFC 4519, of inetOrgPerson and of Active Directory. */
const ATTRIBUTES: ReadonlySet<string> = new Set(
  `uid cn sn ou dc mail member memberof uniquemember objectclass objectcategory user username userid userpassword
   password userprincipalname samaccountname givenname displayname department telephonenumber
   title description pager manager useraccountcontrol accountstatus employeenumber employeetype homedirectory
   loginshell uidnumber gidnumber pwdlastset admincount sshpublickey entrydn distinguishedname`.split(/\s+/),
);

/** Returns the construct found in `value` (Latin-1), or `null`. Takes linear time; never throws. */
export function detectLdap(value: string): string | null {
  const text = value.length > LONGEST_VALUE ? value.slice(0, LONGEST_VALUE) : value;
  if (isFilter(text, skipSpace(text, 0)) && !isExplained(text)) return 'filter that matches any entry';
  if (isProbe(value)) return 'special characters of a filter as a probe';
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x28) {
      if (
        text.charCodeAt(at - 1) === 0x2a &&
        isOperator(text.charCodeAt(at + 1)) &&
        text.charCodeAt(at + 2) === 0x28
      )
        return 'filter that is broken open';
      depth++;
    }
    if (code !== 0x29) continue;
    depth--;
    if (depth >= 0) continue;
    // The component that the value is in ends here. Brackets behind it are read once.
    const next = componentEnd(text, at);
    const found = behindComponent(text, at, next);
    if (found !== null) return found;
    at = next - 1;
    depth = 0;
  }
  return null;
}

/** Whether the last bracket closes a filter, and two words of letters follow: a text about it. */
function isExplained(value: string): boolean {
  let depth = 0;
  for (let at = 0; at < value.length; at++) {
    if (value[at] === '(') depth++;
    else if (value[at] === ')') depth--;
  }
  const words = value
    .slice(value.lastIndexOf(')') + 1)
    .split(' ')
    .filter((word) => word.length > 1);
  return depth === 0 && words.length > 1 && words.every((word) => isWord(word));
}

function isWord(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (!isLetter(text.charCodeAt(at))) return false;
  return true;
}

/** A letter, or an octet of one beyond ASCII. */
function isLetter(code: number): boolean {
  return ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a) || code >= 0x80;
}

/** The longest value of special characters only that is judged. */
const LONGEST_PROBE = 16;

/**
 * Whether a value is nothing but characters that RFC 4515 escapes, operators and quotes, with a star, both brackets and one
 * of the others: `*()|&'`.
 */
function isProbe(value: string): boolean {
  if (value.length > LONGEST_PROBE) return false;
  let seen = 0;
  for (let at = 0; at < value.length; at++) {
    const place = PROBED.indexOf(value.charAt(at));
    if (place < 0) return false;
    seen |= 1 << Math.min(place, 3);
  }
  return (seen & 0b1111) === 0b1111;
}

/** The characters of a probe; those from the fourth on are operators and quotes. */
const PROBED = `*()|&!='"\\\0`;

/** The place behind the closing brackets at `at`. */
function componentEnd(value: string, at: number): number {
  let next = at + 1;
  while (value.charCodeAt(next) === 0x29 || isSpace(value.charCodeAt(next))) next++;
  return next;
}

/** Judges what is at `next`, behind the bracket at `at`, which closes a component that the value did not open. */
function behindComponent(value: string, at: number, next: number): string | null {
  const code = value.charCodeAt(next);
  const star = value.charCodeAt(at - 1) === 0x2a;
  if (code === 0 && next < value.length && (star || next > at + 1)) return 'null octet behind a filter';
  if (code === 0x28) return isComponent(value, next, star) ? 'filter that is broken open' : null;
  if (!isOperator(code) || value.charCodeAt(skipSpace(value, next + 1)) !== 0x28) return null;
  return isComponent(value, skipSpace(value, next + 1), star) ? 'filter that is broken open' : null;
}

/** Whether a component begins at the bracket at `at`: an attribute with a comparison, or an operator and a bracket. */
function isComponent(value: string, at: number, star: boolean): boolean {
  let next = skipSpace(value, at + 1);
  let operator = false;
  while (
    next - at < LONGEST_ATTRIBUTE &&
    (isOperator(value.charCodeAt(next)) || value.charCodeAt(next) === 0x28)
  ) {
    operator ||= value.charCodeAt(next) !== 0x28;
    next++;
  }
  if (operator || (star && next > at + 1)) return true;
  const end = attributeEnd(value, next);
  if (!isComparison(value, end)) return false;
  return star || value.charCodeAt(end + 1) === 0x2a || ATTRIBUTES.has(value.slice(next, end).toLowerCase());
}

/** `|`, `&` or `!`. */
function isOperator(code: number): boolean {
  return code === 0x7c || code === 0x26 || code === 0x21;
}

function skipSpace(value: string, at: number): number {
  let next = at;
  while (isSpace(value.charCodeAt(next))) next++;
  return next;
}

function attributeEnd(value: string, at: number): number {
  let end = at;
  while (end - at < LONGEST_ATTRIBUTE && (isAlphanumeric(value.charCodeAt(end)) || value.charAt(end) === '-'))
    end++;
  return end;
}

/** Whether `=`, `>=`, `<=` or `~=` is at `at`, also behind options (`;binary`) or a rule (`:dn:2.5.13.18:`). */
function isComparison(value: string, from: number): boolean {
  const at = optionsEnd(value, from);
  const code = value.charCodeAt(at);
  if (code === 0x3d) return true;
  return (code === 0x3e || code === 0x3c || code === 0x7e) && value.charCodeAt(at + 1) === 0x3d;
}

/** The place behind the options of an attribute and a matching rule at `at`: `;lang-en`, `:dn:2.5.13.5:`. */
function optionsEnd(value: string, at: number): number {
  const first = value.charCodeAt(at);
  if (first !== 0x3b && first !== 0x3a) return at;
  let end = at;
  while (end - at < LONGEST_ATTRIBUTE && isOption(value.charCodeAt(end))) end++;
  return end;
}

/** A letter, a digit, `;`, `:`, `.` or `-`. */
function isOption(code: number): boolean {
  return isAlphanumeric(code) || code === 0x3b || code === 0x3a || code === 0x2e || code === 0x2d;
}

/** Whether a whole filter that matches any entry is at `at`: `(|(objectClass=*)`, `|(uid=*`. */
function isFilter(value: string, at: number): boolean {
  let next = at;
  if (value.charCodeAt(next) === 0x28) next++;
  const operator = value.charCodeAt(next);
  if (operator !== 0x7c && operator !== 0x26) return false;
  if (value.charCodeAt(next + 1) !== 0x28) return false;
  const end = attributeEnd(value, next + 2);
  const attribute = value.slice(next + 2, end).toLowerCase();
  return ATTRIBUTES.has(attribute) && value.startsWith('=*', end);
}

/**
 * Detects cross-site scripting: `detectXss` for SecLang's `@detectXSS`. The value is tokenized as HTML in five contexts: as
 * text of a page, and inside an attribute's value, unquoted and in each kind of quote. Dangerous tags, event and style
 * attributes, script URLs, doctypes and comments of Internet Explorer decide. Method: N. Galbreath, "libinjection" (XSS,
 * 2013), over the tokenization of the WHATWG HTML standard; the code and the lists are our own.
 */
import type { Html } from './xss/html.ts';
import {
  ATTRIBUTE,
  beginHtml,
  COMMENT,
  DOCTYPE,
  IN_BACK,
  IN_DATA,
  IN_DOUBLE,
  IN_SINGLE,
  IN_UNQUOTED,
  indexWithin,
  newHtml,
  nextPiece,
  TAG,
  VALUE,
} from './xss/html.ts';
import type { Danger } from './xss/names.ts';
import { dangerOf, hasQuote, isDangerousTag, isKnownEvent } from './xss/names.ts';
import { isScriptUrl } from './xss/urls.ts';

const BACKQUOTE = 0x60;
const LESS = 0x3c;
const COLON = 0x3a;

// PERF: one tokenizer for all calls. Calls are synchronous, and each resets all of its fields.
const html: Html = newHtml();

/** The length in octets of the shortest value that is detected: a comment that hides a tag. */
export const SHORTEST_XSS = 4;

/** Whether a page that contains `value` (Latin-1) unescaped runs script from it. Takes linear time; never throws. */
export function detectXss(value: string): boolean {
  const hasTag = value.includes('<');
  const hasValue = value.includes('=');
  if (!hasTag && !hasValue) return false;
  if (hasTag && isScript(value, IN_DATA)) return true;
  if (!hasValue) return false;
  if (beginsWithEvent(value) || isScript(value, IN_UNQUOTED)) return true;
  if (value.includes("'") && isScript(value, IN_SINGLE)) return true;
  if (value.includes('"') && isScript(value, IN_DOUBLE)) return true;
  return value.includes('`') && isScript(value, IN_BACK);
}

/** Whether the value begins with an event attribute (`onerror=…`), which is dangerous inside a tag. */
function beginsWithEvent(value: string): boolean {
  const equals = value.indexOf('=');
  return dangerOf(value, 0, equals) === 'event' && isKnownEvent(value, 0, equals);
}

/** Whether the value is dangerous when tokenizing begins in `state` (one of the `IN_` states). */
function isScript(value: string, state: number): boolean {
  beginHtml(html, value, state);
  let inTag = false;
  let danger: Danger = 'none';
  while (nextPiece(html)) {
    const { kind, start, end } = html;
    switch (kind) {
      case TAG:
        if (isDangerousTag(value, start, end)) return true;
        inTag = true;
        break;
      case ATTRIBUTE:
        danger = dangerOfName(inTag);
        break;
      case VALUE:
        if (isDangerousValue(danger, inTag)) return true;
        danger = 'none';
        break;
      case COMMENT:
        if (isDangerousComment(value, start, end)) return true;
        break;
      case DOCTYPE:
        return true;
      default:
    }
  }
  return false;
}

/** The danger of the last attribute. Before any tag, an event attribute must be a known one, since prose has `once =`. */
function dangerOfName(inTag: boolean): Danger {
  const { text, start, end } = html;
  const danger = dangerOf(text, start, end);
  if (danger === 'event') return inTag || isKnownEvent(text, start, end) ? danger : 'none';
  return danger === 'none' && inTag && hasQuote(text, start, end) ? 'always' : danger;
}

/** Whether the last value is dangerous in an attribute of that danger. */
function isDangerousValue(danger: Danger, inTag: boolean): boolean {
  const { text, start, end } = html;
  if (inTag && hidesTag(text, start, end)) return true;
  switch (danger) {
    case 'none':
      return false;
    case 'always':
    case 'event':
      return true;
    case 'style':
      return inTag || hasColon(text, start, end);
    case 'url':
      return isScriptUrl(text, start, end);
    case 'names':
      return dangerOf(text, start, end) !== 'none';
    default:
      return danger satisfies never;
  }
}

/** Whether a `<` follows a back quote in a value: Internet Explorer ends values there, so that a tag may follow. */
function hidesTag(text: string, start: number, end: number): boolean {
  const quote = indexWithin(text, BACKQUOTE, { start, end });
  return quote >= 0 && indexWithin(text, LESS, { start: quote, end }) >= 0;
}

/** Whether a value has a colon: `style = color:red` is CSS, not prose. */
function hasColon(text: string, start: number, end: number): boolean {
  return indexWithin(text, COLON, { start, end }) >= 0;
}

/** Whether a comment is a conditional one of Internet Explorer, its `<?import`, or declares XML or an entity. */
function isDangerousComment(text: string, start: number, end: number): boolean {
  const head = text.slice(start, Math.min(end, start + 6)).toLowerCase();
  if (head.startsWith('[if') || head.startsWith('xml') || head === 'import' || head === 'entity') return true;
  return hidesTag(text, start, end);
}

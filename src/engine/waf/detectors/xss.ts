/**
 * Detects cross-site scripting: `detectXss` for SecLang's `@detectXSS`. The value is tokenized as HTML in five contexts: as
 * text of a page, and inside an attribute's value, unquoted and in each kind of quote. Dangerous tags, event and style
 * attributes, script URLs, doctypes and comments of Internet Explorer decide. Method: N. Galbreath, "libinjection" (XSS,
 * 2013), over the tokenization of the WHATWG HTML standard; the code and the lists are our own.
 */
import { EVENTS } from './xss/events.ts';
import {
  ATTRIBUTE,
  beginHtml,
  COMMENT,
  DOCTYPE,
  type Html,
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

// The tags and attributes of HTML and SVG that run script, load it, or change the behaviour of a page.

/** Tags that are dangerous with any attributes; names without namespace. */
const TAGS: ReadonlySet<string> = new Set(
  `applet base bgsound blink comment embed frame frameset handler ilayer import iframe isindex layer link listener math
   meta noembed noscript object portal script style template vmlframe xml xmp xss`.split(/\s+/),
);

/**
 * How the value of an attribute is dangerous: not at all; always; as script of an event; as CSS; as a URL; as the name of
 * another attribute.
 */
type Danger = 'none' | 'always' | 'event' | 'style' | 'url' | 'names';

/** By danger, the construct that is found. */
const CONSTRUCTS: Readonly<Record<Exclude<Danger, 'none'>, string>> = {
  always: 'attribute that loads or hides script',
  event: 'event attribute',
  style: 'style attribute',
  url: 'URL with script',
  names: 'attribute that sets another',
};

const TAG_CONSTRUCT = 'tag that runs or loads script';
const COMMENT_CONSTRUCT = 'comment or declaration that hides markup';

/** By name of an attribute, its danger. */
const ATTRIBUTES: ReadonlyMap<string, Danger> = new Map([
  ...each(
    'always',
    'datasrc dataformatas datafld formmethod srcdoc fscommand seeksegmenttime filter handler',
  ),
  ...each(
    'url',
    `action archive background by cite classid code codebase data dynsrc folder formaction from href icon
    longdesc lowsrc manifest ping poster profile src srcset to usemap values xml:base`,
  ),
  ...each('style', 'style'),
  ...each('names', 'attributename'),
]);

/** The longest part of a name that is compared, in characters; the longest event has 26. */
const LONGEST_NAME = 48;

/** Entries of a map: each name with the same danger. */
function each(danger: Danger, names: string): readonly (readonly [string, Danger])[] {
  return names.split(/\s+/).map((name) => [name, danger] as const);
}

/** A name in lower case, without NUL characters, which old browsers skipped. */
function nameOf(text: string, start: number, end: number): string {
  const name = text.slice(start, Math.min(end, start + LONGEST_NAME));
  return (name.includes('\0') ? name.replaceAll('\0', '') : name).toLowerCase();
}

/**
 * By first letter, the lengths of listed names, a bit each. PERF: most names are excluded by their length before a string
 * is allocated. A name with a colon or a NUL, or one of a family, is always looked up.
 */
const lengths = new Uint32Array(128);
for (const name of [...TAGS, ...ATTRIBUTES.keys()]) lengths[name.charCodeAt(0)]! |= 1 << name.length;

/** The first two letters of names that are matched by prefix: `on…`, `svg…`, `xmlns…`, `xlink…`, `xsl…`. */
const FAMILIES: ReadonlySet<number> = new Set(
  ['on', 'sv', 'xm', 'xl', 'xs'].map((two) => pair(two.charCodeAt(0), two.charCodeAt(1))),
);

/** Two letters, without case, as one number. */
function pair(first: number, second: number): number {
  return (first | 0x20) * 256 + (second | 0x20);
}

/** Whether `text[start, end)` can be a listed name, by its first letters and length. */
function mayBeListed(text: string, start: number, end: number): boolean {
  const first = text.charCodeAt(start) | 0x20;
  if (end - start < 32 && first < 128 && ((lengths[first]! >>> (end - start)) & 1) === 1) return true;
  if (FAMILIES.has(pair(first, text.charCodeAt(start + 1)))) return true;
  for (let i = start; i < end && i < start + LONGEST_NAME; i++) {
    const code = text.charCodeAt(i);
    if (code === 0 || code === 0x3a) return true;
  }
  return false;
}

/** Whether the tag `text[start, end)` is dangerous with any attributes. Browsers skip a NUL in a name, or end it there. */
function isDangerousTag(text: string, start: number, end: number): boolean {
  if (!mayBeListed(text, start, end)) return false;
  if (isDangerousName(nameOf(text, start, end))) return true;
  const nul = indexWithin(text, 0, { start, end });
  return nul > start && isDangerousName(nameOf(text, start, nul));
}

/** Whether a name is dangerous, with or without a namespace (`x:script`). */
function isDangerousName(name: string): boolean {
  const local = name.slice(name.indexOf(':') + 1);
  return TAGS.has(local) || local.startsWith('svg') || name.startsWith('svg') || name.startsWith('xsl');
}

/** The danger of the attribute `text[start, end)`. */
function dangerOf(text: string, start: number, end: number): Danger {
  if (end - start < 2 || !mayBeListed(text, start, end)) return 'none';
  const name = nameOf(text, start, end);
  if (name.startsWith('xmlns') || name.startsWith('xlink')) return 'always';
  if (name.startsWith('on') && isLetters(name, 2)) return 'event';
  return ATTRIBUTES.get(name.slice(name.indexOf(':') + 1)) ?? ATTRIBUTES.get(name) ?? 'none';
}

/** Whether three letters are at `from`: an event attribute is at least `onabc`. */
function isLetters(name: string, from: number): boolean {
  if (name.length < from + 3) return false;
  for (let i = from; i < from + 3; i++)
    if (name.charCodeAt(i) < 0x61 || name.charCodeAt(i) > 0x7a) return false;
  return true;
}

/** Whether the name of an attribute has a quote in it, which serves only to hide the end of a value. */
function hasQuote(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22 || code === 0x27) return true;
  }
  return false;
}

/** Whether an attribute whose name begins with `on` is one of `EVENTS`. */
function isKnownEvent(text: string, start: number, end: number): boolean {
  return EVENTS.has(nameOf(text, start, end).slice(2));
}

// Recognises URLs that run script, as browsers parse them: character references decoded, control characters skipped.

/** The beginnings of such URLs. */
const SCHEMES = [
  'javascript:',
  'vbscript:',
  'livescript:',
  'mocha:',
  'data:',
  'view-source:',
  'feed:javascript:',
] as const;

/** Harmless `data:` URLs. SVG is not among them, since it can contain script. */
const IMAGES = [
  'data:image/png',
  'data:image/gif',
  'data:image/jpeg',
  'data:image/jpg',
  'data:image/webp',
  'data:image/avif',
] as const;

/** The decoded characters of a URL that are compared: more than the longest text of the lists above. */
const LONGEST_PREFIX = 24;
/** The most characters that are decoded for it, with room for long character references and skipped white space. */
const LONGEST_SOURCE = 1024;

/** Named references to characters of a scheme, and to characters that browsers skip in it. */
const ENTITIES: Readonly<Record<string, string>> = {
  colon: ':',
  tab: '',
  newline: '',
  nbsp: '',
  zwnj: '',
  shy: '',
  sol: '/',
  semi: ';',
};

/** Whether `text[start, end)` is a URL that runs script. */
export function isScriptUrl(text: string, start: number, end: number): boolean {
  const url = decodedPrefix(text, start, Math.min(end, start + LONGEST_SOURCE));
  if (!SCHEMES.some((scheme) => url.startsWith(scheme))) return false;
  return !IMAGES.some((image) => url.startsWith(image));
}

/** The first characters of a URL, decoded and in lower case, without white space, controls and octets above ASCII. */
function decodedPrefix(text: string, start: number, end: number): string {
  let url = '';
  for (let at = start; at < end && url.length < LONGEST_PREFIX; ) {
    const code = text.charCodeAt(at);
    if (code !== 0x26) {
      url += visible(code);
      at++;
      continue;
    }
    const length = entityLength(text, at, end);
    url += decoded(text.slice(at + 1, at + length));
    at += length;
  }
  return url.toLowerCase();
}

/** The character of a code, if it is visible ASCII, else the empty text. */
function visible(code: number): string {
  return code > 0x20 && code < 0x7f ? String.fromCharCode(code) : '';
}

/** The length of the character reference at `at`, including its semicolon; at least 1. */
function entityLength(text: string, at: number, end: number): number {
  let stop = at + 1;
  if (text.charCodeAt(stop) === 0x23) stop++;
  while (stop < end && isWordCharacter(text.charCodeAt(stop))) stop++;
  return (text.charCodeAt(stop) === 0x3b && stop < end ? stop + 1 : stop) - at;
}

function isWordCharacter(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a);
}

/** Decodes a character reference; letters after its digits are copied. */
function decoded(entity: string): string {
  const name = entity.endsWith(';') ? entity.slice(0, -1) : entity;
  if (!name.startsWith('#')) return ENTITIES[name.toLowerCase()] ?? `&${entity}`;
  const hex = name.charAt(1) === 'x' || name.charAt(1) === 'X';
  let at = hex ? 2 : 1;
  let code = 0;
  for (; at < name.length; at++) {
    const digit = digitOf(name.charCodeAt(at), hex);
    if (digit < 0) break;
    code = Math.min(code * (hex ? 16 : 10) + digit, 0x10_ffff);
  }
  return visible(code) + name.slice(at);
}

/** The value of a decimal or hexadecimal digit; -1: no digit. */
function digitOf(code: number, hex: boolean): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return hex && letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

const BACKQUOTE = 0x60;
const LESS = 0x3c;
const COLON = 0x3a;

// PERF: one tokenizer for all calls. Calls are synchronous, and each resets all of its fields.
const html: Html = newHtml();

/** The length in octets of the shortest value that is detected: a comment that hides a tag. */
export const SHORTEST_XSS = 4;

/**
 * Returns the construct by which a page that contains `value` (Latin-1) unescaped runs script from it, or `null`. Takes
 * linear time; never throws.
 */
export function detectXss(value: string): string | null {
  const hasTag = value.includes('<');
  const hasValue = value.includes('=');
  if (!hasTag && !hasValue) return null;
  const inText = hasTag ? constructIn(value, IN_DATA) : null;
  if (inText !== null || !hasValue) return inText;
  if (beginsWithEvent(value)) return CONSTRUCTS.event;
  return (
    constructIn(value, IN_UNQUOTED) ??
    (value.includes("'") ? constructIn(value, IN_SINGLE) : null) ??
    (value.includes('"') ? constructIn(value, IN_DOUBLE) : null) ??
    (value.includes('`') ? constructIn(value, IN_BACK) : null)
  );
}

/** Whether the value begins with an event attribute (`onerror=…`), which is dangerous inside a tag. */
function beginsWithEvent(value: string): boolean {
  const equals = value.indexOf('=');
  return dangerOf(value, 0, equals) === 'event' && isKnownEvent(value, 0, equals);
}

/** The construct in a value whose tokenizing begins in `state` (one of the `IN_` states), or `null`. */
function constructIn(value: string, state: number): string | null {
  beginHtml(html, value, state);
  let inTag = false;
  let danger: Danger = 'none';
  while (nextPiece(html)) {
    const { kind, start, end } = html;
    switch (kind) {
      case TAG:
        if (isDangerousTag(value, start, end)) return TAG_CONSTRUCT;
        inTag = true;
        break;
      case ATTRIBUTE:
        danger = dangerOfName(inTag);
        break;
      case VALUE:
        if (inTag && hidesTag(value, start, end)) return COMMENT_CONSTRUCT;
        if (danger !== 'none' && isDangerousValue(danger, inTag)) return CONSTRUCTS[danger];
        danger = 'none';
        break;
      case COMMENT:
        if (isDangerousComment(value, start, end)) return COMMENT_CONSTRUCT;
        break;
      case DOCTYPE:
        return COMMENT_CONSTRUCT;
      default:
    }
  }
  return null;
}

/** The danger of the last attribute. Before any tag, an event attribute must be a known one, since prose has `once =`. */
function dangerOfName(inTag: boolean): Danger {
  const { text, start, end } = html;
  const danger = dangerOf(text, start, end);
  if (danger === 'event') return inTag || isKnownEvent(text, start, end) ? danger : 'none';
  return danger === 'none' && inTag && hasQuote(text, start, end) ? 'always' : danger;
}

/** Whether the last value is dangerous in an attribute of that danger. */
function isDangerousValue(danger: Exclude<Danger, 'none'>, inTag: boolean): boolean {
  const { text, start, end } = html;
  switch (danger) {
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

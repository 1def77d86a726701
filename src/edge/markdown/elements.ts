/** The elements of HTML in Markdown: the role of each, the attributes that matter, and the URLs of links and images. */

/** Maximum length, in characters, of the page's URL, which every relative link repeats. */
const MAX_ADDRESS = 2 * 1024;
/** Maximum length, in characters, of a link; a longer one contains data and is no destination. */
const MAX_HREF = 8 * 1024;
/** Maximum number of columns that one cell spans. */
const MAX_SPAN = 32;
/** Maximum length, in characters, of a code block's language. */
const MAX_LANGUAGE = 32;

const ROLES = {
  /** Not content: scripts, controls, navigation. */
  drop: [
    'applet',
    'area',
    'audio',
    'button',
    'canvas',
    'datalist',
    'embed',
    'frameset',
    'iframe',
    'input',
    'map',
    'meter',
    'nav',
    'noembed',
    'noframes',
    'noscript',
    'object',
    'progress',
    'script',
    'select',
    'style',
    'svg',
    'template',
    'textarea',
    'video',
  ],
  /** Starts and ends a paragraph. */
  block: [
    'address',
    'aside',
    'body',
    'center',
    'details',
    'dialog',
    'dir',
    'div',
    'dl',
    'fieldset',
    'figcaption',
    'figure',
    'footer',
    'form',
    'head',
    'header',
    'hgroup',
    'html',
    'legend',
    'optgroup',
    'option',
    'p',
    'search',
    'section',
    'summary',
  ],
  heading: ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
  region: ['main', 'article'],
  title: ['title'],
  list: ['ol', 'ul', 'menu'],
  item: ['li'],
  term: ['dt'],
  definition: ['dd'],
  quote: ['blockquote'],
  pre: ['pre', 'listing', 'plaintext', 'xmp'],
  rule: ['hr'],
  table: ['table'],
  head: ['thead'],
  section: ['tbody', 'tfoot'],
  row: ['tr'],
  cell: ['td', 'th'],
  caption: ['caption'],
  code: ['code', 'kbd', 'samp', 'tt'],
  strong: ['b', 'strong'],
  emphasis: ['cite', 'dfn', 'em', 'i', 'var'],
  strike: ['del', 's', 'strike'],
  link: ['a'],
  quoted: ['q'],
  image: ['img'],
  break: ['br'],
  base: ['base'],
} as const;

/** `inline`, any other element: part of the line around it. */
export type ElementRole = keyof typeof ROLES | 'inline';

const ROLE_OF: ReadonlyMap<string, ElementRole> = new Map(
  Object.entries(ROLES).flatMap(([role, names]) =>
    names.map((name) => [name as string, role as ElementRole] as const),
  ),
);

/** Attributes by lower-case name. */
export type Attributes = Readonly<Record<string, string>>;

/** The role of an element; `drop` if it is hidden. */
export function roleOf(name: string, attributes: Attributes): ElementRole {
  if (isHidden(name, attributes)) return 'drop';
  return ROLE_OF.get(name) ?? 'inline';
}

/** Whether browsers do not show the element, or assistive technology skips it. */
function isHidden(name: string, attributes: Attributes): boolean {
  if (attributes['aria-hidden'] === 'true' || attributes['role'] === 'navigation') return true;
  const { hidden } = attributes;
  // `until-found`: a search within the page reveals the element, so it is content (HTML §6.1).
  if (hidden !== undefined && hidden.toLowerCase() !== 'until-found') return true;
  return name === 'dialog' && attributes['open'] === undefined;
}

/** Whether a table is for layout only (WAI-ARIA `presentation`). */
export function isLayout({ role }: Attributes): boolean {
  return role === 'presentation' || role === 'none';
}

/** Columns of a cell, 1 to `MAX_SPAN`. */
export function spanOf({ colspan = '1' }: Attributes): number {
  const span = wholeNumber(colspan) ?? 1;
  return Math.min(Math.max(1, span), MAX_SPAN);
}

/** A number of a list item; `null`: none, or more than the nine digits of CommonMark §5.2. */
export function wholeNumber(text: string | undefined): number | null {
  if (text === undefined || text.length === 0 || text.length > 9) return null;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 48 || code > 57) return null;
  }
  return Number(text);
}

/** Prefixes of a language in the classes of syntax highlighters. */
const LANGUAGE_MARKS = ['language-', 'lang-', 'highlight-source-', 'highlight-text-'] as const;

/** The language of a code block (HTML, "the code element"); empty: none is named. */
export function languageOf({ class: classes = '' }: Attributes): string {
  for (const name of classes.slice(0, 1_024).toLowerCase().split(' ')) {
    const mark = LANGUAGE_MARKS.find((one) => name.startsWith(one));
    const language = mark === undefined ? '' : name.slice(mark.length);
    if (language !== '' && language.length <= MAX_LANGUAGE && isLanguage(language)) return language;
  }
  return '';
}

/** Whether a name consists of letters, digits and the signs of language names. */
function isLanguage(name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    const plain = (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
    if (!plain && !'+#.-_'.includes(name[at]!)) return false;
  }
  return true;
}

// Resolves the links and images of a page to absolute URLs, written as Markdown destinations.

/** Schemes of links. */
const LINKED: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'tel:']);
/** Schemes of images and bases. */
const SHOWN: ReadonlySet<string> = new Set(['http:', 'https:']);

/** A base URL; `null`: not an http(s) URL, or longer than `MAX_ADDRESS`. */
export function baseOf(address: string, base: URL | null = null): URL | null {
  const url = address.length > MAX_ADDRESS ? null : read(address, base);
  return url !== null && SHOWN.has(url.protocol) && url.href.length <= MAX_ADDRESS ? url : null;
}

/** A link's destination; `null`: no URL, too long, or of another scheme (`javascript:`). */
export function linkTo(href: string | undefined, base: URL): string | null {
  return destination(href, base, LINKED);
}

/** An image's URL; `null`: no URL, too long, or of another scheme (`data:`). */
export function imageAt(src: string | undefined, base: URL): string | null {
  return destination(src, base, SHOWN);
}

/** An absolute URL of one of the schemes, at most `MAX_HREF` characters before it is resolved. */
function destination(text: string | undefined, base: URL, schemes: ReadonlySet<string>): string | null {
  if (text === undefined || text.length > MAX_HREF) return null;
  const url = read(text, base);
  return url !== null && schemes.has(url.protocol) ? written(url.href) : null;
}

/** `null`: no URL. */
function read(text: string, base: URL | null): URL | null {
  try {
    return base === null ? new URL(text) : new URL(text, base);
  } catch {
    return null;
  }
}

const HEX = '0123456789ABCDEF';

/** Percent-encodes characters that end a destination, a code span or a cell in Markdown, or start an entity or escape. */
function written(href: string): string {
  const entities = href.includes('&') && href.includes(';');
  let text = '';
  let from = 0;
  for (let at = 0; at < href.length; at++) {
    const code = href.charCodeAt(at);
    if (!BREAKING.has(code) && !(entities && code === 59)) continue;
    text += `${href.slice(from, at)}%${HEX[code >> 4]}${HEX[code & 15]}`;
    from = at + 1;
  }
  return from === 0 ? href : text + href.slice(from);
}

/** Tab, LF, CR, space, and " ( ) < > \ ` | */
const BREAKING: ReadonlySet<number> = new Set([9, 10, 13, 32, 34, 40, 41, 60, 62, 92, 96, 124]);

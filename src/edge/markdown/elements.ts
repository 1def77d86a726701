/** The role of each HTML element in Markdown, and the attributes that matter. */
import { MAX_LANGUAGE, MAX_SPAN } from './limits.ts';

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

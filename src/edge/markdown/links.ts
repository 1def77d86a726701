/** Resolves the links and images of a page to absolute URLs, written as Markdown destinations. */
import { MAX_ADDRESS, MAX_HREF } from './limits.ts';

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

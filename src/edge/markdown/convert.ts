/**
 * Converts HTML to Markdown (CommonMark with GFM's tables and strikethrough), as a stream of tags and text without a tree,
 * so that the cost is linear. In: the page's text and its URL. Out: Markdown in which no text of the page acts as markup, or
 * why there is none.
 *
 * Not `mdream` (1.7): its native module has no fallback, and `@mdream/js` links `javascript:` URLs, includes hidden
 * elements, does not escape `|`, and writes `<b>a</b><b>b</b>` as `**a****b**`; it is linear on hostile input, too.
 */
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { Parser } from 'htmlparser2';
import { baseOf, roleOf } from './elements.ts';
import { type Coding, type HtmlReason, MAX_PAGE_OCTETS } from './outcome.ts';
import { createMarkdownWriter } from './page.ts';
import { createMeter, PageLimit } from './writer.ts';

/** Maximum nesting depth of elements, the limit of browsers. */
const MAX_DEPTH = 512;
/**
 * Maximum number of octets at a page's start that are searched for its character encoding (HTML, "prescan a byte
 * stream").
 */
const META_OCTETS = 1_024;

/** The outcome of a conversion. */
export type Converted =
  | { readonly ok: true; readonly markdown: string }
  | { readonly ok: false; readonly reason: HtmlReason };

/** What to do at a closing tag; `null`: nothing. */
type Ending = (() => void) | null;

/** @param address the page's URL, the base of its links */
export function convert(html: string, address: string): Converted {
  const base = baseOf(address);
  if (base === null) return { ok: false, reason: 'address' };
  const page = createMarkdownWriter({
    base,
    meter: createMeter(html.length),
    shape: createMeter(html.length),
  });
  const endings: Ending[] = [];
  /** Depth within a dropped element, itself included; 0: none is open. */
  let dropped = 0;
  let run = '';

  function flush(): void {
    if (run === '') return;
    const text = run;
    run = '';
    page.text(text);
  }

  const parser = new Parser({
    onopentag(name, attributes) {
      if (endings.length + dropped >= MAX_DEPTH) throw new PageLimit('depth');
      if (dropped > 0) {
        dropped++;
        return;
      }
      flush();
      const role = roleOf(name, attributes);
      if (role === 'drop') dropped = 1;
      else endings.push(page.open(role, name, attributes));
    },
    // The parser calls this for void elements and omitted end tags, too.
    onclosetag() {
      if (dropped > 0) {
        dropped--;
        return;
      }
      flush();
      endings.pop()?.();
    },
    ontext(text) {
      if (dropped === 0) run += text;
    },
  });
  try {
    parser.end(html);
    flush();
    const markdown = page.finish();
    return markdown === '' ? { ok: false, reason: 'empty' } : { ok: true, markdown };
  } catch (error) {
    if (error instanceof PageLimit) return { ok: false, reason: error.reason };
    throw error;
  }
}

// Decodes the octets of a page: inflates them up to `MAX_PAGE_OCTETS`, and decodes the character encoding.

/** A page as it arrived. */
export interface EncodedPage {
  readonly octets: Uint8Array;
  readonly coding: Coding;
  /** The charset of its Content-Type; `null`: none. */
  readonly charset: string | null;
}

/** The text, or why the page has none. */
export type Decoded =
  | { readonly ok: true; readonly html: string }
  | { readonly ok: false; readonly reason: HtmlReason };

/** Never throws. */
export function decodePage({ octets, coding, charset }: EncodedPage): Decoded {
  try {
    const plain = inflate(octets, coding);
    return { ok: true, html: decode(plain, charset) };
  } catch (error) {
    const tooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return { ok: false, reason: tooLarge ? 'size' : 'coding' };
  }
}

/** Removes a content coding. @throws the error of zlib, ERR_BUFFER_TOO_LARGE beyond `MAX_PAGE_OCTETS` */
function inflate(octets: Uint8Array, coding: Coding): Uint8Array {
  const most = { maxOutputLength: MAX_PAGE_OCTETS };
  switch (coding) {
    case 'identity':
      return octets;
    case 'gzip':
      return gunzipSync(octets, most);
    case 'br':
      return brotliDecompressSync(octets, most);
    case 'deflate':
      // RFC 9110 §8.4.1.2: some send raw deflate data; the first octet of the zlib format has 8 in its low half (RFC 1950).
      return ((octets[0] ?? 0) & 15) === 8 ? inflateSync(octets, most) : inflateRawSync(octets, most);
  }
}

/** Byte order mark, Content-Type, meta element, else UTF-8 if valid, else windows-1252 (HTML §13.2.3.2). */
function decode(octets: Uint8Array, charset: string | null): string {
  const decoder = decoderFor(markOf(octets)) ?? decoderFor(charset) ?? decoderFor(metaCharset(octets));
  if (decoder !== null) return decoder.decode(octets);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(octets);
  } catch {
    return new TextDecoder('windows-1252').decode(octets);
  }
}

/** `null`: no label, or an unknown one. */
function decoderFor(label: string | null): InstanceType<typeof TextDecoder> | null {
  if (label === null) return null;
  try {
    return new TextDecoder(label);
  } catch {
    return null;
  }
}

/** The encoding of a byte order mark (Encoding Standard §6). */
function markOf([first, second, third]: Uint8Array): string | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xff && second === 0xfe ? 'utf-16le' : null;
}

/** The charset of a meta element in the first `META_OCTETS`; such a page is readable as ASCII, so it is not UTF-16. */
function metaCharset(octets: Uint8Array): string | null {
  const start = Buffer.from(octets.subarray(0, META_OCTETS)).toString('latin1').toLowerCase();
  for (let at = start.indexOf('<meta'); at >= 0; at = start.indexOf('<meta', at + 1)) {
    const end = start.indexOf('>', at);
    const element = start.slice(at, end < 0 ? start.length : end);
    const charset = element.indexOf('charset');
    if (charset < 0) continue;
    const label = labelIn(element.slice(charset + 'charset'.length));
    if (label !== '') return label.startsWith('utf-16') ? 'utf-8' : label;
  }
  return null;
}

/** The label after an equals sign, with or without quotes; empty: none. */
function labelIn(text: string): string {
  const value = text.trimStart();
  if (!value.startsWith('=')) return '';
  let label = '';
  for (const char of value.slice(1).trimStart().replaceAll('"', ' ').replaceAll("'", ' ').trimStart()) {
    if (char === ' ' || char === ';' || char === '/') break;
    label += char;
  }
  return label;
}

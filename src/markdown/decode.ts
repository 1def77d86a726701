/** From the octets of a page to its text: inflated within bounds, in the character encoding it names. */
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import type { Coding } from './eligible.ts';
import { MAX_PAGE_OCTETS, META_OCTETS } from './limits.ts';
import type { HtmlReason } from './outcome.ts';

export interface EncodedPage {
  readonly octets: Uint8Array;
  readonly coding: Coding;
  /** As its Content-Type names it; `null`: not at all. */
  readonly charset: string | null;
}

export type Decoded =
  | { readonly ok: true; readonly html: string }
  | { readonly ok: false; readonly reason: HtmlReason };

export function decodePage({ octets, coding, charset }: EncodedPage): Decoded {
  try {
    const plain = inflate(octets, coding);
    return { ok: true, html: decode(plain, charset) };
  } catch (error) {
    const tooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return { ok: false, reason: tooLarge ? 'size' : 'coding' };
  }
}

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
      // RFC 9110 §8.4.1.2: some send the data without the zlib format around it, whose first octet says 8 in its low half.
      return ((octets[0] ?? 0) & 15) === 8 ? inflateSync(octets, most) : inflateRawSync(octets, most);
  }
}

/** A byte order mark, then the Content-Type, then the page itself; else UTF-8 where it is that (HTML §13.2.3.2). */
function decode(octets: Uint8Array, charset: string | null): string {
  const decoder = decoderFor(markOf(octets)) ?? decoderFor(charset) ?? decoderFor(metaCharset(octets));
  if (decoder !== null) return decoder.decode(octets);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(octets);
  } catch {
    return new TextDecoder('windows-1252').decode(octets);
  }
}

function decoderFor(label: string | null): InstanceType<typeof TextDecoder> | null {
  if (label === null) return null;
  try {
    return new TextDecoder(label);
  } catch {
    return null;
  }
}

function markOf([first, second, third]: Uint8Array): string | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xff && second === 0xfe ? 'utf-16le' : null;
}

/** What a meta element at the beginning says. A page whose elements can be read like this is not UTF-16. */
function metaCharset(octets: Uint8Array): string | null {
  const start = Buffer.from(octets.subarray(0, META_OCTETS)).toString('latin1').toLowerCase();
  for (let at = start.indexOf('<meta'); at >= 0; at = start.indexOf('<meta', at + 1)) {
    const end = start.indexOf('>', at);
    const element = start.slice(at, end < 0 ? start.length : end);
    const said = element.indexOf('charset');
    if (said < 0) continue;
    const label = labelIn(element.slice(said + 'charset'.length));
    if (label !== '') return label.startsWith('utf-16') ? 'utf-8' : label;
  }
  return null;
}

/** The label behind an equals sign, with or without quotes; empty: none. */
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

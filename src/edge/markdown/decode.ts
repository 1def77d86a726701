/** Decodes the octets of a page: inflates them up to `MAX_PAGE_OCTETS`, and decodes the character encoding. */
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import type { Coding } from './eligible.ts';
import { MAX_PAGE_OCTETS, META_OCTETS } from './limits.ts';
import type { HtmlReason } from './outcome.ts';

/** A page as it arrived. */
export interface EncodedPage {
  readonly octets: Uint8Array;
  readonly coding: Coding;
  /** The charset of its Content-Type; `null`: none. */
  readonly charset: string | null;
}

/** The text, or why there is none. */
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

/** Compresses answers with gzip for clients that accept it (RFC 9110 §12.5.3), in Node's thread pool. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { COMPRESS_FROM } from './limits.ts';

const compress = promisify(gzip);

/** Whether a text, or octets, is long enough to compress, see `COMPRESS_FROM`. */
export function isWorthCompressing(text: string | Uint8Array): boolean {
  return text.length >= COMPRESS_FROM;
}

/** Whether an `Accept-Encoding` lists gzip, by name or by `*`, with a weight above 0. */
export function takesGzip(accepted: string | undefined): boolean {
  if (accepted === undefined) return false;
  let star = false;
  for (const element of accepted.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = element.split(';').map((part) => part.trim());
    const refused = parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
    if (coding === 'gzip' || coding === 'x-gzip') return !refused;
    if (coding === '*') star = !refused;
  }
  return star;
}

/** A text or octets in gzip. */
export function gzipped(text: string | Uint8Array): Promise<Buffer> {
  return compress(text, { level: 6 });
}

/** The transformation `base64DecodeExt`: Base64 as forgiving as PHP's `base64_decode`. */
import { decodeBase64 } from './base64-decode.ts';

/** Decodes Base64 and skips every character outside the alphabet, padding included, wherever it is. */
export function base64DecodeExt(value: string): string {
  return decodeBase64(value, () => true);
}

import { decodeBase64 } from './base64-decode.ts';

/** Base64 as PHP reads it: characters outside the alphabet, padding among them, are passed over wherever they are. */
export function base64DecodeExt(value: string): string {
  return decodeBase64(value, () => true);
}

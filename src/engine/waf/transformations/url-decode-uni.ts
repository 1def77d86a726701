/** The transformation `urlDecodeUni`: decodes percent-encoding and the `%uHHHH` of IIS. */
import { hexUnit } from '../octets/latin1.ts';
import { bestFit } from './best-fit.ts';
import { NONE, read } from './escapes.ts';
import { decodeForm, readOctet } from './url-decode.ts';

/**
 * Decodes as `urlDecode` does and replaces `%uHHHH` by its ASCII lookalike, else by its lower octet. This is ModSecurity
 * with the code page of its recommended configuration (`SecUnicodeMapFile unicode.mapping 20127`).
 */
export function urlDecodeUni(value: string): string {
  return decodeForm(value, readUnit);
}

function readUnit(value: string, at: number): number {
  if ((value.charCodeAt(at + 1) | 32) !== 0x75) return readOctet(value, at);
  const unit = hexUnit(value, at + 2);
  return unit < 0 ? NONE : read(bestFit(unit), 6);
}

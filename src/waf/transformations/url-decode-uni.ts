import { hexUnit } from '../octets/latin1.ts';
import { bestFit } from './best-fit.ts';
import { NONE, read } from './escapes.ts';
import { decodeForm, readOctet } from './url-decode.ts';

/**
 * As `urlDecode`, and IIS's `%uHHHH` becomes the ASCII character that looks like it, else the lower octet. That is
 * ModSecurity with the code page that its recommended settings name (`SecUnicodeMapFile unicode.mapping 20127`).
 */
export function urlDecodeUni(value: string): string {
  return decodeForm(value, readUnit);
}

function readUnit(value: string, at: number): number {
  if ((value.charCodeAt(at + 1) | 32) !== 0x75) return readOctet(value, at);
  const unit = hexUnit(value, at + 2);
  return unit < 0 ? NONE : read(bestFit(unit), 6);
}

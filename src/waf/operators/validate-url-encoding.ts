import { escapedOctet } from '../../base/octets.ts';

/** A `%` of the value starts no whole escape. */
export function validateUrlEncoding(value: string): boolean {
  for (let at = value.indexOf('%'); at >= 0; at = value.indexOf('%', at + 3)) {
    if (escapedOctet(value, at) < 0) return true;
  }
  return false;
}

/** The operator `@validateUrlEncoding`: the value has a malformed percent-encoding (RFC 3986 §2.1). */
import { escapedOctet } from '../../../base/octets/octets.ts';

/** Whether a `%` of the value is not followed by two hexadecimal digits. */
export function validateUrlEncoding(value: string): boolean {
  for (let at = value.indexOf('%'); at >= 0; at = value.indexOf('%', at + 3)) {
    if (escapedOctet(value, at) < 0) return true;
  }
  return false;
}

/** The operator `@validateByteRange`: the value has an octet outside the allowed ranges. */

/** By octet, 1 if it is allowed, else 0. */
export type AllowedOctets = Uint8Array;

/** Converts the argument: `allowed[octet]` for 256 octets. */
export function prepareByteRange(allowed: readonly boolean[]): AllowedOctets {
  return Uint8Array.from({ length: 256 }, (_, octet) => (allowed[octet] === true ? 1 : 0));
}

/** Whether an octet of the value is not allowed. */
export function validateByteRange(value: string, allowed: AllowedOctets): boolean {
  for (let at = 0; at < value.length; at++) {
    if (allowed[value.charCodeAt(at)] !== 1) return true;
  }
  return false;
}

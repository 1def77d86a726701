/** One flag an octet value: 1, it is allowed. */
export type AllowedOctets = Uint8Array;

/** Prepares the 256 flags of a `@validateByteRange`. */
export function prepareByteRange(allowed: readonly boolean[]): AllowedOctets {
  return Uint8Array.from({ length: 256 }, (_, octet) => (allowed[octet] === true ? 1 : 0));
}

/** An octet of the value is not among the allowed. */
export function validateByteRange(value: string, allowed: AllowedOctets): boolean {
  for (let at = 0; at < value.length; at++) {
    if (allowed[value.charCodeAt(at)] !== 1) return true;
  }
  return false;
}

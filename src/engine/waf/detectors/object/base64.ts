/** Base64 (RFC 4648 §4 and §5) inside a value: where a token begins, and its octets as Latin-1 text. */

/** By octet, the value of a digit; 255: the octet is no digit. Both alphabets. */
const digits = new Uint8Array(256).fill(255);
[...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].forEach((digit, value) => {
  digits[digit.charCodeAt(0)] = value;
});
digits['-'.charCodeAt(0)] = 62;
digits['_'.charCodeAt(0)] = 63;

/** Whether an octet is a digit of base64. */
function isBase64Digit(code: number): boolean {
  return digits[code]! !== 255 && code < 256;
}

/** The end of the token of base64 digits at `at`. */
export function base64End(value: string, at: number): number {
  let end = at;
  while (end < value.length && isBase64Digit(value.charCodeAt(end))) end++;
  return end;
}

/** Decodes `value[start, end)`, which has digits only; left-over bits are dropped. */
export function decodeBase64(value: string, start: number, end: number): string {
  let text = '';
  for (let at = start; at + 1 < end; at += 4) {
    const third = at + 2 < end ? digits[value.charCodeAt(at + 2)]! : 0;
    const fourth = at + 3 < end ? digits[value.charCodeAt(at + 3)]! : 0;
    const bits =
      (digits[value.charCodeAt(at)]! << 18) |
      (digits[value.charCodeAt(at + 1)]! << 12) |
      (third << 6) |
      fourth;
    text += String.fromCharCode(bits >>> 16);
    if (at + 2 < end) text += String.fromCharCode((bits >>> 8) & 255);
    if (at + 3 < end) text += String.fromCharCode(bits & 255);
  }
  return text;
}

/** JSON for streams that may be terminals. */

// The controls that JSON permits in texts (DEL, C1), and the marks that turn the direction of text.
const INTERPRETED = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** JSON in which characters that a terminal interprets are escaped (RFC 8259, §7); it parses to the same value. */
export function terminalJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(
    INTERPRETED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

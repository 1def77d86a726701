/** Percent escapes in and out (semantics §1.1 step 2, and what a URI may hold by RFC 3986). */

const encoder = new TextEncoder();

const UNRESERVED = 'A-Za-z0-9\\-._~';
const SUB_DELIMS = "!$&'()*+,;=";
const NOT_IN_A_URI = new RegExp(`[^${UNRESERVED}${SUB_DELIMS}:/?#\\[\\]@%]`, 'gu');
const NOT_IN_A_CAPTURE = new RegExp(`[^${UNRESERVED}${SUB_DELIMS}:@/]`, 'gu');

/** `text` as UTF-8 octets. */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Whether the text holds half a surrogate pair. */
export function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}

/** The text with every lone surrogate as U+FFFD. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD');
}

function hex(octet: number): string {
  return `%${octet.toString(16).toUpperCase().padStart(2, '0')}`;
}

function escapeAll(text: string): string {
  return Array.from(utf8(text), hex).join('');
}

/** Percent-encodes the characters a URI may not hold; `%` stays. */
export function encodeUri(text: string): string {
  return text.replace(NOT_IN_A_URI, escapeAll);
}

/** Percent-encodes a captured group on its way into a rewrite target; `%` becomes `%25`. */
export function encodeCapture(text: string): string {
  return text.replace(NOT_IN_A_CAPTURE, escapeAll);
}

/** Length and smallest code point of the UTF-8 sequence that `lead` starts (RFC 3629); `null` when it starts none. */
function sequence(lead: number): { length: number; least: number; bits: number } | null {
  if (lead < 0x80) return { length: 1, least: 0, bits: lead };
  if (lead >= 0xc0 && lead < 0xe0) return { length: 2, least: 0x80, bits: lead & 0x1f };
  if (lead >= 0xe0 && lead < 0xf0) return { length: 3, least: 0x800, bits: lead & 0x0f };
  if (lead >= 0xf0 && lead < 0xf8) return { length: 4, least: 0x10000, bits: lead & 0x07 };
  return null;
}

function decodeRun(run: string): string {
  const octets = run
    .slice(1)
    .split('%')
    .map((digits) => Number.parseInt(digits, 16));
  let text = '';
  for (let at = 0; at < octets.length; ) {
    const start = sequence(octets[at]!);
    const rest = octets.slice(at + 1, at + (start?.length ?? 1));
    let point = start?.bits ?? 0;
    for (const octet of rest) point = point * 64 + (octet & 0x3f);
    const valid =
      start !== null &&
      rest.length === start.length - 1 &&
      rest.every((octet) => octet >= 0x80 && octet < 0xc0) &&
      point >= start.least &&
      point <= 0x10ffff &&
      !(point >= 0xd800 && point <= 0xdfff);
    text += valid ? String.fromCodePoint(point) : hex(octets[at]!);
    at += valid ? start.length : 1;
  }
  return text;
}

/** Every escape decoded once: valid UTF-8 becomes characters, any other octet stays `%XX` in upper case. */
export function percentDecode(text: string): string {
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, decodeRun);
}

/** Whether a `%` stands before anything but two hexadecimal digits. */
export function hasBadEscape(text: string): boolean {
  return /%(?![0-9A-Fa-f]{2})/.test(text);
}

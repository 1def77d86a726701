/** Recognises URLs that run script, as browsers parse them: character references decoded, control characters skipped. */

/** The beginnings of such URLs. */
const SCHEMES = [
  'javascript:',
  'vbscript:',
  'livescript:',
  'mocha:',
  'data:',
  'view-source:',
  'feed:javascript:',
] as const;

/** Harmless `data:` URLs. SVG is not among them, since it can contain script. */
const IMAGES = [
  'data:image/png',
  'data:image/gif',
  'data:image/jpeg',
  'data:image/jpg',
  'data:image/webp',
  'data:image/avif',
] as const;

/** The decoded characters of a URL that are compared: more than the longest text of the lists above. */
const LONGEST_PREFIX = 24;
/** The most characters that are decoded for it, with room for long character references and skipped white space. */
const LONGEST_SOURCE = 1024;

/** Named references to characters of a scheme, and to characters that browsers skip in it. */
const ENTITIES: Readonly<Record<string, string>> = {
  colon: ':',
  tab: '',
  newline: '',
  nbsp: '',
  zwnj: '',
  shy: '',
  sol: '/',
  semi: ';',
};

/** Whether `text[start, end)` is a URL that runs script. */
export function isScriptUrl(text: string, start: number, end: number): boolean {
  const url = decodedPrefix(text, start, Math.min(end, start + LONGEST_SOURCE));
  if (!SCHEMES.some((scheme) => url.startsWith(scheme))) return false;
  return !IMAGES.some((image) => url.startsWith(image));
}

/** The first characters of a URL, decoded and in lower case, without white space, controls and octets above ASCII. */
function decodedPrefix(text: string, start: number, end: number): string {
  let url = '';
  for (let at = start; at < end && url.length < LONGEST_PREFIX; ) {
    const code = text.charCodeAt(at);
    if (code !== 0x26) {
      url += visible(code);
      at++;
      continue;
    }
    const length = entityLength(text, at, end);
    url += decoded(text.slice(at + 1, at + length));
    at += length;
  }
  return url.toLowerCase();
}

/** The character of a code, if it is visible ASCII, else the empty text. */
function visible(code: number): string {
  return code > 0x20 && code < 0x7f ? String.fromCharCode(code) : '';
}

/** The length of the character reference at `at`, including its semicolon; at least 1. */
function entityLength(text: string, at: number, end: number): number {
  let stop = at + 1;
  if (text.charCodeAt(stop) === 0x23) stop++;
  while (stop < end && isWordCharacter(text.charCodeAt(stop))) stop++;
  return (text.charCodeAt(stop) === 0x3b && stop < end ? stop + 1 : stop) - at;
}

function isWordCharacter(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a);
}

/** Decodes a character reference; letters after its digits are copied. */
function decoded(entity: string): string {
  const name = entity.endsWith(';') ? entity.slice(0, -1) : entity;
  if (!name.startsWith('#')) return ENTITIES[name.toLowerCase()] ?? `&${entity}`;
  const hex = name.charAt(1) === 'x' || name.charAt(1) === 'X';
  let at = hex ? 2 : 1;
  let code = 0;
  for (; at < name.length; at++) {
    const digit = digitOf(name.charCodeAt(at), hex);
    if (digit < 0) break;
    code = Math.min(code * (hex ? 16 : 10) + digit, 0x10_ffff);
  }
  return visible(code) + name.slice(at);
}

/** The value of a decimal or hexadecimal digit; -1: it is none. */
function digitOf(code: number, hex: boolean): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return hex && letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

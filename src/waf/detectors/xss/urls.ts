/** Whether an attribute's value is a URL that runs script, as browsers read it: entities decoded, controls skipped. */

const SCHEMES = [
  'javascript:',
  'vbscript:',
  'livescript:',
  'mocha:',
  'data:',
  'view-source:',
  'feed:javascript:',
] as const;

/** Pictures are what `data:` is mostly for; a drawing (`svg+xml`) has script. */
const PICTURES = [
  'data:image/png',
  'data:image/gif',
  'data:image/jpeg',
  'data:image/jpg',
  'data:image/webp',
  'data:image/avif',
] as const;

/** Longest beginning of a URL looked at, in characters after decoding: more than the longest of the lists above. */
const LOOKED_AT = 24;
/** Longest text such a beginning is decoded from, with room for long entities and skipped spaces. */
const LONGEST_SOURCE = 1024;

/** Entities that stand for what a scheme is made of or may be interrupted by. */
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
  const url = beginning(text, start, Math.min(end, start + LONGEST_SOURCE));
  if (!SCHEMES.some((scheme) => url.startsWith(scheme))) return false;
  return !PICTURES.some((picture) => url.startsWith(picture));
}

/** The first characters of a URL, decoded, in lower case, without spaces, controls and octets above ASCII. */
function beginning(text: string, start: number, end: number): string {
  let url = '';
  for (let at = start; at < end && url.length < LOOKED_AT; ) {
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

function visible(code: number): string {
  return code > 0x20 && code < 0x7f ? String.fromCharCode(code) : '';
}

/** How many characters the entity at `at` has, its semicolon among them; at least 1. */
function entityLength(text: string, at: number, end: number): number {
  let stop = at + 1;
  if (text.charCodeAt(stop) === 0x23) stop++;
  while (stop < end && isWordCharacter(text.charCodeAt(stop))) stop++;
  return (text.charCodeAt(stop) === 0x3b && stop < end ? stop + 1 : stop) - at;
}

function isWordCharacter(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a);
}

/** What an entity stands for; its digits may be followed by letters that are not its own. */
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

function digitOf(code: number, hex: boolean): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return hex && letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

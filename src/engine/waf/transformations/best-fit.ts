/**
 * Maps a 16-bit code to the ASCII character that Windows substitutes for it: code page 20127 of Microsoft's "best fit"
 * tables, which the Unicode Consortium publishes (MAPPINGS/VENDORS/MICSFT/WindowsBestFit). IIS and ASP decode this way.
 */

/** By ASCII character, the characters that become it. Full-width forms are computed and not listed. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  ' ': '\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006',
  '!': '\u00a1',
  '"': '\u02ba\u030e\u201c\u201d\u201e',
  $: '\u00a4',
  "'": '\u02b9\u02bc\u02c8\u2018\u2019\u2032',
  ',': '\u00b8\u201a',
  '-': '\u00ad\u2010\u2011\u2013\u2014',
  '.': '\u00b7\u2022\u2026',
  '1': '\u00b9',
  '2': '\u00b2',
  '3': '\u00b3',
  '<': '\u00ab\u2039',
  '>': '\u00bb\u203a',
  A: 'ÀÁÂÃÄÅÆĀĂĄǍǞ',
  C: '\u00a9ÇĆĈĊČ',
  D: 'ÐĎĐƉ',
  E: 'ÈÉÊËĒĔĖĘĚ',
  F: 'Ƒ',
  G: 'ĜĞĠĢǤǦ',
  H: 'ĤĦ',
  I: 'ÌÍÎÏĨĪĬĮİƗǏ',
  J: 'Ĵ',
  K: 'ĶǨ',
  L: 'ĹĻĽŁ',
  N: 'ÑŃŅŇ',
  O: 'ÒÓÔÕÖØŌŎŐŒƟƠǑǪǬ',
  R: '\u00aeŔŖŘ',
  S: 'ŚŜŞŠ',
  T: 'ŢŤŦƮ\u2122',
  U: 'ÙÚÛÜŨŪŬŮŰŲƯǓǕǗǙǛ',
  W: 'Ŵ',
  Y: '\u00a5ÝŶŸ',
  Z: 'ŹŻŽ',
  '^': '\u02c4\u02c6\u0302',
  _: '\u02cd\u0331\u0332',
  '`': '\u02cb\u0300\u2035',
  a: '\u00aaàáâãäåæāăąǎǟ',
  b: 'ƀ',
  c: '\u00a2çćĉċč',
  d: 'ďđ',
  e: 'èéêëēĕėęě',
  f: 'ƒ',
  g: 'ĝğġģǥǧɡ',
  h: 'ĥħ',
  i: 'ìíîïĩīĭįıǐ',
  j: 'ĵǰ',
  k: 'ķǩ',
  l: 'ĺļľłƚ',
  n: 'ñńņň',
  o: '\u00baòóôõöøōŏőœơǒǫǭ',
  r: 'ŕŗř',
  s: 'śŝşš',
  t: 'ţťŧƫ',
  u: 'ùúûüũūŭůűųưǔǖǘǚǜ',
  w: 'ŵ',
  y: 'ýÿŷ',
  z: 'żžƶ',
  '|': '\u00a6',
  '~': '\u02dc\u0303',
};

/** By code, up to the largest in `LOOKALIKES`, the ASCII octet; 0: there is no lookalike. */
const TABLE = lookalikeTable();

function lookalikeTable(): Uint8Array {
  const codes = Object.entries(LOOKALIKES).flatMap(([ascii, characters]) =>
    Array.from(characters, (character) => ({ code: character.charCodeAt(0), octet: ascii.charCodeAt(0) })),
  );
  const table = new Uint8Array(Math.max(...codes.map(({ code }) => code)) + 1);
  for (const { code, octet } of codes) table[code] = octet;
  return table;
}

/** The octet of a 16-bit code: its ASCII lookalike, else its lower octet. */
export function bestFit(unit: number): number {
  if (unit >= 0xff01 && unit <= 0xff5e) return unit - 0xfee0;
  const lookalike = unit < TABLE.length ? TABLE[unit]! : 0;
  return lookalike === 0 ? unit & 255 : lookalike;
}

/**
 * Converts texts of a declared charset to UTF-8, so that signatures read what the application reads: ASP.NET, Java servlets
 * and XML parsers follow the `charset` that a client chooses. Texts are Latin-1, one character an octet.
 */
import { hexOctet, isDigit, isUpper, latin1Text, utf8Text } from '../../octets/latin1.ts';
import { toUtf8, type UnitLayout, unicodeText } from './parsed-body.ts';

/** By label in lower case, the text in UTF-8. */
type Convert = (text: string) => string;

/**
 * Charsets whose octets below 128 are ASCII (the second octets of double-byte ones apart): they are read as they are,
 * since signatures search for ASCII.
 */
const UNCHANGED: readonly string[] = [
  ...[
    'utf-8',
    'utf8',
    'utf_8',
    'utf8mb4',
    'us-ascii',
    'ascii',
    'ansi_x3.4-1968',
    'unicode-1-1-utf-8',
    'binary',
  ],
  ...['gbk', 'gb2312', 'gb18030', 'big5', 'big5-hkscs', 'euc-jp', 'euc-kr', 'euc-tw', 'ks_c_5601-1987'],
  ...['shift_jis', 'shift-jis', 'sjis', 'ms932', 'windows-31j', 'windows-932', 'windows-936', 'windows-949'],
];

/**
 * The beginnings of labels of single-byte charsets with ASCII below 128. Octets above are converted as those of ISO-8859-1:
 * another letter than the author's, but valid UTF-8, and no signature depends on which.
 */
const SINGLE_BYTE: readonly string[] = [
  ...['iso-8859-', 'iso8859', 'iso_8859-', 'latin', 'windows-125', 'cp125', 'windows-874', 'koi8-'],
  ...['macintosh', 'x-mac-', 'ibm437', 'cp437', 'ibm85', 'cp85', 'ibm86', 'cp86', 'tis-620'],
];

/** The labels of UTF-16 and UTF-32 (IANA, and those of .NET), with the octets of a code unit; a byte order by its suffix. */
const UNICODE: Readonly<Record<string, Pick<UnitLayout, 'width'> & { readonly bigEndian: boolean | null }>> =
  {
    'utf-16': { width: 2, bigEndian: null },
    'utf-16le': { width: 2, bigEndian: false },
    'utf-16be': { width: 2, bigEndian: true },
    unicode: { width: 2, bigEndian: null },
    unicodefffe: { width: 2, bigEndian: true },
    'ucs-2': { width: 2, bigEndian: null },
    'iso-10646-ucs-2': { width: 2, bigEndian: null },
    'utf-32': { width: 4, bigEndian: null },
    'utf-32le': { width: 4, bigEndian: false },
    'utf-32be': { width: 4, bigEndian: true },
    'ucs-4': { width: 4, bigEndian: null },
    'iso-10646-ucs-4': { width: 4, bigEndian: null },
  };

const UTF7: readonly string[] = [
  'utf-7',
  'utf7',
  'unicode-1-1-utf-7',
  'csunicode11utf7',
  'x-unicode-2-0-utf-7',
];

/** By octet of IBM037, the octet of ISO-8859-1 (RFC 1345, `IBM037`), in hexadecimal. */
const IBM037 = [
  '000102039c09867f978d8e0b0c0d0e0f101112139d8508871819928f1c1d1e1f',
  '80818283840a171b88898a8b8c050607909116939495960498999a9b14159e1a',
  '20a0e2e4e0e1e3e5e7f1a22e3c282b7c26e9eaebe8edeeefecdf21242a293bac',
  '2d2fc2c4c0c1c3c5c7d1a62c255f3e3ff8c9cacbc8cdcecfcc603a2340273d22',
  'd8616263646566676869abbbf0fdfeb1b06a6b6c6d6e6f707172aabae6b8c6a4',
  'b57e737475767778797aa1bfd0dddeae5ea3a5b7a9a7b6bcbdbe5b5dafa8b4d7',
  '7b414243444546474849adf4f6f2f3f57d4a4b4c4d4e4f505152b9fbfcf9faff',
  '5cf7535455565758595ab2d4d6d2d3d530313233343536373839b3dbdcd9da9f',
].join('');

/** What other EBCDIC code pages have at octets where they differ from IBM037. */
const EBCDIC: readonly {
  readonly labels: readonly string[];
  readonly changes: Readonly<Record<number, string>>;
}[] = [
  {
    labels: [
      'ibm037',
      'cp037',
      'csibm037',
      'ebcdic-cp-us',
      'ebcdic-cp-ca',
      'ebcdic-cp-nl',
      'ebcdic-cp-wt',
      'x-ebcdic',
    ],
    changes: {},
  },
  { labels: ['ibm1140', 'ibm01140', 'cp1140', 'cp01140', 'ccsid01140', 'ebcdic-us-37+euro'], changes: {} },
  {
    labels: ['ibm500', 'cp500', 'csibm500', 'ebcdic-cp-be', 'ebcdic-cp-ch', 'ibm1148', 'ibm01148', 'cp1148'],
    changes: { 74: '[', 79: '!', 90: ']', 95: '^', 176: '\xa2', 186: '\xac', 187: '|' },
  },
  {
    labels: ['ibm1047', 'cp1047', 'ibm01047', 'ibm924', 'ibm00924'],
    changes: { 95: '^', 173: '[', 176: '\xac', 186: '\xdd', 187: '\xa8', 189: ']' },
  },
];

/** By label in lower case, the conversion. */
const CONVERSIONS: ReadonlyMap<string, Convert> = new Map<string, Convert>([
  ...UNCHANGED.map((label) => [label, (text: string) => text] as const),
  ...UTF7.map((label) => [label, (text: string) => utf8Text(fromUtf7(text))] as const),
  ...Object.entries(UNICODE).map(
    ([label, { width, bigEndian }]) =>
      [label, (text: string) => fromUnicode(text, width, bigEndian)] as const,
  ),
  ...EBCDIC.flatMap(({ labels, changes }) => {
    const table = ebcdicTable(changes);
    return labels.map((label) => [label, (text: string) => mapped(text, table)] as const);
  }),
]);

/** Whether a charset, by its label in lower case, leaves texts as they are: ASCII, UTF-8, double-byte ones. */
export function isUnchanged(label: string): boolean {
  return UNCHANGED.includes(label);
}

/** Whether a supported charset has octets below 128 that are not those of ASCII. */
export function changesAscii(label: string): boolean {
  return CONVERSIONS.has(label) && !isUnchanged(label);
}

/** Converts a text to UTF-8 by a label in lower case; `null`: the charset is not supported. */
export function fromCharset(text: string, label: string): string | null {
  const convert = CONVERSIONS.get(label);
  if (convert !== undefined) return convert(text);
  return SINGLE_BYTE.some((start) => label.startsWith(start)) ? utf8Text(text) : null;
}

/** How far into a document its XML declaration is searched for, in octets. */
const MAX_DECLARATION = 256;

/** The encoding that an XML declaration states (XML 1.0 §4.3.3), in lower case; `null`: none. EBCDIC is recognised. */
export function xmlEncoding(text: string): string | null {
  // `<?xm` in EBCDIC (XML 1.0 appendix F.1); the code pages have the same letters and digits.
  const isEbcdic = text.startsWith('\x4c\x6f\xa7\x94');
  const head = text.slice(0, MAX_DECLARATION);
  const declaration = isEbcdic ? (fromCharset(head, 'ibm037') ?? '') : toUtf8(head).text;
  const end = declaration.indexOf('?>');
  const label = declaration.indexOf('encoding');
  const fallback = isEbcdic ? 'ibm037' : null;
  if (!declaration.startsWith('<?xml') || label < 0 || label > end) return fallback;
  const opening = label + 'encoding'.length;
  let from = opening;
  while (from < end && !`"'`.includes(declaration.charAt(from))) from++;
  const closing = declaration.indexOf(declaration.charAt(from), from + 1);
  return closing < 0 ? fallback : declaration.slice(from + 1, closing).toLowerCase();
}

function ebcdicTable(changes: Readonly<Record<number, string>>): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, octet) => {
    const change = changes[octet];
    return change === undefined ? hexOctet(IBM037, octet * 2) : change.charCodeAt(0);
  });
}

/** Converts octet by octet to ISO-8859-1, and that to UTF-8. */
function mapped(text: string, table: Uint8Array): string {
  const octets = new Uint8Array(text.length * 2);
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const octet = table[text.charCodeAt(at)]!;
    if (octet >= 0x80) octets[count++] = 0xc0 | (octet >> 6);
    octets[count++] = octet < 0x80 ? octet : 0x80 | (octet & 0x3f);
  }
  return latin1Text(octets, 0, count);
}

/** Converts UTF-16 or UTF-32; without a stated order, by the byte order mark or by where most octets are zero. */
function fromUnicode(text: string, width: 2 | 4, stated: boolean | null): string {
  const marked = toUtf8(text);
  if (marked.converted && stated === null) return marked.text;
  const bigEndian = stated ?? zerosAt(text, 0, width) >= zerosAt(text, width - 1, width);
  return utf8Text(unicodeText(text, { width, bigEndian, mark: 0 }));
}

/** How many code units have a zero octet at a place. */
function zerosAt(text: string, place: number, width: number): number {
  let count = 0;
  for (let at = place; at < text.length; at += width) if (text.charCodeAt(at) === 0) count++;
  return count;
}

const PLUS = 43;
const MINUS = 45;
const SLASH = 47;

/** Decodes UTF-7 (RFC 2152): `+` begins UTF-16 in Base64, which ends at the first character outside of its alphabet. */
function fromUtf7(text: string): string {
  let out = '';
  let from = 0;
  for (let at = text.indexOf('+'); at >= 0; at = text.indexOf('+', from)) {
    out += text.slice(from, at);
    let end = at + 1;
    let bits = 0;
    let count = 0;
    for (let sextet = sextetOf(text, end); sextet >= 0; sextet = sextetOf(text, end)) {
      bits = ((bits << 6) | sextet) & 0x3fffff;
      count += 6;
      end++;
      if (count < 16) continue;
      count -= 16;
      out += String.fromCharCode((bits >> count) & 0xffff);
    }
    const isClosed = text.charCodeAt(end) === MINUS;
    if (isClosed && end === at + 1) out += '+';
    from = isClosed ? end + 1 : end;
  }
  return out + text.slice(from);
}

/** The six bits that a character of Base64 denotes; -1: it is not in the alphabet. */
function sextetOf(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 97 && code <= 122) return code - 71;
  if (isUpper(code)) return code - 65;
  if (isDigit(code)) return code + 4;
  return code === PLUS ? 62 : code === SLASH ? 63 : -1;
}

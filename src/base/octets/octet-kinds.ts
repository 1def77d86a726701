/** Octets by kind, 32 of them: which kinds a text holds fits a word. */

/** Octets by kind: what no kind lists is of the last, except letters and octets beyond ASCII. */
const MARKS = {
  digit: '0123456789',
  space: ' ',
  underscore: '_',
  dot: '.',
  dash: '-',
  slash: '/',
  comma: ',',
  colon: ':',
  plus: '+',
  equals: '=',
  percent: '%',
  ampersand: '&',
  star: '*',
  hash: '#',
  blank: '\t\n\v\f\r',
  nul: '\0',
  round: '()',
  square: '[]',
  curly: '{}',
  angle: '<>',
  caret: '^',
  bar: '|',
  dollar: '$',
  semicolon: ';',
  backslash: '\\',
  backtick: '`',
  apostrophe: "'",
  quote: '"',
} as const;
type Kind = keyof typeof MARKS | 'lower' | 'upper' | 'high' | 'other';

const NAMES: readonly Kind[] = [
  'lower',
  'upper',
  'high',
  'other',
  ...(Object.keys(MARKS) as (keyof typeof MARKS)[]),
];
/** A kind's bit, by its name. */
export const KIND = Object.fromEntries(NAMES.map((name, at) => [name, 1 << at])) as Readonly<
  Record<Kind, number>
>;

/** Every kind's bit, the most ordinary first. */
export const KIND_BITS: readonly number[] = NAMES.map((name) => KIND[name]);

/** The kind of each octet, as a bit. */
export const KINDS = kindTable();

function kindTable(): Int32Array {
  const table = new Int32Array(256).fill(KIND.other);
  table.fill(KIND.high, 0x80);
  table.fill(KIND.upper, 65, 91);
  table.fill(KIND.lower, 97, 123);
  for (const [name, octets] of Object.entries(MARKS)) {
    for (const octet of octets) table[octet.charCodeAt(0)] = KIND[name as Kind];
  }
  return table;
}

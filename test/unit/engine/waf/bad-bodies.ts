/** Bodies that are made to break a parser, or to hide something from it. */

export const MULTIPART = 'multipart/form-data; boundary=edge';
const part = (name: string, value: string): string =>
  `--edge\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const nested = (open: string, close: string, depth: number): string =>
  `${open.repeat(depth)}"select"${close.repeat(depth)}`;
const bomb = (levels: number): string => {
  const entities = Array.from(
    { length: levels },
    (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`,
  );
  return `<?xml version="1.0"?><!DOCTYPE r [<!ENTITY l0 "lol">${entities.join('')}]><r>&l${levels};</r>`;
};
const utf16 = (text: string): Uint8Array =>
  Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]);
const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1');

export interface BadBody {
  readonly what: string;
  readonly type: string;
  readonly body: string | Uint8Array;
  /** What is told of the body; `null`: nothing is wrong with it. */
  readonly error: RegExp | null;
  /** What must be found all the same. */
  readonly found?: boolean;
}

export const ATTACK = "1' union select password from users--";
export const FORM = 'application/x-www-form-urlencoded';

export const BAD_BODIES: readonly BadBody[] = [
  {
    what: 'multipart cut in a header',
    type: MULTIPART,
    body: `${part('a', ATTACK)}--edge\r\nContent-Dis`,
    error: /^multipart: /,
    found: true,
  },
  {
    what: 'multipart cut in a value',
    type: MULTIPART,
    body: part('a', ATTACK).slice(0, -2),
    error: /^multipart: /,
    found: true,
  },
  {
    what: 'multipart cut in a boundary',
    type: MULTIPART,
    body: `${part('a', ATTACK)}--ed`,
    error: /^multipart: /,
    found: true,
  },
  { what: 'multipart of nothing', type: MULTIPART, body: '--edge--', error: null },
  {
    what: 'multipart without a boundary',
    type: 'multipart/form-data',
    body: part('a', ATTACK),
    error: /^multipart: /,
  },
  {
    what: 'multipart with two boundaries in its type',
    type: 'multipart/form-data; boundary=edge; boundary=other',
    body: `${part('a', 'x')}--edge--\r\n--other\r\nContent-Disposition: form-data; name="b"\r\n\r\n${ATTACK}\r\n--other--`,
    error: /^multipart: /,
  },
  {
    what: 'multipart whose value holds another boundary',
    type: MULTIPART,
    body: `${part('a', `--other\r\n${ATTACK}\r\n--other--`)}--edge--\r\n`,
    error: null,
    found: true,
  },
  {
    what: '10,000 arguments',
    type: FORM,
    body: Array.from({ length: 10_000 }, (_, at) => `a${at}=${at}`).join('&'),
    error: null,
  },
  {
    what: 'an attack behind 9,999 arguments',
    type: FORM,
    body: `${'a=1&'.repeat(9_999)}b=${encodeURIComponent(ATTACK)}`,
    error: null,
    found: true,
  },
  {
    what: 'more arguments than are looked at',
    type: FORM,
    body: 'a=1&'.repeat(20_000),
    error: /^urlencoded: .*10000 values/,
  },
  { what: 'JSON of 100 levels', type: 'application/json', body: nested('[', ']', 100), error: null },
  {
    what: 'JSON of 100 levels of keys',
    type: 'application/json',
    body: `${'{"a":'.repeat(100)}${JSON.stringify(ATTACK)}${'}'.repeat(100)}`,
    error: null,
    found: true,
  },
  {
    what: 'JSON deeper than is read',
    type: 'application/json',
    body: nested('[', ']', 100_000),
    error: /^json: /,
  },
  {
    what: 'JSON that ends early',
    type: 'application/json',
    body: `{"a":${JSON.stringify(ATTACK)},"b":[`,
    error: /^json: /,
    found: true,
  },
  {
    what: 'JSON with a key twice',
    type: 'application/json',
    body: `{"a":"x","a":${JSON.stringify(ATTACK)}}`,
    error: null,
    found: true,
  },
  {
    what: 'a bomb of entities',
    type: 'text/xml',
    body: bomb(9),
    error: /^xml: its entities expand to more than/,
  },
  {
    what: 'an entity of a file',
    type: 'text/xml',
    body: '<!DOCTYPE r [<!ENTITY f SYSTEM "file:///etc/passwd">]><r>&f;</r>',
    error: /^xml: it declares an entity/,
    found: true,
  },
  { what: 'XML deeper than is read', type: 'text/xml', body: '<a>'.repeat(10_000), error: /^xml: / },
  {
    what: 'XML of 10,001 attributes',
    type: 'text/xml',
    body: `<r>${'<a b="1"/>'.repeat(10_001)}</r>`,
    error: /^xml: /,
  },
  {
    what: 'UTF-8 that is none, in a form',
    type: FORM,
    body: latin1(`a=\xc0\xaf\xed\xa0\x80\xff&b=${encodeURIComponent(ATTACK)}`),
    error: null,
    found: true,
  },
  {
    what: 'UTF-8 that is none, in JSON',
    type: 'application/json',
    body: latin1('{"a":"\xc3(\xff"}'),
    error: /^json: .*not UTF-8/,
  },
  {
    what: 'half a surrogate pair in JSON',
    type: 'application/json',
    body: `{"a":"\\ud800","b":${JSON.stringify(ATTACK)}}`,
    error: null,
    found: true,
  },
  {
    what: 'JSON in UTF-16 labelled as UTF-8',
    type: 'application/json; charset=utf-8',
    body: utf16(`{"a":${JSON.stringify(ATTACK)}}`),
    error: null,
    found: true,
  },
  { what: 'XML in UTF-16', type: 'text/xml', body: utf16(`<a>${ATTACK}</a>`), error: null, found: true },
  { what: 'a form in UTF-16', type: FORM, body: utf16(`a=${ATTACK}`), error: null },
  { what: 'a body of zero octets', type: FORM, body: new Uint8Array(100_000), error: null },
  { what: 'a body of one long line', type: 'text/plain', body: 'a'.repeat(1_048_576), error: null },
];

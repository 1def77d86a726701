/** The four ordinary requests whose inspection is timed, and crafted ones that make inspecting dear. */
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';

export interface WafSubject {
  readonly name: string;
  readonly request: EdgeRequest;
  readonly body: string;
}

const BROWSER = {
  'user-agent':
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'accept-language': 'en-GB,en;q=0.8,de;q=0.5',
  'accept-encoding': 'gzip, deflate, br',
  cookie: '_ga=GA1.2.1234567890.1710000000; session=3f9c1d5e7a2b4c6d8e0f; theme=dark',
  'sec-fetch-mode': 'navigate',
};

const WORDS =
  'the harbour market opens early and closes when the last boat has gone so bring a basket and some change for bread'.split(
    ' ',
  );

/** Prose of about so many octets that no signature minds. */
function prose(octets: number): string {
  let text = '';
  for (let at = 0; text.length < octets; at++) text += `${WORDS[(at * 7) % WORDS.length]} `;
  return text.slice(0, octets).trim();
}

function form(fields: Readonly<Record<string, string>>): string {
  return new URLSearchParams(fields).toString();
}

export function subject(
  name: string,
  target: string,
  posted: { type: string; body: string } | null,
): WafSubject {
  const headers: Record<string, string> = { host: 'shop.example', ...BROWSER };
  if (posted !== null) {
    headers['content-type'] = posted.type;
    headers['content-length'] = String(posted.body.length);
  }
  const method = posted === null ? 'GET' : 'POST';
  const request = { scheme: 'https', method, host: 'shop.example', target, headers, ip: '203.0.113.7' };
  return { name, request, body: posted?.body ?? '' };
}

const FORM = 'application/x-www-form-urlencoded';

export const ORDINARY: readonly WafSubject[] = [
  subject('GET', '/catalogue/chairs?page=3&sort=price&colour=dark+green', null),
  subject('form POST', '/account/address', {
    type: FORM,
    body: form({
      name: 'Jane Example',
      street: '12 Harbour Road',
      city: 'Springfield',
      postcode: '12345',
      country: 'GB',
      phone: '0123 456789',
      note: 'leave it with the neighbour please',
    }),
  }),
  subject('8 KB form', '/reviews', {
    type: FORM,
    body: form({ title: 'a visit', text: prose(7_000), place: 'harbour', more: prose(900) }),
  }),
  subject('8 KB JSON', '/api/reviews', {
    type: 'application/json',
    body: JSON.stringify({
      items: Array.from({ length: 64 }, (_, id) => ({
        id,
        title: prose(20),
        text: prose(60),
        tags: ['a', 'b'],
      })),
    }).slice(0, 1 << 20),
  }),
];

export const PIECES = [
  "'or'1'='1",
  'select ',
  '<script ',
  '../',
  '((((',
  '"`\'',
  'a.a.a.',
  '%u0041',
  '&#x41;',
  '\\x41',
  'union/**/all/**/',
  '{{7*7}}',
  '${jndi:',
  'http://1.2.3.4/',
  '; cat /etc/passwd ',
  'aaaaaaaa',
  '\r\nset-cookie: ',
  '<!--',
  "' and sleep(",
  'system(',
] as const;

/** One value of `octets` in a form, made of one attack-like piece over and over: what a filter by literals never passes. */
export function crafted(octets: number): readonly WafSubject[] {
  return PIECES.map((piece) => {
    const value = piece.repeat(Math.ceil(octets / piece.length)).slice(0, octets);
    return subject(`${octets >> 10} KB of \`${piece.trim()}\``, '/search', {
      type: FORM,
      body: form({ q: value }),
    });
  });
}

const ATTACK_WORDS = ['select', 'union', 'cat', 'eval', 'script', 'etc/passwd', 'onload', 'exec'] as const;

/** Fields of a list: short, and each another one, as many as go into so many octets. */
const FIELDS: Readonly<Record<string, (at: number) => string>> = {
  numbers: (at) => String((at * 7_919) % 100_003),
  words: (at) => scattered(at),
  titles: (at) => `Ab ${scattered(at)}`,
  quotes: (at) => `'${scattered(at).slice(0, 3)}`,
  marks: (at) => `${'\'"<`;|{\\'[at % 8]}${scattered(at).slice(0, 4)}`,
  'words of attacks': (at) => `${ATTACK_WORDS[at % ATTACK_WORDS.length]}${at}`,
  'SQL injections': (at) => `' or ${at}=${at}--`,
  escapes: (at) => `%u00${10 + (at % 90)}\\x${10 + (at % 70)}&#${at};`,
};

function scattered(at: number): string {
  return (Math.imul(at, 0x9e3779b1) >>> 0).toString(36);
}

/** Lists of many small fields, of `octets` in all, in every place of a request that holds one. */
export function craftedLists(octets: number): readonly WafSubject[] {
  return Object.entries(FIELDS).flatMap(([kind, field]) => {
    const name = (place: string): string => `${octets >> 10} KB of ${kind} as ${place}`;
    const posted = (place: string, type: string, body: string): WafSubject =>
      subject(name(place), '/search', { type, body });
    const cookies = subject(name('cookies'), '/search', null);
    const cookie = listOf(Math.min(octets, MAX_COOKIES), '; ', (at) => `c${at}=${field(at)}`);
    return [
      posted(
        'form fields',
        FORM,
        listOf(octets, '&', (at) => `a${at}=${encodeURIComponent(field(at))}`),
      ),
      posted('JSON items', JSON_TYPE, `[${listOf(octets, ',', (at) => JSON.stringify(field(at)))}]`),
      posted(
        'JSON members',
        JSON_TYPE,
        `{${listOf(octets, ',', (at) => `"k${at}":${JSON.stringify(field(at))}`)}}`,
      ),
      posted('parts', PARTS, `${listOf(octets, '', (at) => partOf(`a${at}`, field(at)))}--b--\r\n`),
      { ...cookies, request: { ...cookies.request, headers: { ...cookies.request.headers, cookie } } },
    ];
  });
}

const JSON_TYPE = 'application/json';
const PARTS = 'multipart/form-data; boundary=b';
/** Octets of a Cookie header: servers hardly take more in a head. */
const MAX_COOKIES = 16_000;

function partOf(name: string, value: string): string {
  return `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
}

/** What `make` gives for 0, 1, … until the octets are full. */
function listOf(octets: number, separator: string, make: (at: number) => string): string {
  const fields: string[] = [];
  for (let at = 0, size = 0; ; at++) {
    const field = make(at);
    size += field.length + separator.length;
    if (size > octets) return fields.join(separator);
    fields.push(field);
  }
}

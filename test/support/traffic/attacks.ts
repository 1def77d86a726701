/**
 * Attacks in bulk: what the signatures' examples hold, written in the ways attackers write it and put into every place
 * of a request. The same seed gives the same requests.
 */
import type { EdgeRequest } from '../../../src/engine/evaluator/request.ts';
import { type Random, seeded } from '../generate-random.ts';
import { signatureFamilies } from '../signature-fixtures.ts';
import { BROWSERS } from './clients.ts';

export const ATTACK_SPELLINGS = [
  'plain',
  'double url',
  'html entities',
  'mixed case',
  'comments',
  'tabs and lines',
  '%u escapes',
  'null octets',
] as const;
export type AttackSpelling = (typeof ATTACK_SPELLINGS)[number];

export const ATTACK_PLACES = [
  'query',
  'form',
  'json',
  'cookie',
  'header',
  'path',
  'multipart',
  'name',
] as const;
export type AttackPlace = (typeof ATTACK_PLACES)[number];

export interface AttackRequest {
  /** The signature whose example it is; another may be the one that finds it. */
  readonly id: number;
  readonly family: string;
  readonly spelling: AttackSpelling;
  readonly place: AttackPlace;
  readonly request: EdgeRequest;
}

/** Every text among the examples, in each spelling once, each time in another place. */
export function attackTraffic(seed = 7): readonly AttackRequest[] {
  const random = seeded(seed);
  const texts = signatureFamilies().flatMap(({ name, signatures }) =>
    signatures.flatMap(({ id, hits }) =>
      hits.flatMap((hit) => (typeof hit === 'string' ? [{ id, family: name, text: hit }] : [])),
    ),
  );
  return texts.flatMap(({ id, family, text }, index) =>
    ATTACK_SPELLINGS.map((spelling, turn) => {
      const place = ATTACK_PLACES[(index + turn) % ATTACK_PLACES.length]!;
      return {
        id,
        family,
        spelling,
        place,
        request: requestWith(random, { place, value: spell(random, spelling, text) }),
      };
    }),
  );
}

/** Another way to write a text; what the place itself encodes comes on top. */
function spell(random: Random, spelling: AttackSpelling, text: string): string {
  switch (spelling) {
    case 'plain':
      return text;
    case 'double url':
      return eachSign(text, (code) => `%${code.toString(16).padStart(2, '0')}`);
    case 'html entities':
      return eachSign(text, (code) => random.pick([`&#${code};`, `&#x${code.toString(16)};`, `&#0${code};`]));
    case 'mixed case':
      return [...text]
        .map((letter) => (random.chance(0.5) ? letter.toUpperCase() : letter.toLowerCase()))
        .join('');
    case 'comments':
      return text.replaceAll(' ', () => random.pick(['/**/', '/*x*/', ' ']));
    case 'tabs and lines':
      return text.replaceAll(' ', () => random.pick(['\t', '\n', '  ', '\r\n', '\v']));
    case '%u escapes':
      return eachSign(text, (code) => `%u${code.toString(16).padStart(4, '0')}`);
    case 'null octets':
      return [...text].map((letter) => (random.chance(0.1) ? `${letter}\0` : letter)).join('');
    default:
      return spelling satisfies never;
  }
}

/** Replaces each ASCII sign that is no letter and no digit. */
function eachSign(text: string, write: (code: number) => string): string {
  return text.replace(/[!-/:-@[-`{-~]/g, (sign) => write(sign.charCodeAt(0)));
}

function requestWith(
  random: Random,
  { place, value }: { readonly place: AttackPlace; readonly value: string },
): EdgeRequest {
  const headers = random.pick(BROWSERS);
  const base = { scheme: 'https', host: 'shop.example.com', ip: '192.0.2.66' };
  const get = (target: string, more: Readonly<Record<string, string>> = {}): EdgeRequest => {
    return { ...base, method: 'GET', target, headers: { ...headers, ...more } };
  };
  const post = (body: string, contentType: string): EdgeRequest => {
    const more = { 'content-type': contentType, 'content-length': String(Buffer.byteLength(body)) };
    return { ...base, method: 'POST', target: '/form', headers: { ...headers, ...more }, body };
  };
  const encoded = encodeURIComponent(value);
  switch (place) {
    case 'query':
      return get(`/list?id=${encoded}&page=1`);
    case 'name':
      return get(`/list?${encoded}=1`);
    case 'path':
      return get(`/item/${encoded}`);
    case 'cookie':
      return get('/', { cookie: `theme=dark; pref=${encoded}` });
    case 'header': {
      // Field values hold no line breaks: what would be one is left out.
      const line = value.replace(/[\r\n\0]+/g, ' ');
      return get('/', { [random.pick(['user-agent', 'referer', 'x-forwarded-for'])]: line });
    }
    case 'form':
      return post(`name=ann&text=${encoded}`, 'application/x-www-form-urlencoded');
    case 'json':
      return post(
        escapeSome(random, JSON.stringify({ name: 'ann', items: [{ text: value }] })),
        'application/json',
      );
    case 'multipart': {
      const part = `--edge7\r\nContent-Disposition: form-data; name="text"\r\n\r\n${value}\r\n--edge7--\r\n`;
      return post(part, 'multipart/form-data; boundary=edge7');
    }
    default:
      return place satisfies never;
  }
}

/** The same JSON, some of its letters as escapes. */
function escapeSome(random: Random, text: string): string {
  let last = '';
  return [...text]
    .map((letter) => {
      const plain = /[a-z<>']/.test(letter) && last !== '\\' && random.chance(0.1);
      last = letter === '\\' && last === '\\' ? '' : letter;
      return plain ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : letter;
    })
    .join('');
}

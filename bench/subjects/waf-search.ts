/**
 * A search for requests that make inspecting dear: values made of what each pattern of a program nearly matches, of its
 * literals and of what each transformation works hardest on, in every place a request has, and the dearest of them
 * changed again and again. Seeded, so that a run can be repeated.
 */
import { RE2JS } from 're2js';
import { type Instruction, type Program, readProgram } from '../../src/base/regex/program.ts';
import type { SignatureProgram, WafPattern } from '../../src/engine/plan/signature-program.ts';
import { approximate } from '../../src/engine/waf/seclang/pcre-approximate.ts';
import { type Random, seeded } from '../../test/support/generate-random.ts';
import { PIECES, subject, type WafSubject } from './waf-requests.ts';

/** A value of octets as Latin-1, and where it goes. */
export interface Attempt {
  readonly piece: string;
  readonly place: Place;
}

/** What one attempt came to. */
export interface Dear {
  readonly attempt: Attempt;
  readonly ms: number;
}

/** Where the whole is one value. */
export const VALUE_PLACES = ['form', 'query', 'cookie', 'header', 'json', 'xml', 'multipart'] as const;
/** Where it is cut into many small ones, of which each is judged by itself. */
export const LIST_PLACES = ['fields', 'items'] as const;
export type Place = (typeof VALUE_PLACES)[number] | (typeof LIST_PLACES)[number];

/** What transformations and parsers undo, comment marks that never close, and what looks like the insides of formats. */
const HARD = [
  '%25',
  '%u0027',
  '&#39;',
  '&lt',
  '\\u0027',
  '\\x27',
  '\\47',
  '/*',
  '*/',
  '--',
  '#',
  '/./',
  '//',
  '/a/../',
  '..\\',
  '0x27',
  'YWJj',
  '\0',
  '\xe2\x80\x98',
  '\xff',
  '^"',
  ' \t',
  '""',
  "''",
  '(',
  '[{',
  '<a ',
  '=',
  ';',
  '&&',
  '|',
  '$(',
] as const;

/** Nearly matches: characters on the way through a program that stops before its end. */
function nearMiss({ start, instructions }: Program, random: Random): string {
  let text = '';
  let pc = start;
  for (let step = 0; step < 400; step++) {
    const instruction: Instruction = instructions[pc]!;
    if (instruction.kind === 'match' || instruction.kind === 'fail') break;
    if (instruction.kind === 'split') pc = random.chance(2) ? instruction.out : instruction.other;
    else {
      if (instruction.kind === 'character') {
        const ranges = instruction.ranges;
        const pair = random.int(Math.min(ranges.length, 8) >> 1) * 2;
        const span = Math.min(ranges[pair + 1]!, 255) - ranges[pair]!;
        if (span >= 0) text += String.fromCharCode(ranges[pair]! + random.int(span + 1));
      }
      pc = instruction.out;
    }
    if (text.length >= 64) break;
  }
  return text.length > 1 && random.chance(2) ? text.slice(0, -1) : text;
}

function programOf({ source, ignoreCase, dotAll, backtrack }: WafPattern): Program {
  if (backtrack !== undefined) return approximate(backtrack);
  const flags = (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) | (dotAll ? RE2JS.DOTALL : 0);
  return readProgram(RE2JS.compile(source, flags));
}

/** Pieces to begin with: those that all rules share, and some of each pattern's own. */
function seedPieces({ patterns, literals }: SignatureProgram, random: Random): readonly string[] {
  const own = patterns.flatMap((pattern) => {
    const program = programOf(pattern);
    const required = pattern.required ?? [];
    const words = required.length === 0 ? [] : [literals[random.pick(required)]!];
    return [...random.times(3, () => nearMiss(program, random)), ...words];
  });
  return [...new Set([...PIECES, ...HARD, ...own])].filter((piece) => piece !== '');
}

function repeated(piece: string, octets: number): string {
  return piece.repeat(Math.ceil(octets / piece.length)).slice(0, octets);
}

/** Every octet that is not a plain letter or digit is written `%xx`. */
function escaped(text: string): string {
  return text.replace(/[^A-Za-z0-9]/g, (one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** A request that carries a piece over and over, in `octets` of value in all. */
export function requestOf({ piece, place }: Attempt, octets: number): WafSubject {
  const value = repeated(piece, octets);
  const name = `${octets >> 10} KB of \`${JSON.stringify(piece).slice(1, -1)}\` in ${place}`;
  switch (place) {
    case 'form':
      return subject(name, '/', { type: FORM, body: `q=${escaped(value)}` });
    case 'fields': {
      const fields = pieces(value, 80).map(
        (part, at) => `${at}${escaped(part.slice(40))}=${escaped(part.slice(0, 40))}`,
      );
      return subject(name, '/', { type: FORM, body: fields.join('&') });
    }
    case 'query':
      return subject(name, `/?q=${escaped(value).slice(0, MAX_HEAD)}`, null);
    case 'cookie':
      return withHeader(name, 'cookie', `a=${value.replace(/[;\r\n\0]/g, ' ').slice(0, MAX_HEAD)}`);
    case 'header':
      return withHeader(name, 'referer', value.replace(/[\r\n\0]/g, ' ').slice(0, MAX_HEAD));
    case 'json':
      return subject(name, '/', { type: JSON_TYPE, body: JSON.stringify({ q: value }) });
    case 'items':
      return subject(name, '/', {
        type: JSON_TYPE,
        body: JSON.stringify(pieces(value, 40).map((part, at) => `${at}${part}`)),
      });
    case 'xml': {
      const text = value.replace(/[<&]/g, (one) => (one === '<' ? '&lt;' : '&amp;'));
      return subject(name, '/', { type: 'text/xml', body: `<a>${text}</a>` });
    }
    case 'multipart': {
      const head = `--b\r\nContent-Disposition: form-data; name="q"\r\n\r\n`;
      return subject(name, '/', {
        type: 'multipart/form-data; boundary=b',
        body: `${head}${value}\r\n--b--\r\n`,
      });
    }
    default:
      return place satisfies never;
  }
}

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
/** Octets of a head: a target is at most 16 KiB, and a server's fields hardly more. */
const MAX_HEAD = 16_000;

function pieces(value: string, length: number): readonly string[] {
  return Array.from({ length: Math.ceil(value.length / length) }, (_, at) =>
    value.slice(at * length, (at + 1) * length),
  );
}

function withHeader(name: string, header: string, value: string): WafSubject {
  const plain = subject(name, '/', null);
  return { ...plain, request: { ...plain.request, headers: { ...plain.request.headers, [header]: value } } };
}

/** Another piece that is like those given: parts of two, one twice, or one with an octet changed. */
function changed(piece: string, other: string, random: Random): string {
  const at = random.int(piece.length + 1);
  switch (random.int(5)) {
    case 0:
      return (piece + other).slice(0, MAX_PIECE);
    case 1:
      return (piece.slice(0, at) + other + piece.slice(at)).slice(0, MAX_PIECE);
    case 2:
      return piece.length > 1 ? piece.slice(0, at) + piece.slice(at + 1) : piece;
    case 3:
      return piece.slice(0, at) + String.fromCharCode(random.int(256)) + piece.slice(at + 1);
    default:
      return repeated(piece, Math.min(MAX_PIECE, piece.length * 3)) + other.slice(0, 8);
  }
}

/** Characters of a piece: a long one is as good as a text without a period. */
const MAX_PIECE = 2_048;
/** Attempts that are changed again, and rounds of that. */
const KEPT = 24;
const ROUNDS = 12;

/** The dearest attempts, the dearest first; `timeOf` gives the milliseconds of one. */
export function search(
  program: SignatureProgram,
  timeOf: (attempt: Attempt) => number,
  { seed, places }: { readonly seed: number; readonly places: readonly Place[] },
): readonly Dear[] {
  const random = seeded(seed);
  const all = seedPieces(program, random);
  const tried = new Set<string>();
  let kept: Dear[] = [];
  const attempt = (one: Attempt): void => {
    const key = `${one.place} ${one.piece}`;
    if (tried.has(key)) return;
    tried.add(key);
    kept.push({ attempt: one, ms: timeOf(one) });
    if (kept.length >= 4 * KEPT) kept = dearest(kept);
  };
  for (const [at, piece] of all.entries()) attempt({ piece, place: places[at % places.length]! });
  for (let round = 0; round < ROUNDS; round++) {
    kept = dearest(kept);
    for (const { attempt: best } of [...kept]) {
      attempt({ ...best, place: random.pick(places) });
      attempt({ ...best, piece: changed(best.piece, random.pick(all), random) });
      attempt({ ...best, piece: changed(best.piece, random.pick(kept).attempt.piece, random) });
    }
  }
  return dearest(kept);
}

function dearest(found: readonly Dear[]): Dear[] {
  return [...found].sort((a, b) => b.ms - a.ms).slice(0, KEPT);
}

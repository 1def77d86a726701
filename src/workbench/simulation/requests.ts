/**
 * Evaluates a stream of requests: one JSON object per input line, one decision per output line, in order. Memory is
 * constant: only the current line is stored, and reading pauses while the output is not consumed.
 */
import { isAsn } from '../../base/addresses/asn.ts';
import { quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { MAX_ASN } from '../../base/vocabulary/limits.ts';
import { CREDENTIAL_KINDS, IDENTITY_FAILURES } from '../../base/vocabulary/vocabulary.ts';
import type { Decision } from '../../engine/evaluator/decision.ts';
import type { Evaluator } from '../../engine/evaluator/index.ts';
import type { EdgeRequest, RequestIdentity } from '../../engine/evaluator/request.ts';
import { sizeText } from '../../rules/files/size.ts';
import { isMapping } from '../../rules/files/yaml.ts';
import { nearest } from '../../rules/model/nearest.ts';
import { countAnswer } from './conditions.ts';
import { decisionDocument } from './decision-document.ts';

// Checks the fields of a request line. The evaluator accepts any value in any field, so without this check a
// misspelt field such as `contry` would be ignored.

/** The expected value of a field. */
interface Shape {
  /** The expected value, to follow `must be` in a message. */
  readonly is: string;
  readonly accepts: (value: unknown) => boolean;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

const TEXT: Shape = { is: 'text', accepts: isText };
const MAYBE_TEXT: Shape = { is: 'text or null', accepts: (value) => value === null || isText(value) };

/** The expected value of every field of a request. */
const SHAPES: Readonly<Record<keyof EdgeRequest, Shape>> = {
  scheme: TEXT,
  method: TEXT,
  id: TEXT,
  host: { is: 'text, or a list of texts', accepts: (value) => isText(value) || isTexts(value) },
  target: TEXT,
  protocol: TEXT,
  port: {
    is: 'a port, 1 to 65535',
    accepts: (value) => Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536,
  },
  headers: {
    is: 'an object of lower-case names, each with a text or a list of texts',
    accepts: (value) => isMapping(value) && Object.values(value).every((one) => isText(one) || isTexts(one)),
  },
  ip: MAYBE_TEXT,
  country: MAYBE_TEXT,
  asn: {
    is: `null, or the number of an autonomous system, 1 to ${MAX_ASN}`,
    accepts: (value) => value === null || isAsn(value),
  },
  bot: { is: 'null, or an object like {"kind":"gptbot","verified":true}', accepts: isBot },
  ja4: MAYBE_TEXT,
  ja4h: MAYBE_TEXT,
  body: MAYBE_TEXT,
  bodyError: MAYBE_TEXT,
  bodyTruncated: { is: 'true or false', accepts: (value) => typeof value === 'boolean' },
  now: { is: 'milliseconds since the epoch, a number', accepts: Number.isFinite },
  cleared: { is: 'a list of texts such as ["captcha/9"]', accepts: isTexts },
  identity: { is: 'null, or an object like {"consumer":"acme","scopes":["read"]}', accepts: isIdentity },
};
const NAMES = Object.keys(SHAPES) as readonly (keyof EdgeRequest)[];

/** `null`, or an object with `kind` and optionally `verified`. */
function isBot(value: unknown): boolean {
  if (value === null) return true;
  if (!isMapping(value) || Object.keys(value).some((key) => key !== 'kind' && key !== 'verified'))
    return false;
  return isText(value['kind']) && ['boolean', 'undefined'].includes(typeof value['verified']);
}

const IDENTITY: Readonly<Record<keyof RequestIdentity, (value: unknown) => boolean>> = {
  consumer: MAYBE_TEXT.accepts,
  verified: (value) => isTexts(value) && (value as string[]).every((kind) => isOneOf(CREDENTIAL_KINDS, kind)),
  keyId: isText,
  claims: isMapping,
  scopes: isTexts,
  failure: (value) => value === null || isOneOf(IDENTITY_FAILURES, value),
  exhaustedUntil: (value) => value === null || isTime(value),
};

/** Whether a value is a time that has a text, in milliseconds since the epoch. */
function isTime(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 253_402_300_799_999;
}

function isOneOf(list: readonly string[], value: unknown): boolean {
  return isText(value) && list.includes(value as string);
}

/** `null`, or an object with `consumer` and optionally what was verified. */
function isIdentity(value: unknown): boolean {
  if (value === null) return true;
  if (!isMapping(value) || !Object.hasOwn(value, 'consumer')) return false;
  return Object.entries(value).every(
    ([name, field]) => IDENTITY[name as keyof RequestIdentity]?.(field) === true,
  );
}

/** The first mistake in the fields of a line; `null`: no mistake. An absent field is unknown. */
export function requestMistake(line: Readonly<Record<string, unknown>>): string | null {
  for (const name of Object.keys(line)) {
    const known = NAMES.find((one) => one === name);
    if (known === undefined) {
      const closest = nearest(name, NAMES);
      const remedy = closest === null ? `the fields are ${NAMES.join(', ')}` : `did you mean \`${closest}\`?`;
      return `${quoteValue(name)} is not a field of a request; ${remedy}`;
    }
    const { is, accepts } = SHAPES[known];
    if (!accepts(line[name])) return `\`${name}\` must be ${is}, found ${quoteValue(line[name])}`;
  }
  return null;
}

/**
 * The longest line in octets. A request with a 16 KiB target, 64 KiB of headers and a 1 MiB body is shorter even if
 * every octet is escaped.
 */
export const LONGEST_LINE = 8 * 1024 * 1024;

/** The format of a line of output. */
const SIMULATION_FORMAT = 'edgeplan.simulation/v1';

/** A decision, or the mistake of its line. Lines count from 1. */
export type RequestResult =
  | { readonly line: number; readonly request: EdgeRequest; readonly decision: Decision }
  | { readonly line: number; readonly error: string };

/** One line of input. */
export interface Bytes {
  readonly line: number;
  /** `null`: longer than `LONGEST_LINE`. */
  readonly bytes: Uint8Array | null;
}

const NEWLINE = 0x0a;

/** Concatenates the pieces of a line; a single piece is not copied. */
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const only = pieces[0];
  if (only !== undefined && pieces.length === 1) return only;
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** Yields the lines that end in each chunk. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Bytes[]> {
  let line = 1;
  let pieces: Uint8Array[] = [];
  let size = 0;
  const append = (piece: Uint8Array) => {
    size += piece.length;
    if (size > LONGEST_LINE) pieces = [];
    else if (piece.length > 0) pieces.push(piece);
  };
  const finish = (): Bytes => {
    const done = { line, bytes: size > LONGEST_LINE ? null : joined(pieces) };
    line += 1;
    pieces = [];
    size = 0;
    return done;
  };
  for await (const chunk of chunks) {
    const lines: Bytes[] = [];
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      append(chunk.subarray(from, at));
      lines.push(finish());
      from = at + 1;
    }
    // A copy, because the stream may reuse the chunk's buffer.
    append(new Uint8Array(chunk.subarray(from)));
    if (lines.length > 0) yield lines;
  }
  if (size > 0) yield [finish()];
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** A request of a line, with the status of the response to it if it is forwarded; `null`: not given. */
interface StatedRequest {
  readonly request: EdgeRequest;
  readonly status: number | null;
}

/** Parses a line: a request, `null` for a blank line, or a message. */
function readLine(bytes: Uint8Array): StatedRequest | string | null {
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    return 'the line is not UTF-8';
  }
  if (text.trim() === '') return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'the line is not JSON; write one request as a JSON object on each line';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'the line is JSON but not an object; write one request as a JSON object on each line';
  }
  const { status = null, ...request } = value as Readonly<Record<string, unknown>>;
  if (status !== null && !isStatus(status))
    return `\`status\` must be null, or the status of the response, 100 to 599, found ${quoteValue(status)}`;
  const mistake = requestMistake(request);
  return mistake ?? { request: request as unknown as EdgeRequest, status };
}

function isStatus(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 100 && Number(value) <= 599;
}

/** A request, or the mistake of its line. */
export type Read =
  | ({ readonly line: number } & StatedRequest)
  | { readonly line: number; readonly error: string };

/** Parses a line with its number; `null` for a blank line. */
function read({ line, bytes }: Bytes): Read | null {
  if (bytes === null) return { line, error: `the line is longer than ${sizeText(LONGEST_LINE)}` };
  const stated = readLine(bytes);
  if (stated === null) return null;
  return typeof stated === 'string' ? { line, error: stated } : { line, ...stated };
}

/** Yields the requests of each chunk in order, without blank lines. Lines count from 1, blank lines included. */
export async function* requests(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Read[]> {
  for await (const lines of linesOf(chunks)) yield lines.flatMap((source) => read(source) ?? []);
}

/** Yields the decisions of each chunk in order. */
export async function* answers(
  chunks: AsyncIterable<Uint8Array>,
  evaluator: Evaluator,
): AsyncGenerator<readonly RequestResult[]> {
  for await (const asked of requests(chunks)) {
    yield asked.map((one) => {
      if ('error' in one) return one;
      const decision = evaluator.evaluate(one.request);
      countAnswer(evaluator, decision, one.status);
      return { ...one, decision };
    });
  }
}

/** The result as a line of JSON: the request with its decision, or the mistake of its line. */
export function answerJson(answer: RequestResult): string {
  const { line } = answer;
  if ('error' in answer) return JSON.stringify({ format: SIMULATION_FORMAT, line, error: answer.error });
  const request = requestText(answer.request);
  const decision = decisionDocument(answer.decision);
  return JSON.stringify({ format: SIMULATION_FORMAT, line, request, decision });
}

/** `GET https://shop.example.com/api`; what is absent is left out. */
export function requestText({
  method = '',
  scheme = '',
  host = '',
  target = '',
}: Partial<EdgeRequest>): string {
  const address = scheme === '' ? `${String(host)}${target}` : `${scheme}://${String(host)}${target}`;
  return method === '' ? address : `${method} ${address}`;
}

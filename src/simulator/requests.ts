/**
 * Decisions for a stream of requests, one JSON object a line in, one answer a line out, in order. Memory stays
 * constant: a line is held only while it is read, and nothing is read while the reader of the answers is behind.
 */
import type { Decision } from '../evaluator/decision.ts';
import type { Evaluator } from '../evaluator/index.ts';
import type { EdgeRequest } from '../evaluator/request.ts';
import { sizeText } from '../files/size.ts';
import { requestMistake } from './request-fields.ts';

/** Octets of one line. A request of 16 KiB target, 64 KiB headers and 1 MiB body, each octet escaped, is below it. */
export const LONGEST_LINE = 8 * 1024 * 1024;

export type RequestResult =
  | { readonly line: number; readonly decision: Decision }
  | { readonly line: number; readonly error: string };

/** One line as it came. */
export interface Bytes {
  readonly line: number;
  /** `null`: longer than `LONGEST_LINE`. */
  readonly bytes: Uint8Array | null;
}

const NEWLINE = 0x0a;

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

/** The lines that end in each chunk. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Bytes[]> {
  let line = 1;
  let held: Uint8Array[] = [];
  let size = 0;
  const take = (piece: Uint8Array) => {
    size += piece.length;
    if (size > LONGEST_LINE) held = [];
    else if (piece.length > 0) held.push(piece);
  };
  const finish = (): Bytes => {
    const done = { line, bytes: size > LONGEST_LINE ? null : joined(held) };
    line += 1;
    held = [];
    size = 0;
    return done;
  };
  for await (const chunk of chunks) {
    const lines: Bytes[] = [];
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      take(chunk.subarray(from, at));
      lines.push(finish());
      from = at + 1;
    }
    // A copy: the rest outlives the chunk, whose buffer the stream may use again.
    take(new Uint8Array(chunk.subarray(from)));
    if (lines.length > 0) yield lines;
  }
  if (size > 0) yield [finish()];
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** A request, `null` for a blank line, or what is wrong with the line. */
function readLine(bytes: Uint8Array): EdgeRequest | string | null {
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
  return requestMistake(value as Readonly<Record<string, unknown>>) ?? (value as EdgeRequest);
}

/** A request, or what is wrong with its line. */
export type Read =
  | { readonly line: number; readonly request: EdgeRequest }
  | { readonly line: number; readonly error: string };

function read({ line, bytes }: Bytes): Read | null {
  if (bytes === null) return { line, error: `the line is longer than ${sizeText(LONGEST_LINE)}` };
  const request = readLine(bytes);
  if (request === null) return null;
  return typeof request === 'string' ? { line, error: request } : { line, request };
}

/** The requests of each chunk, in order; blank lines have none. Lines count from 1, blank ones included. */
export async function* requests(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Read[]> {
  for await (const lines of linesOf(chunks)) yield lines.flatMap((source) => read(source) ?? []);
}

/** The answers of each chunk, in order. */
export async function* answers(
  chunks: AsyncIterable<Uint8Array>,
  evaluator: Evaluator,
): AsyncGenerator<readonly RequestResult[]> {
  for await (const asked of requests(chunks)) {
    yield asked.map((one) =>
      'error' in one ? one : { line: one.line, decision: evaluator.evaluate(one.request) },
    );
  }
}

/** An answer as JSON: the decision itself, or `{ "error", "line" }`. */
export function answerJson(answer: RequestResult): string {
  return JSON.stringify('error' in answer ? { error: answer.error, line: answer.line } : answer.decision);
}

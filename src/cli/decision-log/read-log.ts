/**
 * Reads decision logs of nodes. Every line is checked; a line that is no decision is returned with its number and
 * the reason.
 */
import { countedMistake, decisionMistake } from '../../control/logs/entry-schema.ts';
import { COUNTED_FORMAT, type CountedLine } from '../../edge/following/counted-requests.ts';
import { type DecisionLine, GAP_FORMAT, LINE_FORMAT } from '../../edge/proxy/log/line.ts';
import { sizeText } from '../../rules/files/size.ts';
import { isMapping } from '../../rules/files/yaml.ts';
import { type Bytes, LONGEST_LINE, linesOf, requestMistake } from '../../workbench/simulation/requests.ts';
import { readChunks } from '../input/read-file.ts';

/** A decision, a number of requests, a note of dropped lines, or a line that cannot be read. */
export type LogEntry =
  | { readonly kind: 'decision'; readonly line: DecisionLine }
  | { readonly kind: 'counted'; readonly line: CountedLine }
  | { readonly kind: 'gap'; readonly dropped: number }
  | { readonly kind: 'unreadable'; readonly at: string; readonly reason: string };

/** Yields the entries of one log in order; `-` is stdin. Memory is constant. @throws CommandFault */
export async function* readLog(file: string): AsyncGenerator<readonly LogEntry[]> {
  for await (const lines of linesOf(readChunks(file))) {
    yield lines.flatMap((line) => readEntry(line, file) ?? []);
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

const NOT_JSON = 'the line is not JSON; a write was cut short, or this is another file';

/** Parses a line of octets; `null` for an empty one. */
function readEntry({ line, bytes }: Bytes, file: string): LogEntry | null {
  const at = `${file}:${line}`;
  if (bytes === null)
    return { kind: 'unreadable', at, reason: `the line is longer than ${sizeText(LONGEST_LINE)}` };
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    return { kind: 'unreadable', at, reason: NOT_JSON };
  }
  return readDecisionLine(text, at);
}

/** Parses a line; `null` for an empty one. `at`: its file and number. */
export function readDecisionLine(text: string, at: string): LogEntry | null {
  const unreadable = (reason: string): LogEntry => ({ kind: 'unreadable', at, reason });
  if (text === '') return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return unreadable(NOT_JSON);
  }
  if (!isMapping(value)) return unreadable('the line is JSON but not an object');
  if (value['format'] === GAP_FORMAT) return { kind: 'gap', dropped: Number(value['dropped']) || 0 };
  if (value['format'] === COUNTED_FORMAT) {
    const mistake = countedMistake(value);
    return mistake === null
      ? { kind: 'counted', line: value as unknown as CountedLine }
      : unreadable(mistake);
  }
  if (value['format'] !== LINE_FORMAT) {
    return unreadable(`the line is not \`${LINE_FORMAT}\`, which is what this version reads`);
  }
  const mistake = mistakeOf(value);
  if (mistake !== null) return unreadable(mistake);
  return { kind: 'decision', line: value as unknown as DecisionLine };
}

type Fields = Readonly<Record<string, unknown>>;

/** The first mistake in the fields of a decision; `null` when there is none. */
function mistakeOf(line: Fields): string | null {
  for (const name of ['id', 'time'] as const) {
    if (typeof line[name] !== 'string') return `\`${name}\` must be text`;
  }
  for (const name of ['matches', 'withheld'] as const) {
    if (!Array.isArray(line[name])) return `\`${name}\` must be a list`;
  }
  const { request, decision } = line;
  if (request === null && decision === null) return decisionMistake(line, 'file');
  if (!isMapping(request)) return '`request` must be an object, or null together with `decision`';
  if (!isMapping(decision) || typeof decision['action'] !== 'string') return '`decision` must be an object';
  return requestMistake(request) ?? decisionMistake(line, 'file');
}

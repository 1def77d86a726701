/** `edgeplan simulate --requests`: evaluates a stream of requests and prints one decision per line. */
import type { Decision } from '../../engine/evaluator/decision.ts';
import type { World } from '../../workbench/simulation/conditions.ts';
import { headline } from '../../workbench/simulation/describe.ts';
import { quantity, visible } from '../../workbench/simulation/render-text.ts';
import { answerJson, answers, type RequestResult, requestText } from '../../workbench/simulation/requests.ts';
import { fixedEvaluator, type SimulationSubject } from '../../workbench/simulation/simulate.ts';
import { readChunks } from '../input/read-file.ts';
import { note, write } from '../output.ts';
import type { FailOn } from './fail-on.ts';

/** Options of `simulateStream`. */
export interface SimulateStreamOptions {
  /** A file of requests, or `-`. */
  readonly requests: string;
  readonly world: World;
  /** Whether to print JSON instead of text. */
  readonly json: boolean;
  readonly failOn: FailOn;
}

/** A result as one line of text. */
function answerText(answer: RequestResult, subject: SimulationSubject): string {
  if ('error' in answer) return visible(`ERROR      line ${answer.line}: ${answer.error}`);
  return sentenceOf(answer.decision, { subject });
}

/** `BLOCK      Blocked with 403 by drop #57`: a decision as one line of text, with its request if it is given. */
export function sentenceOf(
  decision: Decision,
  { subject, request }: { readonly subject: SimulationSubject; readonly request?: string },
): string {
  const { action, text } = headline(decision, { sources: subject.sources, note: null });
  const asked = request === undefined ? '' : `${request}  `;
  return visible(`${action.toUpperCase().padEnd(9)}  ${asked}${text}`);
}

/** Line numbers of unreadable lines that the note at the end lists. */
const LINES_LISTED = 10;

/** The note about unreadable lines. */
function unreadNote(
  unread: { readonly count: number; readonly first: readonly number[] },
  all: number,
): string {
  const lines = unread.first.join(', ') + (unread.count > unread.first.length ? ', …' : '');
  const named = `${unread.count === 1 ? 'line' : 'lines'} ${lines}`;
  return `edgeplan: ${unread.count} of ${quantity(all, 'line')} could not be read (${named})`;
}

/**
 * Evaluates every line with one evaluator. Resolves to whether every line was a request; unreadable lines are noted
 * on stderr.
 */
export async function simulateStream(
  subject: SimulationSubject,
  options: SimulateStreamOptions,
): Promise<boolean> {
  const evaluator = fixedEvaluator(subject, options.world);
  const unread = { count: 0, first: [] as number[] };
  let all = 0;
  for await (const batch of answers(readChunks(options.requests), evaluator)) {
    all += batch.length;
    const lines = batch.map((answer) => {
      if (!('error' in answer)) {
        options.failOn.add(answer.decision, `line ${answer.line}, ${requestText(answer.request)}`);
      } else if (++unread.count <= LINES_LISTED) unread.first.push(answer.line);
      return options.json ? answerJson(answer) : answerText(answer, subject);
    });
    await write(lines.map((line) => `${line}\n`).join(''));
  }
  if (unread.count > 0) note(unreadNote(unread, all));
  return unread.count === 0;
}

/** `edgeplan simulate --requests`: a stream of requests in, a stream of decisions out. */
import type { World } from '../../simulator/assume.ts';
import { headline } from '../../simulator/describe.ts';
import { quantity, visible } from '../../simulator/render-text.ts';
import { answerJson, answers, type RequestResult } from '../../simulator/requests.ts';
import { fixedEvaluator, type SimulationSubject } from '../../simulator/simulate.ts';
import { readChunks } from '../input/read-file.ts';
import { note, write } from '../output.ts';

export interface SimulateStreamOptions {
  /** A file of requests, or `-`. */
  readonly requests: string;
  readonly world: World;
  readonly json: boolean;
}

function answerText(answer: RequestResult, subject: SimulationSubject): string {
  if ('error' in answer) return visible(`ERROR      line ${answer.line}: ${answer.error}`);
  const { action, text } = headline(answer.decision, { sources: subject.sources, note: null });
  return visible(`${action.toUpperCase().padEnd(9)}  ${text}`);
}

/** Line numbers told at the end; the others can be found among the answers. */
const LINES_TOLD = 10;

function unreadNote(
  unread: { readonly count: number; readonly first: readonly number[] },
  all: number,
): string {
  const lines = unread.first.join(', ') + (unread.count > unread.first.length ? ', …' : '');
  const named = `${unread.count === 1 ? 'line' : 'lines'} ${lines}`;
  return `edgeplan: ${unread.count} of ${quantity(all, 'line')} could not be read (${named})`;
}

/**
 * Answers every line, one evaluator for all. Resolves to whether every line was a request; which were not is told on
 * stderr.
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
      if ('error' in answer && ++unread.count <= LINES_TOLD) unread.first.push(answer.line);
      return options.json ? answerJson(answer) : answerText(answer, subject);
    });
    await write(lines.map((line) => `${line}\n`).join(''));
  }
  if (unread.count > 0) note(unreadNote(unread, all));
  return unread.count === 0;
}

/** `edgeplan simulate --requests`: a stream of requests in, a stream of decisions out. */
import type { World } from '../../simulator/assume.ts';
import { headline } from '../../simulator/describe.ts';
import { visible } from '../../simulator/render-text.ts';
import { type Answer, answerJson, answers } from '../../simulator/requests.ts';
import { fixedEvaluator, type Subject } from '../../simulator/simulate.ts';
import { write } from '../output.ts';
import { readChunks } from '../read-file.ts';

export interface StreamOptions {
  /** A file of requests, or `-`. */
  readonly requests: string;
  readonly world: World;
  readonly json: boolean;
}

function answerText(answer: Answer, subject: Subject): string {
  if ('error' in answer) return `ERROR      line ${answer.line}: ${answer.error}`;
  const { action, text } = headline(answer.decision, { sources: subject.sources, note: null });
  return visible(`${action.toUpperCase().padEnd(9)}  ${text}`);
}

/** Answers every line, one evaluator for all. Resolves to whether every line was a request. */
export async function simulateStream(subject: Subject, options: StreamOptions): Promise<boolean> {
  const evaluator = fixedEvaluator(subject.bytes, options.world);
  let clean = true;
  for await (const batch of answers(readChunks(options.requests), evaluator)) {
    const lines = batch.map((answer) => {
      clean &&= !('error' in answer);
      return options.json ? answerJson(answer) : answerText(answer, subject);
    });
    await write(lines.map((line) => `${line}\n`).join(''));
  }
  return clean;
}

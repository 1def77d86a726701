/** `edgeplan simulate URL URL …`: evaluates several requests in order and prints one decision per line. */
import type { EdgeRequest } from '../../engine/evaluator/request.ts';
import type { World } from '../../workbench/simulation/conditions.ts';
import { answerJson, requestText } from '../../workbench/simulation/requests.ts';
import { classified, fixedEvaluator, type SimulationSubject } from '../../workbench/simulation/simulate.ts';
import { write } from '../output.ts';
import type { FailOn } from './fail-on.ts';
import { sentenceOf } from './stream.ts';

/** Options of `simulateSeveral`. */
export interface SeveralOptions {
  readonly world: World;
  /** Whether to print JSON instead of text. */
  readonly json: boolean;
  readonly failOn: FailOn;
}

/** Evaluates the requests with one evaluator, so that its rate counters count all of them. */
export async function simulateSeveral(
  subject: SimulationSubject,
  requests: readonly EdgeRequest[],
  { world, json, failOn }: SeveralOptions,
): Promise<void> {
  const evaluator = fixedEvaluator(subject, world);
  for (const [index, given] of requests.entries()) {
    const { request } = classified(subject, { request: given, url: '', world });
    const decision = evaluator.evaluate(request);
    const name = requestText(request);
    failOn.add(decision, name);
    const line = json
      ? answerJson({ line: index + 1, request, decision })
      : sentenceOf(decision, { subject, request: name });
    await write(`${line}\n`);
  }
}

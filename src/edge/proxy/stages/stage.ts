/** A stage of a request's way through the edge, and how a list of stages runs. */
import type { EdgeAnswer } from '../../../base/http/response.ts';

/** The answer with which a stage ends the request's way; `null`: the next stage runs. */
export type StageResult = EdgeAnswer | null | Promise<EdgeAnswer | null>;

export interface Stage<Context> {
  /** What the stage does, for readers of the list. */
  readonly name: string;
  readonly run: (context: Context) => StageResult;
}

/**
 * Runs the stages in order until one returns an answer, and returns that answer; `null`: no stage returned one.
 * PERF: returns a promise only if a stage did; most requests have reached their origin when this returns.
 */
export function runStages<Context>(
  stages: readonly Stage<Context>[],
  context: Context,
  from = 0,
): StageResult {
  for (let at = from; at < stages.length; at++) {
    const result = stages[at]!.run(context);
    if (result instanceof Promise) {
      return result.then((answer) => answer ?? runStages(stages, context, at + 1));
    }
    if (result !== null) return result;
  }
  return null;
}

/** What both sides of a comparison must agree on before either is timed. */
import type { Decision } from '../../src/engine/evaluator/decision.ts';

/** How a request ends, which rule ended it, and every rule that matched on the way. */
export interface Answer {
  readonly action: string;
  readonly type: string | null;
  readonly id: number | null;
  /** `null`: the side does not tell. */
  readonly matched: readonly number[] | null;
}

export function answerOf(decision: Decision): Answer {
  return {
    action: decision.action,
    type: decision.rule?.type ?? null,
    id: decision.rule?.id ?? null,
    matched: decision.matches.map((match) => match.id),
  };
}

/** Two ways to answer the same requests. */
export interface Pair<Input> {
  readonly names: readonly [string, string];
  a(input: Input): Answer | Promise<Answer>;
  b(input: Input): Answer | Promise<Answer>;
}

/**
 * Asks both sides about every entry of the sample.
 * @throws Error naming the first entry they disagree on
 */
export async function agree<Input>(sample: readonly Input[], pair: Pair<Input>): Promise<void> {
  for (const [index, input] of sample.entries()) {
    const left = await pair.a(input);
    const right = await pair.b(input);
    if (isSame(left, right)) continue;
    const told = pair.names.map((name, side) => `${name}: ${JSON.stringify(side === 0 ? left : right)}`);
    throw new Error(`the sides disagree on entry ${index}, ${JSON.stringify(input)}\n  ${told.join('\n  ')}`);
  }
}

function isSame(left: Answer, right: Answer): boolean {
  if (left.action !== right.action || left.type !== right.type || left.id !== right.id) return false;
  if (left.matched === null || right.matched === null) return true;
  return left.matched.join() === right.matched.join();
}

/** Stops on a bug of ours: never used for a customer's input or for the world failing. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`bug: ${message}`);
}

/** The end of a `switch` over a closed list. */
export function unreachable(value: never): never {
  throw new Error(`bug: unexpected ${String(value)}`);
}

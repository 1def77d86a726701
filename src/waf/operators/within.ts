/** The value stands somewhere in the argument; an empty one always does. */
export function within(value: string, argument: string): boolean {
  return argument.includes(value);
}

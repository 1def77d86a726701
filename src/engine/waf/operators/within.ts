/** The operator `@within`: the value occurs in the argument; an empty value always does. */
export function within(value: string, argument: string): boolean {
  return argument.includes(value);
}

/** The operators `@contains` and `@strmatch`: the argument occurs in the value; an empty argument always does. */
export function contains(value: string, argument: string): boolean {
  return value.includes(argument);
}

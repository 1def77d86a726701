/** The argument stands somewhere in the value. `@strmatch` is the same. */
export function contains(value: string, argument: string): boolean {
  return value.includes(argument);
}

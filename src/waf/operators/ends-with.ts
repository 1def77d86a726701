/** The value ends with the argument. */
export function endsWith(value: string, argument: string): boolean {
  return value.endsWith(argument);
}

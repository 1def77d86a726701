/** The value begins with the argument. */
export function beginsWith(value: string, argument: string): boolean {
  return value.startsWith(argument);
}

/** The operator `@beginsWith`: the value begins with the argument, octet for octet. */
export function beginsWith(value: string, argument: string): boolean {
  return value.startsWith(argument);
}

/** The operator `@endsWith`: the value ends with the argument, octet for octet. */
export function endsWith(value: string, argument: string): boolean {
  return value.endsWith(argument);
}

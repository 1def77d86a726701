/** The operator `@streq`: the value equals the argument, octet for octet. */
export function streq(value: string, argument: string): boolean {
  return value === argument;
}

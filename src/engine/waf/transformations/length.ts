/** The transformation `length`: replaces the value by its length in octets, in decimal. */
export function length(value: string): string {
  return String(value.length);
}

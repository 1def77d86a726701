/** The number of octets, in decimal. */
export function length(value: string): string {
  return String(value.length);
}

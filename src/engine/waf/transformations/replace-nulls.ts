/** The transformation `replaceNulls`: replaces each NUL octet by a space. */
export function replaceNulls(value: string): string {
  return value.indexOf('\0') < 0 ? value : value.replaceAll('\0', ' ');
}

/** NUL octets become spaces. */
export function replaceNulls(value: string): string {
  return value.indexOf('\0') < 0 ? value : value.replaceAll('\0', ' ');
}

/** A number and its noun, in the plural where it is not one: `1 domain`, `2 domains`. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Formats sizes in octets for messages. */

const KIB = 1024;
const MIB = 1024 * 1024;

/** One decimal, none for whole numbers. */
function rounded(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}

/** `648 octets`, `3.5 KiB (3584 octets)`, `4 MiB (4194304 octets)`; an odd part of a unit has one decimal. */
export function sizeText(octets: number): string {
  const exact = `${octets} ${octets === 1 ? 'octet' : 'octets'}`;
  if (octets < KIB) return exact;
  return `${octets < MIB ? `${rounded(octets / KIB)} KiB` : `${rounded(octets / MIB)} MiB`} (${exact})`;
}

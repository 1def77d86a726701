import { latin1Text, scratchOctets } from '../octets/latin1.ts';

/** `value` without the octets that `isDropped` names. */
export function dropOctets(value: string, isDropped: (code: number) => boolean): string {
  let at = 0;
  while (at < value.length && !isDropped(value.charCodeAt(at))) at++;
  if (at === value.length) return value;
  const octets = scratchOctets(value.length);
  let count = 0;
  for (let index = at + 1; index < value.length; index++) {
    const code = value.charCodeAt(index);
    if (!isDropped(code)) octets[count++] = code;
  }
  return value.slice(0, at) + latin1Text(octets, 0, count);
}

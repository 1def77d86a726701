/** Decodes strings of a plan. */
import type { Plan } from './layout.ts';

/** Characters turned into a string at a time; more would overflow the stack of arguments. */
const CHUNK = 4096;

/** String `number` of the plan. */
export function decodeString(plan: Plan, number: number): string {
  const offset = plan.strings[number * 2]!;
  const tagged = plan.strings[number * 2 + 1]!;
  const units = (tagged & 1) === 1 ? plan.text16 : plan.text8;
  const end = offset + (tagged >>> 1);
  let text = '';
  for (let at = offset; at < end; at += CHUNK) {
    text += String.fromCharCode(...units.subarray(at, Math.min(end, at + CHUNK)));
  }
  return text;
}

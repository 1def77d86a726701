/** What clearance is signed with, as a control plane says it. */
import type { Secrets } from '../../answers/challenge/keys.ts';
import type { Clearance } from './identity.ts';

export function secretsOf({ current, previous }: Clearance): Secrets {
  const octets = (text: string): Buffer => Buffer.from(text, 'base64');
  return { current: octets(current), previous: previous === null ? null : octets(previous) };
}

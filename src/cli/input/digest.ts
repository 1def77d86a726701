/** How files are named by what they hold. */
import { createHash } from 'node:crypto';

/** `sha256:` and 64 hex digits. */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

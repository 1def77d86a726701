/** Digests of file contents. */
import { createHash } from 'node:crypto';

/** The SHA-256 of some octets: `sha256:` and 64 hex digits. */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

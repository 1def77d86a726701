/** Digests of file contents. */
import { sha256Hex } from '../../base/platform/cryptography.ts';

/** The SHA-256 of some octets: `sha256:` and 64 hex digits. */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${sha256Hex(bytes)}`;
}

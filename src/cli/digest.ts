/** How files are named by what they hold. */
import { sha256Hex } from '../platform/sha256.ts';

/** `sha256:` and 64 hex digits. */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${sha256Hex(bytes)}`;
}

/** The transformation `normalizePathWin`. */
import { normalizePath } from './normalize-path.ts';

/** Converts every `\` to `/`, then normalises as `normalizePath` does. */
export function normalizePathWin(value: string): string {
  return normalizePath(value.indexOf('\\') < 0 ? value : value.replaceAll('\\', '/'));
}

import { normalizePath } from './normalize-path.ts';

/** As `normalizePath`, with `\` read as `/`. */
export function normalizePathWin(value: string): string {
  return normalizePath(value.indexOf('\\') < 0 ? value : value.replaceAll('\\', '/'));
}

/** The name of a list (semantics §13), with `@` before it where an entry of its kind may be. */
import { MAX_LIST_NAME_CHARACTERS } from '../../base/vocabulary/limits.ts';
import type { Problem } from './report.ts';

/** Whether an entry names a list. */
export function namesList(entry: string | number): entry is string {
  return typeof entry === 'string' && entry.startsWith('@');
}

/** What is wrong with the name of a list, without `@`; `null`: nothing. */
export function judgeListName(name: string): Problem | null {
  if (name.length <= MAX_LIST_NAME_CHARACTERS && /^[a-z0-9][a-z0-9_-]*$/.test(name)) return null;
  const message = `must be the name of a list: at most ${MAX_LIST_NAME_CHARACTERS} lower-case letters, digits, \`-\` and \`_\`, the first a letter or digit`;
  return { code: 'list_name', message };
}

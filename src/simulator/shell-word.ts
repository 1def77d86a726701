/** Words of commands that are printed for pasting. */

/** A text as a POSIX shell takes it. */
export function shellWord(text: string): string {
  return /^[\w./@%+,:-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Quotes words of commands that are printed for pasting. */

/** A text as one word of a POSIX shell: unquoted if that is safe, else in single quotes. */
export function shellWord(text: string): string {
  return /^[\w./@%+,:-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Passwords in URLs, as text for people and for logs must not have them. */

// Of a URL in a sentence: the scheme and the user, then the password up to the last `@`. A port with its path is none. The
// password may have characters that a URL has not, since somebody has typed it.
const PASSWORD = /([a-z][a-z0-9+.-]*:\/\/[^\s'"`:@/]*):(?!\d{1,5}(?:[/?#\s'"`]|$))[^\s'"`]*@/gi;
// Query parameters of database addresses, such as `password` and `sslpassword`.
const PARAMETER = /([?&][\w-]*passw(?:or)?d=)[^\s'"`&#]+/gi;

/** A text with `***` in place of the passwords of its URLs. */
export function withoutCredentials(text: string): string {
  // PERF: most lines of a log have no URL.
  if (!text.includes('://')) return text;
  return text.replace(PASSWORD, '$1:***@').replace(PARAMETER, '$1***');
}

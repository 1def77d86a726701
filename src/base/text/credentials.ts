/** Secrets in text for people and for logs, which must not have them: passwords in URLs, API keys, tokens. */

/** What ends a URL in a sentence or a line of JSON. */
const END = /[\s'"`]/g;
/** A port with what may follow it, where a password would begin. */
const PORT = /^\d{1,5}(?:[/?#]|$)/;
// Query parameters of database addresses, such as `password` and `sslpassword`. Linear: no start is within another match.
const PARAMETER = /([?&][\w-]*passw(?:or)?d=)[^\s'"`&#]+/gi;

/**
 * A text with `***` in place of the passwords of its URLs: from the colon behind the user up to the last `@`, since somebody
 * has typed it and it may have characters that a URL has not. Linear in the text, which may be a visitor's.
 */
export function withoutCredentials(text: string): string {
  // PERF: most lines of a log have no URL.
  if (!text.includes('://')) return text;
  let clean = '';
  let from = 0;
  while (from < text.length) {
    END.lastIndex = from;
    const end = END.exec(text)?.index ?? text.length;
    clean += withoutPassword(text.slice(from, end)) + text.slice(end, end + 1);
    from = end + 1;
  }
  return clean.replace(PARAMETER, '$1***');
}

/** How API keys, tokens of nodes, secrets of webhooks and keys of consumers begin. */
const SECRETS = ['svc_', 'edn_', 'whsec_', 'epk_'] as const;
/** One of them: the prefix, four characters, the rest. */
const SECRET = /(svc_|edn_|whsec_|epk_)([0-9A-Za-z+/_-]{4})[0-9A-Za-z+/_-]*=*/g;

/**
 * A text for logs with every API key, node token, webhook secret and key of a consumer in it cut to 4 characters after its prefix, which
 * identify it but cannot be used.
 */
export function redactKeys(text: string): string {
  // PERF: most texts contain none, and the search for a literal is ten times faster than the expression.
  if (!SECRETS.some((prefix) => text.includes(prefix))) return text;
  return text.replace(SECRET, '$1$2…');
}

/** @param token without the characters of `END` */
function withoutPassword(token: string): string {
  const last = token.lastIndexOf('@');
  for (let at = token.indexOf('://'); at >= 0 && at < last; at = token.indexOf('://', at + 3)) {
    const user = at + 3;
    const colon = token.indexOf(':', user);
    if (at === 0 || colon < 0 || colon >= last) continue;
    if (/[@/]/.test(token.slice(user, colon)) || PORT.test(token.slice(colon + 1, colon + 7))) continue;
    return `${token.slice(0, colon + 1)}***${token.slice(last)}`;
  }
  return token;
}

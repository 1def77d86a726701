/** The keys that an unsafe request invalidates besides its own target (RFC 9111 §4.4). */
import { type HeaderList, headerOf } from '../../base/http/response.ts';

/** Keys from `Location` and `Content-Location`, of the same origin as the changed resource. */
export function invalidated(key: string, headers: HeaderList): readonly string[] {
  const keys: string[] = [];
  for (const name of ['location', 'content-location']) {
    const value = headerOf(headers, name);
    if (value === null || !URL.canParse(value, key)) continue;
    const target = new URL(value, key);
    const base = new URL(key);
    if (target.origin !== base.origin) continue;
    const path = `${base.protocol}//${base.host}${target.pathname}`;
    // Under `query_mode: none` the key ends with the path.
    keys.push(`${path}${target.search}`);
    if (target.search !== '') keys.push(path);
  }
  return keys;
}

/** Reads a list of the API page by page. In: a path and the most entries. Out: the entries of all pages. */
import { callApi, type ServerAccess } from './call-api.ts';

/** Which list is read. */
interface Pages {
  /** The path of the first page, with its query. */
  readonly path: string;
  /** Entries, at most. */
  readonly most: number;
}

/** The entries of a list; an answer that is no list is the only entry. Follows `Link` (RFC 8288 §3.3) on this server only. */
export async function callPages(access: ServerAccess, { path, most }: Pages): Promise<readonly unknown[]> {
  const entries: unknown[] = [];
  let next: string | null = path;
  while (next !== null && entries.length < most) {
    const { body, headers } = await callApi(access, { method: 'GET', path: next });
    if (!Array.isArray(body)) return [body];
    entries.push(...body);
    // A path, so that the key is sent to no other server.
    next = /^<(\/[^>]*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? null;
  }
  return entries.slice(0, most);
}

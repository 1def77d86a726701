/** Reads a list of the API page by page. In: a path and the most entries. Out: the entries of all pages. */
import { callApi, type ServerAccess } from './call-api.ts';

/** Which list is read. */
interface Pages {
  /** The path of the first page, with its query. */
  readonly path: string;
  /** Entries, at most. */
  readonly most: number;
}

/** The first entries of a list. */
interface ListedPages {
  readonly entries: readonly unknown[];
  /** The list has more entries. */
  readonly more: boolean;
}

/** Reads a list. Follows `Link` (RFC 8288 §3.3) on this server only. */
export async function callPages(access: ServerAccess, { path, most }: Pages): Promise<ListedPages> {
  const entries: unknown[] = [];
  let next: string | null = path;
  while (next !== null && entries.length < most) {
    const { body, headers } = await callApi(access, { method: 'GET', path: next });
    entries.push(...(body as readonly unknown[]));
    // A path, so that the key is sent to no other server.
    next = /^<(\/[^>]*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? null;
  }
  return { entries: entries.slice(0, most), more: next !== null || entries.length > most };
}

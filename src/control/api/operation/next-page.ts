/** The link of a page of a list to the next one. */

/** What the next page repeats: the query of this one; `undefined` parameters are left out. */
export interface NextPage {
  /** The path of the list. */
  readonly path: string;
  readonly query: Readonly<Record<string, string | number | undefined>>;
}

/** The `Link` header that leads to the next page (RFC 8288 §3.3). */
export function nextPage({ path, query }: NextPage): Readonly<Record<string, string>> {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return { link: `<${path}?${parameters}>; rel="next"` };
}

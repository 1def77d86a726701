/**
 * Returns one string for all equal hosts of a log. A part of a line refers to the text of its whole chunk, so that a
 * cache that is keyed by parts would retain the chunk and hash each part again.
 */

/** Hosts of a log that are cached; beyond, all are forgotten. */
const MAX_HOSTS = 1_024;

/** Creates an empty cache. */
export function createHostCache(): (host: string) => string {
  const known = new Map<string, string>();
  return (host) => {
    const cached = known.get(host);
    if (cached !== undefined) return cached;
    if (known.size >= MAX_HOSTS) known.clear();
    const copy = Buffer.from(host).toString();
    known.set(copy, copy);
    return copy;
  };
}

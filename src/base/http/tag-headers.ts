/** Headers that an origin sends to caches alone, with the tags by which a response is purged. */

/** In lower case: commas separate the tags of the first one (Cloudflare), spaces those of the second (Fastly). */
export const TAG_HEADERS = ['cache-tag', 'surrogate-key'] as const;

/** The layout of each type's own fields, as offsets from its slot's `fields` in `words`. Strings are string numbers. */
export const BOT_FIELDS = { status: 0, body: 1, dest: 2, port: 3, scheme: 4 } as const;
export const RATE_FIELDS = { limit: 0, burst: 1, window: 2, perPath: 3 } as const;
/** `exclusions`: offset in `words` of a count and rows of WAF_EXCLUSION. `excludes`: a count, then strings. */
export const WAF_FIELDS = { paranoia: 0, threshold: 1, bodyCap: 2, exclusions: 3, excludes: 4 } as const;
/** `id`: NONE if a tag selects the rules; an empty `tag` or `target` is left out; `path` is a pattern's number. */
export const WAF_EXCLUSION = { id: 0, tag: 1, target: 2, path: 3, size: 4 } as const;
export const REDIRECT_FIELDS = { status: 0, target: 1, preserveQuery: 2, preservePath: 3 } as const;
export const CAPTCHA_FIELDS = { ttl: 0 } as const;
export const REWRITE_FIELDS = { target: 0, query: 1, regex: 2 } as const;
/** Lifetimes are stored plus one; 0 follows the origin. */
export const CACHE_FIELDS = { edgeTtl: 0, browserTtl: 1, queryMode: 2, params: 3 } as const;
export const ROUTE_FIELDS = { address: 0, port: 1, scheme: 2, hostHeader: 3 } as const;
/** `health`: offset in `words` of a row of POOL_HEALTH, NONE when it is off. Then `count` rows of POOL_ORIGIN. */
export const POOL_FIELDS = { lbType: 0, hostHeader: 1, health: 2, count: 3, origins: 4 } as const;
/** Times in seconds; `path` and `host` are strings, an empty host is the pool's own. */
export const POOL_HEALTH = {
  path: 0,
  host: 1,
  interval: 2,
  timeout: 3,
  unhealthy: 4,
  healthy: 5,
  eject: 6,
} as const;
/** `nodes`: offset in `words` of a count and node ids. */
export const POOL_ORIGIN = { address: 0, port: 1, scheme: 2, weight: 3, nodes: 4, size: 5 } as const;
/** Consecutive failed requests that eject an origin, and seconds of the ejection; with the switch `EJECTIONS` alone. */
export const POOL_EJECTION = { failures: 0, seconds: 1, size: 2 } as const;
export const DEFAULT_EJECTION = { failures: 3, seconds: 30 } as const;
/** Then the codes, then a count and pairs of code and string. */
export const PAGE_FIELDS = { count: 0, codes: 1 } as const;

/** Scheme numbers of `ORIGIN_SCHEMES`. */
export const DEFAULT_PORTS = [80, 443] as const;

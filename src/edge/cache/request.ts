/** The interface of the cache: a request with its settings, and the response. */
import type { OpenSpool } from '../../base/buffers/answer-buffer.ts';
import type { RequestHeaders } from '../../base/http/conditions.ts';
import type { ResponseSink, ResponseSource } from '../../base/http/response.ts';
import type { CacheMode } from '../../base/vocabulary/vocabulary.ts';

/** How to cache the response to one request, in addition to RFC 9111. */
export interface CacheSettings {
  /** `standard`: as the origin allows; `force`: also if its directives do not; `bypass`: not at all. */
  readonly mode: CacheMode;
  /** Seconds for which this cache uses the response; `null`: as the origin states. */
  readonly edgeTtl: number | null;
  /** Seconds for which browsers use it; `null`: as the origin states. */
  readonly browserTtl: number | null;
  /** The cache key: the URL, as far as it selects the response; `null` under `bypass`. */
  readonly key: string | null;
}

/** The purges of single responses of a domain; it never changes. */
export interface CachePurges {
  /** The position of the newest one; 0: there was none. */
  readonly through: number;
  /** Whether a response may be used that was requested, or judged last, at `position`. */
  judge(subject: {
    /** `host/path?query`. */
    readonly url: string;
    /** `null`: unknown, or too many; every purge of a tag matches. */
    readonly tags: readonly string[] | null;
    readonly position: number;
  }): 'valid' | 'stale' | 'purged';
}

/** The domain a response is cached for, and its limits. */
export interface CachedDomain {
  readonly name: string;
  /** A response cached under a lower purge epoch is stale. */
  readonly purgeEpoch: number;
  /** Purges of single responses. */
  readonly purges: CachePurges;
  readonly settings: {
    /** Largest response body, in MB. */
    readonly cacheCapMb: number;
    /** Disk space of the domain, in GB. */
    readonly diskMaxGb: number;
    /** Days after which an unused file is removed. */
    readonly diskTtlDays: number;
  };
}

/** A domain as a survey of the cache sees it. */
export type SurveyedDomain = Pick<CachedDomain, 'name' | 'purgeEpoch' | 'purges'>;

/** The stored responses to one URL. */
export interface CachedUrl {
  /** Of the cache key. */
  readonly url: string;
  /** Of the newest response. */
  readonly status: number;
  /** Octets of the bodies of all of them. */
  readonly octets: number;
  /** Of the newest response, milliseconds since the epoch. */
  readonly storedAt: number;
  /** Until when the newest response is fresh; past: it is stale. */
  readonly freshUntil: number;
  /** Some of the tags of the newest response. */
  readonly tags: readonly string[];
  /** Number of responses: one for each variant (`Vary`). */
  readonly copies: number;
}

/** What the cache has stored of a domain. */
export interface CacheContents {
  /** Responses in memory, or on disk with their head in memory, and the octets of their bodies. */
  readonly entries: number;
  readonly octets: number;
  /** All files on disk, also those of before the start, and their octets. */
  readonly diskFiles: number;
  readonly diskOctets: number;
  /** The URLs of `entries`, the most recently used first, at most `MAX_SURVEYED_URLS`. */
  readonly urls: readonly CachedUrl[];
}

/** A request to the cache. */
export interface CacheRequest {
  readonly domain: CachedDomain;
  readonly settings: CacheSettings;
  readonly method: string;
  /** Lower-case names. */
  readonly headers: RequestHeaders;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Called with the cache result for the request log: `hit`, `miss`, `stale`, … */
  readonly note: (result: string) => void;
  /** Opens storage for the response while the client is slow. */
  readonly openSpool: OpenSpool;
}

export interface HttpCache {
  /**
   * Responds from the cache or through `fetch`, which requests from the origin with the given header changes
   * (`null` removes one) and pushes the response.
   */
  answer(
    request: CacheRequest,
    sink: ResponseSink,
    fetch: (changes: Readonly<Record<string, string | null>>, sink: ResponseSink) => ResponseSource,
  ): ResponseSource;
  /**
   * What is stored, by domain. `domainOf` returns a domain with its purges of now, `null` for a name that is not served.
   * Entries that its purges cover are removed on the way.
   */
  survey(domainOf: (name: string) => SurveyedDomain | null): Promise<ReadonlyMap<string, CacheContents>>;
  /** Goes on in memory alone: another process has the folder (`Disk.release`). */
  releaseDisk(): void;
  /** Goes on with the folder (`Disk.reclaim`). */
  reclaimDisk(): void;
  close(): Promise<void>;
}

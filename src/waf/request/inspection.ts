/** What goes into an inspection and what comes out of it. */

/** The part of a request that signatures look at. The evaluator's `EdgeRequest` is one. */
export interface InspectedRequest {
  readonly scheme: string;
  readonly method: string;
  readonly host: string | readonly string[];
  /** Path and query as sent. */
  readonly target: string;
  /** `HTTP/1.1`, `HTTP/2`; absent: `HTTP/1.1`. */
  readonly protocol?: string | undefined;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined;
  readonly ip?: string | null | undefined;
}

/** A signature, or a group of them by tag, that does not look at a target, or does not count at all. */
export interface InspectionExclusion {
  /** The signature's id; `null` when `tag` says which. */
  readonly id: number | null;
  readonly tag: string | null;
  /** `ARGS:comment`, `REQUEST_COOKIES:sess*`, `REQUEST_HEADERS`; `null`: the signature does not count. */
  readonly target: string | null;
}

export interface WafSettings {
  /** 1…4. */
  readonly paranoia: number;
  /** The score at which a request is blocked; programs may read it. */
  readonly threshold: number;
  /** Ids of signatures that do not count. */
  readonly excludes: readonly string[];
  /** Those that hold for this request's path. */
  readonly exclusions: readonly InspectionExclusion[];
}

export interface WafInput {
  readonly request: InspectedRequest;
  /** The body up to the rule's cap; `null` when the body is not inspected or there is none. */
  readonly body: Uint8Array | null;
  /** The body goes on past the cap: a parser that meets the end does not call it an error. */
  readonly truncated: boolean;
  /** Why the body is not what the client means by it; absent, `null`: it is. Stands before what a parser has to say. */
  readonly bodyError?: string | null;
}

/** One signature that matched. */
export interface WafMatch {
  readonly id: number;
  readonly message: string;
  /** ModSecurity's 0…7; -1: none. */
  readonly severity: number;
  /** `sqli`, `xss`, `lfi`, … */
  readonly category: string;
  /** What it added to the score. */
  readonly score: number;
  /** `ARGS:id`, `REQUEST_HEADERS:User-Agent`. */
  readonly variable: string;
  /** The piece that matched, shortened; what may be a secret is only described. */
  readonly value: string;
}

export interface WafFinding {
  /** The sum of the inbound anomaly scores. */
  readonly score: number;
  /**
   * The signatures that matched and are reported, ascending, each once. A rule that only compares the score with the
   * threshold (CRS 949110) is none where the score reaches the threshold.
   */
  readonly ids: readonly number[];
  readonly matches: readonly WafMatch[];
  /** Score per category, highest first. */
  readonly categories: Readonly<Record<string, number>>;
  /** A rule of the program itself asked to deny. */
  readonly denied: boolean;
  /** What is wrong with the body, `multipart: the final boundary is missing`; `null`: nothing, or none was read. */
  readonly bodyError: string | null;
  /** The step budget ran out. */
  readonly exhausted: boolean;
}

/** A loaded signature program. */
export interface WafProgram {
  inspect(input: WafInput, settings: WafSettings): WafFinding;
  /** Whether a signature of this id is part of the program. */
  has(id: number): boolean;
}

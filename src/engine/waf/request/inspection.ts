/** Input and output of an inspection: the interface between the evaluator and a loaded signature program. */

/** The parts of a request that signatures inspect. The evaluator's `EdgeRequest` is one. */
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

/** Signatures, by id or tag, that are skipped, or that do not inspect a target. */
export interface InspectionExclusion {
  /** The signature's id; `null`: all signatures with `tag`. */
  readonly id: number | null;
  readonly tag: string | null;
  /** `ARGS:comment`, `REQUEST_COOKIES:sess*`, `REQUEST_HEADERS`; `null`: the signature is skipped. */
  readonly target: string | null;
}

/** The settings of a WAF rule (semantics §5 waf). */
export interface WafSettings {
  /** 1…4. */
  readonly paranoia: number;
  /** The score at which a request is blocked; rules read it as `tx.inbound_anomaly_score_threshold`. */
  readonly threshold: number;
  /** Ids of signatures that are skipped. */
  readonly excludes: readonly string[];
  /** The exclusions that apply to this request's path. */
  readonly exclusions: readonly InspectionExclusion[];
}

/** The input of an inspection. */
export interface WafInput {
  readonly request: InspectedRequest;
  /** The body up to the rule's limit; `null`: there is none, or it is not inspected. */
  readonly body: Uint8Array | null;
  /** Whether the body is longer than the limit; then an unexpected end is not an error. */
  readonly truncated: boolean;
  /** Why the body could not be decoded (`Content-Encoding`); takes precedence over a parser's error. `null`: it was decoded. */
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
  /** An excerpt around the match; of a value that may be a secret, only its length. */
  readonly value: string;
}

/** The result of an inspection. */
export interface WafFinding {
  /** The sum of the inbound anomaly scores. */
  readonly score: number;
  /**
   * The signatures that matched and are reported, ascending, each once. Rules that only compare the score with the
   * threshold (CRS 949110) are left out when the score reaches the threshold.
   */
  readonly ids: readonly number[];
  readonly matches: readonly WafMatch[];
  /** Score per category, highest first. */
  readonly categories: Readonly<Record<string, number>>;
  /** Whether a rule of the program itself denied the request. */
  readonly denied: boolean;
  /** The error of the body, `multipart: the final boundary is missing`; `null`: no error, or no body was parsed. */
  readonly bodyError: string | null;
  /** Whether the step budget ran out, so that later rules did not run. */
  readonly exhausted: boolean;
}

/** A loaded signature program. */
export interface WafProgram {
  /** Inspects one request. */
  inspect(input: WafInput, settings: WafSettings): WafFinding;
  /** Whether a signature of this id is part of the program. */
  has(id: number): boolean;
}

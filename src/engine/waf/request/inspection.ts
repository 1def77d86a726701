/**
 * Input and output of an inspection, the interface between the evaluator and a loaded signature program; and its
 * exclusions: rules that are skipped, and targets that some rules do not inspect.
 */
import {
  type SignatureRule,
  WAF_COLLECTIONS,
  WAF_SCALARS,
  type WafVariable,
} from '../../plan/signature-program.ts';

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
  /** The body up to the rule's limit; `null`: absent, or not inspected. */
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

// Exclusions of one inspection: rules that are skipped, and targets that some rules do not inspect. They come from the
// settings of the WAF rule and from `ctl` actions.

/** Whether an exclusion applies to a rule. */
export type ExclusionSubject = (rule: SignatureRule) => boolean;

/** Members that certain rules do not inspect. */
export interface TargetExclusion {
  readonly subject: ExclusionSubject;
  /** Whether a member is excluded, by its variable and name. */
  readonly covers: (variable: WafVariable, name: string) => boolean;
}

/** The exclusions of one inspection; `ctl` actions append to both lists. */
export interface Exclusions {
  readonly rules: ExclusionSubject[];
  readonly targets: TargetExclusion[];
}

/** Compiles the exclusions of the settings. */
export function exclusionsOf(settings: WafSettings): Exclusions {
  const found: Exclusions = { rules: [], targets: [] };
  if (settings.excludes.length > 0) {
    const ids = new Set(settings.excludes);
    found.rules.push(({ id }) => ids.has(String(id)));
  }
  for (const exclusion of settings.exclusions) addExclusion(found, exclusion);
  return found;
}

function addExclusion(found: Exclusions, { id, tag, target }: InspectionExclusion): void {
  const subject: ExclusionSubject = (rule) =>
    (id === null || rule.id === id) && (tag === null || rule.tags.includes(tag));
  if (target === null) found.rules.push(subject);
  else found.targets.push({ subject, covers: writtenTarget(target) });
}

const VARIABLES: ReadonlySet<string> = new Set([...WAF_SCALARS, ...WAF_COLLECTIONS]);

/** Parses `ARGS:comment`, `REQUEST_COOKIES:sess*` or `REQUEST_HEADERS`; an unknown variable covers nothing. */
function writtenTarget(text: string): TargetExclusion['covers'] {
  const colon = text.indexOf(':');
  const wanted = (colon < 0 ? text : text.slice(0, colon)).toUpperCase();
  if (!VARIABLES.has(wanted)) return () => false;
  const isWanted = (variable: WafVariable): boolean => variable === wanted || PART_OF[variable] === wanted;
  if (colon < 0) return isWanted;
  const pieces = text
    .slice(colon + 1)
    .toLowerCase()
    .split('*');
  return (variable, name) => isWanted(variable) && piecesMatch(pieces, name.toLowerCase());
}

/** An exclusion of ARGS also covers the members that a rule inspects as one of these. */
const PART_OF: Readonly<Partial<Record<WafVariable, WafVariable>>> = { ARGS_GET: 'ARGS', ARGS_POST: 'ARGS' };

/** Whether a name matches a wildcard split at `*`. Taking the leftmost place of each piece needs no backtracking. */
function piecesMatch(pieces: readonly string[], name: string): boolean {
  const [head = '', ...rest] = pieces;
  if (rest.length === 0) return name === head;
  const tail = rest.pop()!;
  const end = name.length - tail.length;
  if (head.length > end || !name.startsWith(head) || !name.endsWith(tail)) return false;
  let at = head.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= end;
}

/** Whether a rule is skipped. */
export function isExcluded({ rules }: Exclusions, rule: SignatureRule): boolean {
  for (const subject of rules) if (subject(rule)) return true;
  return false;
}

const NONE: readonly TargetExclusion[] = [];

/** The target exclusions that apply to a rule. */
export function targetExclusions({ targets }: Exclusions, rule: SignatureRule): readonly TargetExclusion[] {
  // A copy, since the rule's own actions may append to the list.
  return targets.length === 0 ? NONE : targets.filter(({ subject }) => subject(rule));
}

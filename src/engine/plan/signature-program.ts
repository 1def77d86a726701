/**
 * The contract between `engine/waf/seclang`, which compiles SecLang text, and `engine/waf/load`, which prepares the result for
 * inspections: what a signature program is. Plain data over tables that others share by number; texts are Latin-1 (one character an octet).
 *
 * A program holds one list of rules for each paranoia level: what is constant at that level (the level itself,
 * `skipAfter` over rules of higher levels, initial TX variables) was decided when it was compiled. Only phases 1
 * and 2 (request headers, request body) are compiled.
 */

/** The version of this layout and of its meaning; a program of another version is refused. */
export const SIGNATURE_PROGRAM_VERSION = 3;

/** What a SecLang target may name. Scalars give one value or none, collections any number. */
export const WAF_SCALARS = [
  'AUTH_TYPE',
  'ARGS_COMBINED_SIZE',
  'FILES_COMBINED_SIZE',
  'FULL_REQUEST_LENGTH',
  'MATCHED_VAR',
  'MATCHED_VAR_NAME',
  'MULTIPART_BOUNDARY_QUOTED',
  'MULTIPART_BOUNDARY_WHITESPACE',
  'MULTIPART_CRLF_LF_LINES',
  'MULTIPART_DATA_AFTER',
  'MULTIPART_DATA_BEFORE',
  'MULTIPART_FILE_LIMIT_EXCEEDED',
  'MULTIPART_HEADER_FOLDING',
  'MULTIPART_INVALID_HEADER_FOLDING',
  'MULTIPART_INVALID_PART',
  'MULTIPART_INVALID_QUOTING',
  'MULTIPART_LF_LINE',
  'MULTIPART_MISSING_SEMICOLON',
  'MULTIPART_STRICT_ERROR',
  'MULTIPART_UNMATCHED_BOUNDARY',
  'QUERY_STRING',
  'REMOTE_ADDR',
  'REQBODY_ERROR',
  'REQBODY_ERROR_MSG',
  'REQBODY_PROCESSOR',
  'REQBODY_PROCESSOR_ERROR',
  'REQUEST_BASENAME',
  'REQUEST_BODY',
  'REQUEST_BODY_LENGTH',
  'REQUEST_FILENAME',
  'REQUEST_LINE',
  'REQUEST_METHOD',
  'REQUEST_PROTOCOL',
  'REQUEST_URI',
  'REQUEST_URI_RAW',
  'SERVER_NAME',
  'SERVER_PORT',
  'UNIQUE_ID',
] as const;
export type WafScalar = (typeof WAF_SCALARS)[number];

export const WAF_COLLECTIONS = [
  'ARGS',
  'ARGS_GET',
  'ARGS_GET_NAMES',
  'ARGS_NAMES',
  'ARGS_POST',
  'ARGS_POST_NAMES',
  'FILES',
  'FILES_NAMES',
  'FILES_SIZES',
  'MATCHED_VARS',
  'MATCHED_VARS_NAMES',
  'MULTIPART_FILENAME',
  'MULTIPART_NAME',
  'MULTIPART_PART_HEADERS',
  'REQUEST_COOKIES',
  'REQUEST_COOKIES_NAMES',
  'REQUEST_HEADERS',
  'REQUEST_HEADERS_NAMES',
  'TX',
  'XML',
] as const;
export type WafCollection = (typeof WAF_COLLECTIONS)[number];

export type WafVariable = WafScalar | WafCollection;

export const WAF_TRANSFORMATIONS = [
  'base64Decode',
  'base64DecodeExt',
  'base64Encode',
  'cmdLine',
  'compressWhitespace',
  'cssDecode',
  'escapeSeqDecode',
  'hexDecode',
  'hexEncode',
  'htmlEntityDecode',
  'jsDecode',
  'length',
  'lowercase',
  'md5',
  'normalizePath',
  'normalizePathWin',
  'removeComments',
  'removeCommentsChar',
  'removeNulls',
  'removeWhitespace',
  'replaceComments',
  'replaceNulls',
  'sha1',
  'sqlHexDecode',
  'trim',
  'trimLeft',
  'trimRight',
  'uppercase',
  'urlDecode',
  'urlDecodeDeep',
  'urlDecodeUni',
  'urlEncode',
  'utf8toUnicode',
] as const;
export type WafTransformation = (typeof WAF_TRANSFORMATIONS)[number];

/** Which members of a collection: all, one name (compared without case), or names a pattern matches. */
export type WafSelector =
  | { readonly kind: 'all' }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'pattern'; readonly pattern: number };

export interface WafTarget {
  readonly variable: WafVariable;
  readonly selector: WafSelector;
}

/** `ARGS|!ARGS:id|&REQUEST_HEADERS:Host`: what a rule inspects. Equal lists share one number. */
export interface WafTargets {
  readonly include: readonly (WafTarget & { readonly count: boolean })[];
  readonly exclude: readonly WafTarget[];
}

/** Text with `%{VARIABLE.name}` in it, taken apart; a text without macros has one literal part, or none. */
export type WafText = readonly WafTextPart[];
export type WafTextPart =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'variable'; readonly variable: WafVariable; readonly name: string | null };

export const WAF_NUMBER_OPERATORS = ['eq', 'ge', 'gt', 'le', 'lt'] as const;
export const WAF_TEXT_OPERATORS = [
  'streq',
  'contains',
  'containsWord',
  'beginsWith',
  'endsWith',
  'strmatch',
  'within',
] as const;
/** Operators that read the value by a grammar (`engine/waf/detectors`): those of SecLang, and our own. */
export const WAF_DETECTORS = [
  'detectSQLi',
  'detectXSS',
  'detectSQLStatement',
  'detectScript',
  'detectLookup',
  'detectEntities',
  'detectPath',
  'detectShell',
  'detectCommandLine',
  'detectCommand',
  'detectCode',
  'detectCodeLine',
  'detectTemplate',
  'detectLdap',
  'detectXPath',
  'detectInclude',
  'detectNoSql',
  'detectObject',
  'detectInternalUrl',
] as const;
export type WafDetector = (typeof WAF_DETECTORS)[number];

export const WAF_PLAIN_OPERATORS = [
  ...WAF_DETECTORS,
  'noMatch',
  'unconditionalMatch',
  'validateUrlEncoding',
  'validateUtf8Encoding',
] as const;

export type WafOperator =
  /** Searches for a pattern anywhere in the value; `pattern` is its number in `patterns`. */
  | { readonly kind: 'rx'; readonly pattern: number }
  /** Searches for phrases without case; `phrases` is the list's number in `phraseLists`. */
  | { readonly kind: 'pm'; readonly phrases: number }
  | { readonly kind: (typeof WAF_NUMBER_OPERATORS)[number]; readonly value: WafText }
  | { readonly kind: (typeof WAF_TEXT_OPERATORS)[number]; readonly value: WafText }
  /** Canonical prefixes, `203.0.113.0/24` or `2001:db8::/32`. */
  | { readonly kind: 'ipMatch'; readonly prefixes: readonly string[] }
  /** Matches when an octet is not among the allowed: 256 flags, one an octet value. */
  | { readonly kind: 'validateByteRange'; readonly allowed: readonly boolean[] }
  | { readonly kind: (typeof WAF_PLAIN_OPERATORS)[number] };

export type WafSetVar =
  /** `tx.name=value`; the name may hold macros. */
  | { readonly kind: 'set'; readonly name: WafText; readonly value: WafText }
  /** `tx.name=+value`, `tx.name=-value`: whole numbers; what is not a number counts as 0. */
  | { readonly kind: 'add'; readonly name: WafText; readonly value: WafText; readonly sign: 1 | -1 }
  | { readonly kind: 'unset'; readonly name: WafText };

export type WafControl =
  | {
      readonly kind: 'ruleRemoveById';
      readonly ranges: readonly { readonly from: number; readonly to: number }[];
    }
  | { readonly kind: 'ruleRemoveByTag'; readonly pattern: number }
  | {
      readonly kind: 'ruleRemoveTargetById';
      readonly ranges: readonly { readonly from: number; readonly to: number }[];
      readonly target: WafTarget;
    }
  | { readonly kind: 'ruleRemoveTargetByTag'; readonly pattern: number; readonly target: WafTarget }
  | { readonly kind: 'forceRequestBodyVariable'; readonly on: boolean }
  /** Not of ModSecurity: bodies are read as applications do, whatever their type says. */
  | { readonly kind: 'decodeRequestBody'; readonly on: boolean }
  | { readonly kind: 'requestBodyProcessor'; readonly processor: 'URLENCODED' | 'MULTIPART' | 'JSON' | 'XML' }
  | { readonly kind: 'ruleEngine'; readonly mode: 'On' | 'Off' | 'DetectionOnly' };

/** One SecRule of a chain, or the only one. */
export interface WafCondition {
  /** The number of its list in `targets`; -1 for a SecAction, which holds without looking at anything. */
  readonly targets: number;
  /** The number of its list in `chains`. */
  readonly chain: number;
  readonly operator: WafOperator;
  readonly negated: boolean;
  /** Groups of the match go to TX.0…TX.9. */
  readonly capture: boolean;
  /** The operator runs on the value after every transformation (`multiMatch`), not only after the last. */
  readonly multiMatch: boolean;
  /** Done each time this condition holds for a value (ModSecurity runs a chain's actions link by link). */
  readonly setVars: readonly WafSetVar[];
  readonly controls: readonly WafControl[];
}

export interface SignatureRule {
  readonly id: number;
  readonly phase: 1 | 2;
  readonly conditions: readonly WafCondition[];
  /** What happens when every condition holds; `block` is left to the score, `allowPhase` leaves out the rest of the phase. */
  readonly disruption: 'pass' | 'block' | 'deny' | 'allow' | 'allowPhase';
  /** The number of the first rule after the marker in the same list; -1: go on with the next. */
  readonly skipTo: number;
  /** A match is reported: a rule that only prepares others (`nolog`) is not reported. */
  readonly reported: boolean;
  readonly message: WafText;
  readonly logData: WafText;
  /** ModSecurity's 0 (emergency) … 7 (debug); -1: none. */
  readonly severity: number;
  readonly tags: readonly string[];
  /** From the first `attack-…` tag (`sqli`, `xss`, …); `''`: none. */
  readonly category: string;
  /** 1…4, from the `paranoia-level/n` tag; 1 without one. */
  readonly paranoia: number;
}

/**
 * One instruction of a `BacktrackProgram`; `out` and `other` are the numbers of what may follow, the preferred one first.
 */
export type BacktrackInstruction =
  | { readonly kind: 'match' }
  | { readonly kind: 'fail' }
  | { readonly kind: 'split'; readonly out: number; readonly other: number }
  /** `flags` as in `base/regex/program.ts`; the place before a line feed that ends the text begins no line. */
  | { readonly kind: 'assert'; readonly out: number; readonly flags: number }
  /** Consumes an octet of a set, by its number in `sets`. */
  | { readonly kind: 'octet'; readonly out: number; readonly set: number }
  /** The start and the end of a group. */
  | { readonly kind: 'open' | 'close'; readonly out: number; readonly group: number }
  /** Consumes the text of a group; fails if it is not set. */
  | { readonly kind: 'reference'; readonly out: number; readonly group: number; readonly ignoreCase: boolean }
  /** Goes on if the instructions from `body` to their `end` match here, or do not match; consumes nothing. */
  | { readonly kind: 'look'; readonly out: number; readonly body: number; readonly negative: boolean }
  /** Consumes the first match of the instructions from `body` to their `end`, and never tries another. */
  | { readonly kind: 'atomic'; readonly out: number; readonly body: number }
  | { readonly kind: 'end' }
  /** Steps back; fails where the text has fewer octets. */
  | { readonly kind: 'back'; readonly out: number; readonly octets: number }
  /** The start of an iteration that may be empty. */
  | { readonly kind: 'enter'; readonly out: number; readonly loop: number }
  /** Its end: after an empty iteration `other` alone follows, the instruction after the loop. */
  | {
      readonly kind: 'again';
      readonly out: number;
      readonly other: number;
      readonly loop: number;
      readonly lazy: boolean;
    }
  /** The end of such a loop. */
  | { readonly kind: 'leave'; readonly out: number; readonly loop: number };

/** A pattern with look-around, backreferences or atomic groups, which no automaton matches. */
export interface BacktrackProgram {
  readonly start: number;
  readonly instructions: readonly BacktrackInstruction[];
  /** Sets of octets: `[low, high, low, high, …]`, ascending, both ends included. */
  readonly sets: readonly (readonly number[])[];
  /** Capturing groups, without the whole match. */
  readonly groups: number;
  /** Loops around each other whose iterations may be empty, at most `MAX_EMPTY_LOOPS`. */
  readonly loops: number;
}

/** Maximum number of loops around each other whose iterations may be empty: a bit each in the key of a state. */
export const MAX_EMPTY_LOOPS = 8;

export interface WafPattern {
  /** In RE2 syntax; with `backtrack`, in PCRE syntax. */
  readonly source: string;
  readonly ignoreCase: boolean;
  readonly dotAll: boolean;
  /** The automaton that `base/regex/table.ts` runs, compiled ahead of time; `null` if it would be too large: it then becomes one as it runs. */
  readonly dfa: Uint16Array | null;
  /**
   * Without a `dfa`: an automaton of the same layout that matches every text the pattern matches, and maybe others. If
   * it does not match, nothing else need run. Absent if it would exclude no text.
   */
  readonly guard?: Uint16Array;
  /**
   * Lower-case literals of which at least one is in every text that the pattern matches, as numbers in `literals`;
   * `null`: no such set is known, and the pattern must always run.
   */
  readonly required: readonly number[] | null;
  /**
   * Of a pattern that no automaton matches. `dfa`, `guard`, `required` and `needed` are then those of a simpler pattern,
   * which matches every text that this one matches, and maybe others.
   */
  readonly backtrack?: BacktrackProgram;
  /** Kinds of octets (`base/octets/octet-kinds.ts`), a bit each, of which a matching text holds one; -1: any text may match. */
  readonly needed: number;
}

export interface WafPhraseList {
  /** Lower-case phrases, as numbers in `literals`. */
  readonly phrases: readonly number[];
}

/** The rules at one paranoia level, in order, phase 1 before phase 2. */
export interface WafLevel {
  readonly rules: readonly SignatureRule[];
  /** TX variables that hold before the first rule (lower-case name → text). */
  readonly initial: Readonly<Record<string, string>>;
}

export interface SignatureProgram {
  /** What the text calls itself, `OWASP_CRS/4.28.0`, or the file's name. */
  readonly name: string;
  readonly targets: readonly WafTargets[];
  /** Lists of transformations; list 0 is the empty one. */
  readonly chains: readonly (readonly WafTransformation[])[];
  readonly patterns: readonly WafPattern[];
  readonly phraseLists: readonly WafPhraseList[];
  /** Every literal a pattern requires and every phrase, lower case, each once. */
  readonly literals: readonly string[];
  /** Four: one for each paranoia level. */
  readonly levels: readonly WafLevel[];
}

/**
 * A compiled rule set: the rules of one paranoia level as `engine/waf/load` prepares them and an inspection runs them,
 * and the value sources that their tests read.
 */
import type {
  SignatureRule,
  WafCollection,
  WafCondition,
  WafScalar,
  WafTargets,
  WafVariable,
} from '../../plan/signature-program.ts';
import type { LiteralIndex } from '../patterns/literal-index.ts';
import type { Matcher } from '../patterns/pattern.ts';
import type { NamedValue } from './bodies/parsed-body.ts';
import type { ExactSchedules } from './schedules.ts';
import type { TargetClasses } from './target-classes.ts';
import { membersOf, scalarOf, type Transaction } from './transaction.ts';
import type { TxStart } from './tx.ts';
import type { InspectedValue, InspectedValues } from './values.ts';

/** A compiled `setvar`. */
export interface Assignment {
  /** Executes the assignment `times` times (more than once only if `repeats`); returns what that adds to the score. */
  readonly run: (transaction: Transaction, times: number) => number;
  /** Whether name and value do not depend on the match, so that repeated executions add up. */
  readonly repeats: boolean;
}

/** A compiled `ctl`: changes the transaction. */
export type RuntimeControl = (transaction: Transaction) => void;

/** One condition of a rule: a link of its chain. */
export interface ChainLink {
  readonly condition: WafCondition;
  /** `null`: a SecAction, which always matches. */
  readonly targets: WafTargets | null;
  /** The transformations, as places in `WAF_TRANSFORMATIONS`. */
  readonly steps: readonly number[];
  /** The number of the condition's test; -1: its result does not depend on the value alone. */
  readonly test: number;
  /** Whether the operator matches a transformed value, before negation. */
  readonly check: (value: InspectedValue, transaction: Transaction) => boolean;
  readonly assignments: readonly Assignment[];
  readonly controls: readonly RuntimeControl[];
  /** Whether a rule reads the groups that this condition captures. */
  readonly captures: boolean;
  /** Whether every matching member has the same effect, so that only the last one is run in full. */
  readonly repeats: boolean;
}

/** A rule of the level. */
export interface CompiledRule {
  readonly rule: SignatureRule;
  readonly links: readonly ChainLink[];
  /** Tests, by number, that must each have a hit for the rule to have any effect. */
  readonly guards: readonly number[];
  /** A further guard, a dear test that runs only if all `guards` have hits (`load/gates.ts`); -1: none. */
  readonly dear: number;
  /** Whether the rule only compares the score with a threshold. */
  readonly evaluates: boolean;
}

/** A value source with the classes of its members. */
export interface CompiledSource {
  readonly source: ValueSource;
  readonly classes: TargetClasses;
}

/** The compiled level. `values` and `exact` are caches across inspections; all else is immutable. */
export interface CompiledRuleSet {
  /** 1 to 4. */
  readonly paranoia: number;
  readonly rules: readonly CompiledRule[];
  /** By place in `rules`, the first of the rule's guards; -1: it has none. */
  readonly firstGuards: Int32Array;
  /** The place in `rules` of the first rule of phase 2. */
  readonly bodyRules: number;
  /** The number of tests. */
  readonly tests: number;
  readonly index: LiteralIndex;
  readonly values: InspectedValues;
  readonly exact: ExactSchedules;
  /** By number of a pattern. */
  readonly matchers: readonly Matcher[];
  /** The value sources with at least one test. */
  readonly sources: readonly CompiledSource[];
  /** The TX variables of a new transaction. */
  readonly start: TxStart;
  /** The TX variables whose sum is the score. */
  readonly scores: ReadonlySet<string>;
  /** The set in `index` of a list of phrases. */
  readonly setOfPhrases: (phrases: number) => number;
}

// The value sources: from where in a request tested values come. The members of a source belong to each variable of its
// list: an argument of the query is a member of ARGS and of ARGS_GET.

/** One source. */
interface ValueSource {
  readonly variables: readonly WafVariable[];
  /** The phase that first has its members: 1, the head; 2, the body. */
  readonly phase: 1 | 2;
  /** Its members in the order of the request. */
  readonly members: (transaction: Transaction) => readonly NamedValue[];
  /** Whether the tested value is the member's name (`ARGS_NAMES`). */
  readonly names: boolean;
  /** Whether it is a scalar: at most one member, with the name `''`. */
  readonly isScalar: boolean;
}

const NONE: readonly NamedValue[] = [];

/** The source of a scalar variable. */
function scalar(variable: WafScalar, phase: 1 | 2): ValueSource {
  const members = (transaction: Transaction): readonly NamedValue[] => {
    const value = scalarOf(transaction, variable);
    return value === null ? NONE : [{ name: '', value }];
  };
  return { variables: [variable], phase, members, names: false, isScalar: true };
}

/** Scalars of the request head. */
const HEAD_SCALARS = [
  'AUTH_TYPE',
  'QUERY_STRING',
  'REMOTE_ADDR',
  'REQUEST_BASENAME',
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

/** Scalars of the request body. */
const BODY_SCALARS = [
  'REQUEST_BODY',
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
] as const;

/** All sources. Variables that rules change, and counts (`&ARGS`), have none: `members.ts` reads them for each rule. */
export const VALUE_SOURCES: readonly ValueSource[] = [
  { variables: ['ARGS', 'ARGS_GET'], phase: 1, members: ({ query }) => query, names: false, isScalar: false },
  {
    variables: ['ARGS_NAMES', 'ARGS_GET_NAMES'],
    phase: 1,
    members: ({ query }) => query,
    names: true,
    isScalar: false,
  },
  {
    variables: ['REQUEST_COOKIES'],
    phase: 1,
    members: ({ cookies }) => cookies,
    names: false,
    isScalar: false,
  },
  {
    variables: ['REQUEST_COOKIES_NAMES'],
    phase: 1,
    members: ({ cookies }) => cookies,
    names: true,
    isScalar: false,
  },
  {
    variables: ['REQUEST_HEADERS'],
    phase: 1,
    members: ({ headers }) => headers,
    names: false,
    isScalar: false,
  },
  {
    variables: ['REQUEST_HEADERS_NAMES'],
    phase: 1,
    members: ({ headers }) => headers,
    names: true,
    isScalar: false,
  },
  ...HEAD_SCALARS.map((variable) => scalar(variable, 1)),
  { variables: ['ARGS', 'ARGS_POST'], phase: 2, members: postArguments, names: false, isScalar: false },
  {
    variables: ['ARGS_NAMES', 'ARGS_POST_NAMES'],
    phase: 2,
    members: postArguments,
    names: true,
    isScalar: false,
  },
  further('ARGS', ({ args }) => args),
  further('REQUEST_COOKIES', ({ cookies }) => cookies),
  further('REQUEST_HEADERS', ({ headers }) => headers),
  {
    variables: ['XML'],
    phase: 2,
    members: (transaction) => membersOf(transaction, 'XML'),
    names: false,
    isScalar: false,
  },
  ...(
    [
      'FILES',
      'FILES_NAMES',
      'FILES_SIZES',
      'MULTIPART_FILENAME',
      'MULTIPART_NAME',
      'MULTIPART_PART_HEADERS',
    ] as const
  ).map(
    (variable): ValueSource => ({
      variables: [variable],
      phase: 2,
      members: (transaction) => membersOf(transaction, variable),
      names: false,
      isScalar: false,
    }),
  ),
  ...BODY_SCALARS.map((variable) => scalar(variable, 2)),
];

/** Further readings of the members of a variable, from phase 2 on. */
function further(
  variable: WafCollection,
  select: (readings: Transaction['further']) => readonly NamedValue[],
): ValueSource {
  const members: ValueSource['members'] = (transaction) => select(transaction.further);
  return { variables: [variable], phase: 2, members, names: false, isScalar: false };
}

function postArguments({ body }: Transaction): readonly NamedValue[] {
  return body?.parsed.args ?? NONE;
}

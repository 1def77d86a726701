/**
 * The value sources: from where in a request tested values come. The members of a source belong to each variable of its
 * list: an argument of the query is a member of ARGS and of ARGS_GET.
 */
import type { WafScalar, WafVariable } from '../../plan/signature-program.ts';
import type { NamedValue } from './named-value.ts';
import { membersOf, scalarOf, type Transaction } from './transaction.ts';

/** One source. */
export interface ValueSource {
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

/** All sources. Variables that rules change, and counts (`&ARGS`), have none: `gather.ts` reads them for each rule. */
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

function postArguments({ body }: Transaction): readonly NamedValue[] {
  return body?.parsed.args ?? NONE;
}

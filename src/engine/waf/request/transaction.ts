/**
 * The transaction of one inspection (ModSecurity's word): the request's variables, read on demand, and the state that
 * rules change. Phase 1 has the request head; `openBody` begins phase 2.
 */
import {
  WAF_SCALARS,
  type WafCollection,
  type WafScalar,
  type WafText,
  type WafVariable,
} from '../../plan/signature-program.ts';
import { type Meter, startMeter } from '../octets/meter.ts';
import type { BodyProcessor } from './bodies/body.ts';
import type { MultipartFlag, NamedValue, ParsedBody } from './bodies/parsed-body.ts';
import { decodedValues, unsplit, unsplitCookies } from './bodies/readings.ts';
import type { Exclusions, WafInput } from './inspection.ts';
import { allTx, createTx, readTx, type Tx, type TxStart } from './tx.ts';
import {
  headerOf,
  hostOf,
  portOf,
  processorOf,
  queryArguments,
  type ReadBody,
  type RequestLine,
  readBody,
  readCookies,
  readHeaders,
  readRequestLine,
} from './variables.ts';

const NONE: readonly NamedValue[] = [];

/** The state of one inspection. */
export interface Transaction {
  readonly input: WafInput;
  readonly line: RequestLine;
  readonly headers: readonly NamedValue[];
  readonly cookies: readonly NamedValue[];
  readonly query: readonly NamedValue[];
  /** The parser of the body; rules of phase 1 can choose another, rules of phase 2 cannot. `null`: none. */
  processor: BodyProcessor | null;
  /** Whether REQUEST_BODY is filled for every processor (`ctl:forceRequestBodyVariable`). */
  forced: boolean;
  /** Whether bodies are read as applications do (`ctl:decodeRequestBody`), not as ModSecurity does. */
  decodes: boolean;
  /** REQUEST_BODY; `null` in phase 1, and for processors that do not fill it. */
  rawBody: string | null;
  /** `null` in phase 1. */
  body: ReadBody | null;
  /** Further readings (`readings.ts`), from phase 2 on if `decodes`. */
  further: FurtherReadings;
  /** Whether rules run, and whether they may deny (`ctl:ruleEngine`). */
  engine: 'On' | 'Off' | 'DetectionOnly';
  readonly tx: Tx;
  /** MATCHED_VARS: the members that the current rule has matched, in order. */
  readonly matched: NamedValue[];
  readonly exclusions: Exclusions;
  readonly meter: Meter;
}

/** Further readings, as members of ARGS, REQUEST_COOKIES and REQUEST_HEADERS. */
interface FurtherReadings {
  readonly args: readonly NamedValue[];
  readonly cookies: readonly NamedValue[];
  readonly headers: readonly NamedValue[];
}

const NO_READINGS: FurtherReadings = { args: NONE, cookies: NONE, headers: NONE };

/** Opens the transaction of a request; `steps` is its step budget. */
export function openTransaction(
  input: WafInput,
  from: {
    readonly start: TxStart;
    readonly exclusions: Exclusions;
    readonly steps: number;
  },
): Transaction {
  const line = readRequestLine(input.request);
  const headers = readHeaders(input.request);
  return {
    input,
    line,
    headers,
    cookies: readCookies(headers),
    query: line.query === null ? [] : queryArguments(line.query),
    processor: processorOf(headerOf(headers, 'content-type')),
    forced: false,
    decodes: false,
    rawBody: null,
    body: null,
    further: NO_READINGS,
    engine: 'On',
    tx: createTx(from.start),
    matched: [],
    exclusions: from.exclusions,
    meter: startMeter(from.steps),
  };
}

/** Steps of parsing a body, for each octet. */
const BODY_STEPS = 6;

/** Begins phase 2: parses the body, if there is one, and reads what arguments and cookies are besides their text. */
export function openBody(transaction: Transaction): void {
  readBodyOf(transaction);
  if (transaction.decodes) readFurther(transaction);
}

/** Whether phase 2 has members that phase 1 did not have: those of a body, and further readings. */
export function hasMore({ body, further }: Transaction): boolean {
  const { args, cookies, headers } = further;
  return body !== null || args.length > 0 || cookies.length > 0 || headers.length > 0;
}

function readFurther(transaction: Transaction): void {
  const { line, query, body, cookies, headers } = transaction;
  const args = [...decodedValues(query), ...decodedValues(body?.parsed.args ?? NONE)];
  const rest = line.query === null ? null : unsplit(line.query, query);
  const header = unsplitCookies(cookies);
  transaction.further = {
    args: rest === null ? args : [...args, rest],
    cookies: header === null ? decodedValues(cookies) : [...decodedValues(cookies), header],
    headers: decodedValues(headers),
  };
}

function readBodyOf(transaction: Transaction): void {
  const { input, processor, headers, forced, decodes, meter } = transaction;
  if (input.body === null || input.body.length === 0) return;
  const contentType = headerOf(headers, 'content-type') ?? '';
  const read = readBody(input.body, { processor, contentType, truncated: input.truncated, decodes });
  meter.left -= BODY_STEPS * read.octets;
  const error = input.bodyError ?? null;
  transaction.body = error === null ? read : { ...read, parsed: { ...read.parsed, error } };
  transaction.rawBody = forced || hasRawBody(processor) ? transaction.body.text : null;
}

const SCALARS: ReadonlySet<string> = new Set(WAF_SCALARS);

/** Whether a variable has one value, as opposed to a collection of members. */
export function isScalar(variable: WafVariable): variable is WafScalar {
  return SCALARS.has(variable);
}

/** The members of a collection, in the order of the request. */
export function membersOf(transaction: Transaction, variable: WafCollection): readonly NamedValue[] {
  const { body, query, further } = transaction;
  switch (variable) {
    case 'ARGS':
      return [...namedArguments(transaction), ...further.args];
    case 'ARGS_GET':
      return query;
    case 'ARGS_POST':
      return body?.parsed.args ?? NONE;
    case 'ARGS_NAMES':
      return namesOf(namedArguments(transaction));
    case 'ARGS_GET_NAMES':
      return namesOf(query);
    case 'ARGS_POST_NAMES':
      return namesOf(body?.parsed.args ?? NONE);
    case 'REQUEST_COOKIES':
      return [...transaction.cookies, ...further.cookies];
    case 'REQUEST_COOKIES_NAMES':
      return namesOf(transaction.cookies);
    case 'REQUEST_HEADERS':
      return [...transaction.headers, ...further.headers];
    case 'REQUEST_HEADERS_NAMES':
      return namesOf(transaction.headers);
    case 'FILES':
      return (body?.parsed.files ?? []).map(({ name, filename }) => ({ name, value: filename }));
    case 'FILES_NAMES':
      return (body?.parsed.files ?? []).map(({ name }) => ({ name, value: name }));
    case 'FILES_SIZES':
      return (body?.parsed.files ?? []).map(({ name, size }) => ({ name, value: String(size) }));
    case 'MULTIPART_NAME':
      return (body?.parsed.partNames ?? []).map((name) => ({ name, value: name }));
    case 'MULTIPART_FILENAME':
      return (body?.parsed.partFilenames ?? []).map((name) => ({ name, value: name }));
    case 'MULTIPART_PART_HEADERS':
      return body?.parsed.partHeaders ?? NONE;
    case 'XML':
      return body === null ? NONE : xmlMembers(body.parsed);
    case 'MATCHED_VARS':
      return transaction.matched;
    case 'MATCHED_VARS_NAMES':
      return transaction.matched.map(({ name }) => ({ name, value: name }));
    case 'TX':
      return allTx(transaction.tx);
    default:
      return variable satisfies never;
  }
}

/** The arguments as they were sent. */
function namedArguments({ query, body }: Transaction): readonly NamedValue[] {
  return body === null || body.parsed.args.length === 0 ? query : [...query, ...body.parsed.args];
}

function namesOf(members: readonly NamedValue[]): readonly NamedValue[] {
  return members.map(({ name }) => ({ name, value: name }));
}

/** Members of XML are named by XPath expressions: `/*` is the text of the document, `//@*` each attribute. */
function xmlMembers({ xmlText, xmlParts, xmlAttributes }: ParsedBody): readonly NamedValue[] {
  const texts = xmlText === null ? xmlParts : [xmlText, ...xmlParts];
  return [
    ...texts.map((value) => ({ name: '/*', value })),
    ...xmlAttributes.map((value) => ({ name: '//@*', value })),
  ];
}

/** The value of a scalar; `null`: the request does not have it. */
export function scalarOf(transaction: Transaction, variable: WafScalar): string | null {
  const { line, body, headers, input } = transaction;
  switch (variable) {
    case 'REQUEST_METHOD':
      return line.method;
    case 'REQUEST_PROTOCOL':
      return line.protocol;
    case 'REQUEST_LINE':
      return `${line.method} ${line.raw} ${line.protocol}`;
    case 'REQUEST_URI':
      return line.uri;
    case 'REQUEST_URI_RAW':
      return line.raw;
    case 'REQUEST_FILENAME':
      return line.filename;
    case 'REQUEST_BASENAME':
      return line.basename;
    case 'QUERY_STRING':
      return line.query;
    case 'REMOTE_ADDR':
      return typeof input.request.ip === 'string' ? input.request.ip : null;
    case 'SERVER_NAME':
      return hostOf(headerOf(headers, 'host'));
    case 'SERVER_PORT':
      return portOf(headerOf(headers, 'host'), input.request.scheme);
    case 'AUTH_TYPE':
      return headerOf(headers, 'authorization')?.split(' ', 1)[0] ?? null;
    case 'UNIQUE_ID':
      return null;
    case 'MATCHED_VAR':
      return transaction.matched.at(-1)?.value ?? null;
    case 'MATCHED_VAR_NAME':
      return transaction.matched.at(-1)?.name ?? null;
    case 'ARGS_COMBINED_SIZE':
      return String(combinedSize(namedArguments(transaction)));
    case 'FULL_REQUEST_LENGTH':
      return String(headSize(transaction) + (body?.text.length ?? 0));
    default:
      return bodyScalar(transaction, variable);
  }
}

function combinedSize(args: readonly NamedValue[]): number {
  return args.reduce((sum, { name, value }) => sum + name.length + value.length, 0);
}

/** The length in octets of the request head in HTTP/1.1 (RFC 9112 §2.1). */
function headSize({ line, headers }: Transaction): number {
  const first = line.method.length + line.raw.length + line.protocol.length + 4;
  return headers.reduce((sum, { name, value }) => sum + name.length + value.length + 4, first + 2);
}

/**
 * Whether REQUEST_BODY is filled: for forms as in ModSecurity, for JSON as in libmodsecurity 3 (the Core Rule Set
 * searches `"key":` there). Members of XML and multipart bodies are inspected one by one.
 */
function hasRawBody(processor: BodyProcessor | null): boolean {
  return processor === 'URLENCODED' || processor === 'JSON';
}

/** The value of a scalar of the body. */
function bodyScalar({ body, processor, rawBody }: Transaction, variable: WafScalar): string | null {
  switch (variable) {
    case 'REQBODY_PROCESSOR':
      return processor ?? '';
    case 'REQUEST_BODY':
      return rawBody;
    case 'REQUEST_BODY_LENGTH':
      return String(body?.text.length ?? 0);
    case 'REQBODY_ERROR':
    case 'REQBODY_PROCESSOR_ERROR':
      return (body?.parsed.error ?? null) === null ? '0' : '1';
    case 'REQBODY_ERROR_MSG':
      return body?.parsed.error ?? '';
    case 'FILES_COMBINED_SIZE':
      return String((body?.parsed.files ?? []).reduce((sum, { size }) => sum + size, 0));
    default:
      return body?.processor !== 'MULTIPART'
        ? null
        : String(body.parsed.multipart[variable as MultipartFlag]);
  }
}

// Macro expansion (ModSecurity reference manual, "Macro expansion"): `%{TX.name}` in arguments, messages, `setvar`.

/** Replaces every macro by the value of its variable; a variable without value becomes the empty text. */
export function expand(text: WafText, transaction: Transaction): string {
  let out = '';
  for (const part of text) {
    out += part.kind === 'literal' ? part.text : macroOf(transaction, part.variable, part.name);
  }
  return out;
}

/** The value of a macro: of a collection, its first member, or the first with that name, without case. */
function macroOf(transaction: Transaction, variable: WafVariable, name: string | null): string {
  if (isScalar(variable)) return scalarOf(transaction, variable) ?? '';
  if (variable === 'TX') return name === null ? '' : (readTx(transaction.tx, name.toLowerCase()) ?? '');
  const wanted = name?.toLowerCase() ?? null;
  const members = membersOf(transaction, variable);
  return members.find((one) => wanted === null || one.name.toLowerCase() === wanted)?.value ?? '';
}

/** The text if it has no macros, else `null`. */
export function plainText(text: WafText): string | null {
  let out = '';
  for (const part of text) {
    if (part.kind !== 'literal') return null;
    out += part.text;
  }
  return out;
}

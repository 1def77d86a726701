/** Request → the variables that rules look at (ModSecurity reference manual, "Variables"), each gathered when asked for. */
import {
  BODY_PARSERS,
  type BodyProcessor,
  parseUrlEncoded,
} from '../../../src/engine/waf/request/bodies/body.ts';
import { decodeBody } from '../../../src/engine/waf/request/bodies/decode-body.ts';
import { EMPTY_BODY, type ParsedBody } from '../../../src/engine/waf/request/bodies/parsed-body.ts';
import { decodedValues, unsplit, unsplitCookies } from '../../../src/engine/waf/request/bodies/readings.ts';
import type { WafInput } from '../../../src/engine/waf/request/inspection.ts';

/** A member of a collection, or a scalar under its own name. */
export interface Named {
  readonly name: string;
  readonly value: string;
}

export interface RequestState {
  readonly input: WafInput;
  readonly headers: readonly Named[];
  /** `''`: none. */
  processor: BodyProcessor | '';
  forced: boolean;
  decodes: boolean;
  /** Whether further readings are members: from phase 2 on, if phase 1 said so. */
  rereads: boolean;
  body: {
    readonly text: string;
    readonly parsed: ParsedBody;
    readonly raw: boolean;
    readonly multipart: boolean;
  } | null;
}

const octets = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** Header values are octets already, unless some character cannot be one. */
const headerOctets = (text: string): string => (/[^\0-\xff]/.test(text) ? octets(text) : text);

export function openRequest(input: WafInput): RequestState {
  const { headers: given = {}, host } = input.request;
  const all = given['host'] === undefined && host !== '' ? { host, ...given } : given;
  const headers = Object.entries(all).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => ({ name: octets(name), value: headerOctets(String(one)) })),
  );
  const type = headers.find(({ name }) => name === 'content-type')?.value ?? '';
  return {
    input,
    headers,
    processor: processorOf(type.toLowerCase()),
    forced: false,
    decodes: false,
    rereads: false,
    body: null,
  };
}

function processorOf(type: string): BodyProcessor | '' {
  if (type.startsWith('multipart/form-data')) return 'MULTIPART';
  if (type.startsWith('application/x-www-form-urlencoded')) return 'URLENCODED';
  if (/^application\/(?:json|[a-z0-9.-]+\+json)/.test(type)) return 'JSON';
  return /^(?:application\/(?:soap\+)?xml|text\/xml)/.test(type) ? 'XML' : '';
}

/** The body is read as phase 1 left it to be read; what phase 2 says about that comes too late. */
export function openBody(state: RequestState): void {
  const { input, processor, forced, decodes } = state;
  state.rereads = decodes;
  if (input.body === null || input.body.length === 0) return;
  const text = Buffer.from(input.body).toString('latin1');
  const contentType = state.headers.find(({ name }) => name === 'content-type')?.value ?? '';
  const { truncated, bodyError = null } = input;
  const given = { text, contentType, truncated };
  const decoded = decodes ? decodeBody(given, processor === '' ? null : processor) : null;
  const read = decoded?.parsed ?? (processor === '' ? EMPTY_BODY : BODY_PARSERS[processor](given));
  state.body = {
    text,
    parsed: bodyError === null ? read : { ...read, error: bodyError },
    raw: forced || processor === 'URLENCODED' || processor === 'JSON',
    multipart: (decoded ?? state).processor === 'MULTIPART',
  };
}

const names = (members: readonly Named[]): readonly Named[] =>
  members.map(({ name }) => ({ name, value: name }));

/** The members of a collection; `null`: it is no collection of the request. */
export function collectionOf(state: RequestState, variable: string): readonly Named[] | null {
  const parsed = state.body?.parsed ?? EMPTY_BODY;
  const { query } = lineOf(state);
  const sent = query === '' ? [] : parseUrlEncoded({ text: query }).args;
  switch (variable) {
    case 'ARGS':
      return [...sent, ...parsed.args, ...(state.rereads ? rereadArguments(query, sent, parsed.args) : [])];
    case 'ARGS_NAMES':
      return names([...sent, ...parsed.args]);
    case 'ARGS_GET':
      return sent;
    case 'ARGS_GET_NAMES':
      return names(sent);
    case 'ARGS_POST':
      return parsed.args;
    case 'ARGS_POST_NAMES':
      return names(parsed.args);
    case 'REQUEST_HEADERS':
      return [...state.headers, ...(state.rereads ? decodedValues(state.headers) : [])];
    case 'REQUEST_HEADERS_NAMES':
      return names(state.headers);
    case 'REQUEST_COOKIES':
      return [...cookiesOf(state), ...(state.rereads ? rereadCookies(cookiesOf(state)) : [])];
    case 'REQUEST_COOKIES_NAMES':
      return names(cookiesOf(state));
    case 'FILES':
      return parsed.files.map(({ name, filename }) => ({ name, value: filename }));
    case 'FILES_NAMES':
      return names(parsed.files.map(({ name }) => ({ name, value: name })));
    case 'FILES_SIZES':
      return parsed.files.map(({ name, size }) => ({ name, value: String(size) }));
    case 'MULTIPART_NAME':
      return parsed.partNames.map((name) => ({ name, value: name }));
    case 'MULTIPART_FILENAME':
      return parsed.partFilenames.map((name) => ({ name, value: name }));
    case 'MULTIPART_PART_HEADERS':
      return parsed.partHeaders;
    case 'XML': {
      const text = parsed.xmlText === null ? [] : [{ name: '/*', value: parsed.xmlText }];
      const parts = parsed.xmlParts.map((value) => ({ name: '/*', value }));
      return [...text, ...parts, ...parsed.xmlAttributes.map((value) => ({ name: '//@*', value }))];
    }
    default:
      return null;
  }
}

/** The arguments as they were sent. */
function argumentsOf(state: RequestState): readonly Named[] {
  return [...collectionOf(state, 'ARGS_GET')!, ...collectionOf(state, 'ARGS_POST')!];
}

function rereadArguments(query: string, sent: readonly Named[], posted: readonly Named[]): readonly Named[] {
  return [...decodedValues(sent), ...decodedValues(posted), unsplit(query, sent) ?? []].flat();
}

function rereadCookies(cookies: readonly Named[]): readonly Named[] {
  return [...decodedValues(cookies), unsplitCookies(cookies) ?? []].flat();
}

function cookiesOf({ headers }: RequestState): readonly Named[] {
  return headers
    .filter(({ name }) => name === 'cookie')
    .flatMap(({ value }) => value.replace(/[ \t-\r]+$/, '').split(';'))
    .map((piece) => /^[ \t-\r]*([^=]*)=?(.*)$/s.exec(piece)!)
    .map(([, name = '', value = '']) => ({ name, value }))
    .filter(({ name }) => name !== '');
}

function lineOf({ input: { request } }: RequestState) {
  const raw = octets(request.target);
  const scheme = raw.startsWith('/') ? -1 : raw.indexOf('://');
  const slash = scheme < 1 ? -1 : raw.indexOf('/', scheme + 3);
  const uri = slash < 0 ? raw : raw.slice(slash);
  const [path = ''] = uri.split('?', 1);
  const filename = path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return {
    method: headerOctets(request.method),
    protocol: request.protocol ?? 'HTTP/1.1',
    raw,
    uri,
    filename,
    basename: filename.split(/[/\\]/).at(-1)!,
    query: uri.slice(path.length + 1),
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** A scalar's value; `null`: it has none for this request, or not yet. */
export function scalarOf(state: RequestState, variable: string): string | null {
  const { body, headers, input } = state;
  const line = lineOf(state);
  const host = headers.find(({ name }) => name === 'host')?.value ?? null;
  const port = /:([^\]:]*)$/.exec(host ?? '');
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
      return line.query === '' ? null : line.query;
    case 'REMOTE_ADDR':
      return input.request.ip ?? null;
    case 'SERVER_NAME':
      return host === null || port === null ? host : host.slice(0, port.index);
    case 'SERVER_PORT':
      return port?.[1] || (input.request.scheme === 'http' ? '80' : '443');
    case 'AUTH_TYPE':
      return headers.find(({ name }) => name === 'authorization')?.value.split(' ')[0] ?? null;
    case 'ARGS_COMBINED_SIZE':
      return String(sum(argumentsOf(state).map(({ name, value }) => name.length + value.length)));
    case 'FULL_REQUEST_LENGTH': {
      const fields = headers.map(({ name, value }) => `${name}: ${value}\r\n`).join('');
      const head = `${line.method} ${line.raw} ${line.protocol}\r\n${fields}\r\n`;
      return String(head.length + (body?.text.length ?? 0));
    }
    case 'FILES_COMBINED_SIZE':
      return String(sum((body?.parsed.files ?? []).map(({ size }) => size)));
    case 'REQBODY_PROCESSOR':
      return state.processor;
    case 'REQUEST_BODY':
      return body?.raw === true ? body.text : null;
    case 'REQUEST_BODY_LENGTH':
      return String(body?.text.length ?? 0);
    case 'REQBODY_ERROR':
    case 'REQBODY_PROCESSOR_ERROR':
      return body?.parsed.error == null ? '0' : '1';
    case 'REQBODY_ERROR_MSG':
      return body?.parsed.error ?? '';
    default:
      if (!variable.startsWith('MULTIPART_') || body?.multipart !== true) return null;
      return String(body.parsed.multipart[variable as keyof ParsedBody['multipart']]);
  }
}

/**
 * Writes `envoy.service.auth.v3.CheckResponse`. In: what the proxy does with a request. Out: the octets of the message. Field
 * numbers are those of envoyproxy/data-plane-api at 84e8436 (2026-01-29): `envoy/service/auth/v3/external_auth.proto`,
 * `envoy/config/core/v3/base.proto`, `envoy/type/v3/http_status.proto`; of googleapis `google/rpc/status.proto`; of protobuf
 * `google/protobuf/struct.proto`.
 */
import { isUtf8 } from 'node:buffer';
import {
  closeMessage,
  createWriter,
  delimitedTag,
  isAscii,
  openMessage,
  type ProtobufWriter,
  varintTag,
  writeNumber,
  writeOctets,
  writeText,
  written,
} from './protobuf.ts';

/** A header that the proxy sets. */
export interface SetHeader {
  readonly name: string;
  /** One character an octet, as in Node. */
  readonly value: string;
  /** Whether headers of this name stay beside it; else it replaces them. */
  readonly appends: boolean;
}

/** What a CheckResponse says. */
export type CheckResponse =
  | {
      readonly kind: 'ok';
      /** Headers of the request. */
      readonly headers: readonly SetHeader[];
      /** Names of headers to remove from the request. */
      readonly remove: readonly string[];
      /** Headers of the response to the visitor. */
      readonly responseHeaders: readonly SetHeader[];
      readonly metadata: CheckMetadata;
    }
  | {
      readonly kind: 'denied';
      readonly status: number;
      readonly headers: readonly SetHeader[];
      readonly body: Uint8Array | string | null;
      readonly metadata: CheckMetadata;
    }
  | {
      /** A fault of ours: the proxy does what it does without an agent, and chooses the status. */
      readonly kind: 'error';
      readonly headers: readonly SetHeader[];
      readonly metadata: CheckMetadata;
    };

/** Fields for the proxy's log, in `envoy.filters.http.ext_authz`. */
export type CheckMetadata = Readonly<Record<string, string | readonly string[]>>;

/** Codes of `google.rpc.Code`. */
const CODE = { denied: 7, internal: 13 } as const;

// CheckResponse.
const STATUS = delimitedTag(1);
const DENIED_RESPONSE = delimitedTag(2);
const OK_RESPONSE = delimitedTag(3);
const DYNAMIC_METADATA = delimitedTag(4);
const ERROR_RESPONSE = delimitedTag(5);
// google.rpc.Status.
const STATUS_CODE = varintTag(1);
// OkHttpResponse.
const OK_HEADERS = delimitedTag(2);
const OK_REMOVE = delimitedTag(5);
const OK_RESPONSE_HEADERS = delimitedTag(6);
// DeniedHttpResponse, HttpStatus.
const DENIED_STATUS = delimitedTag(1);
const DENIED_HEADERS = delimitedTag(2);
const DENIED_BODY = delimitedTag(3);
const HTTP_STATUS_CODE = varintTag(1);
// HeaderValueOption, HeaderValue. Envoy reads `value` alone of what a service sends, not `raw_value`.
const OPTION_HEADER = delimitedTag(1);
const OPTION_ACTION = varintTag(3);
const HEADER_KEY = delimitedTag(1);
const HEADER_VALUE = delimitedTag(2);
/**
 * OVERWRITE_IF_EXISTS_OR_ADD; APPEND_IF_EXISTS_OR_ADD is 0, the default. Versions of Envoy that do not know the field
 * overwrite. The older field `append` is not written: with it Envoy joins values by a comma, which breaks Set-Cookie.
 */
const OVERWRITE = 2;
// google.protobuf.Struct, its entries, Value, ListValue.
const STRUCT_FIELDS = delimitedTag(1);
const ENTRY_KEY = delimitedTag(1);
const ENTRY_VALUE = delimitedTag(2);
const VALUE_TEXT = delimitedTag(3);
const VALUE_LIST = delimitedTag(6);
const LIST_VALUES = delimitedTag(1);

/** The octets of a message. */
export function encodeCheckResponse(response: CheckResponse): Buffer {
  const writer = createWriter();
  writeMetadata(writer, response.metadata);
  switch (response.kind) {
    case 'ok':
      writeOk(writer, response);
      break;
    case 'denied':
    case 'error':
      writeDenied(writer, response);
      break;
    default:
      response satisfies never;
  }
  const status = openMessage(writer);
  if (response.kind !== 'ok') {
    writeNumber(writer, STATUS_CODE, response.kind === 'denied' ? CODE.denied : CODE.internal);
  }
  closeMessage(writer, STATUS, status);
  return written(writer);
}

type Kind<K extends CheckResponse['kind']> = Extract<CheckResponse, { readonly kind: K }>;

function writeOk(writer: ProtobufWriter, { headers, remove, responseHeaders }: Kind<'ok'>): void {
  const opened = openMessage(writer);
  writeHeaders(writer, OK_RESPONSE_HEADERS, responseHeaders);
  for (let at = remove.length - 1; at >= 0; at--) writeWire(writer, OK_REMOVE, remove[at]!);
  writeHeaders(writer, OK_HEADERS, headers);
  closeMessage(writer, OK_RESPONSE, opened);
}

function writeDenied(writer: ProtobufWriter, response: Kind<'denied'> | Kind<'error'>): void {
  const opened = openMessage(writer);
  if (response.kind === 'denied' && response.body !== null) writeBody(writer, response.body);
  writeHeaders(writer, DENIED_HEADERS, response.headers);
  if (response.kind === 'denied') {
    const status = openMessage(writer);
    writeNumber(writer, HTTP_STATUS_CODE, response.status);
    closeMessage(writer, DENIED_STATUS, status);
  }
  closeMessage(writer, response.kind === 'denied' ? DENIED_RESPONSE : ERROR_RESPONSE, opened);
}

/** Writes a body. The field is a text: octets that are not UTF-8 would have the proxy refuse the whole message. */
function writeBody(writer: ProtobufWriter, body: Uint8Array | string): void {
  if (typeof body === 'string') writeText(writer, DENIED_BODY, body);
  else if (isUtf8(body)) writeOctets(writer, DENIED_BODY, body);
  else writeText(writer, DENIED_BODY, new TextDecoder('utf-8', { ignoreBOM: true }).decode(body));
}

/** Writes headers, the last one first. */
function writeHeaders(writer: ProtobufWriter, tag: number, headers: readonly SetHeader[]): void {
  for (let at = headers.length - 1; at >= 0; at--) {
    const { name, value, appends } = headers[at]!;
    const option = openMessage(writer);
    if (!appends) writeNumber(writer, OPTION_ACTION, OVERWRITE);
    const header = openMessage(writer);
    writeWire(writer, HEADER_VALUE, value);
    writeWire(writer, HEADER_KEY, name);
    closeMessage(writer, OPTION_HEADER, header);
    closeMessage(writer, tag, option);
  }
}

/** Writes a text with one character an octet: the same octets where they are UTF-8, else its characters in UTF-8. */
function writeWire(writer: ProtobufWriter, tag: number, text: string): void {
  if (isAscii(text)) return void writeText(writer, tag, text);
  const octets = wireOctets(text);
  if (octets === null) writeText(writer, tag, text);
  else writeOctets(writer, tag, octets);
}

/** The octets of a text with one character an octet; `null`: they are not UTF-8, and no CheckResponse has them. */
export function wireOctets(text: string): Buffer | null {
  const octets = Buffer.from(text, 'latin1');
  return isUtf8(octets) ? octets : null;
}

function writeMetadata(writer: ProtobufWriter, metadata: CheckMetadata): void {
  const opened = openMessage(writer);
  for (const [name, value] of Object.entries(metadata)) {
    const entry = openMessage(writer);
    const content = openMessage(writer);
    if (typeof value === 'string') writeText(writer, VALUE_TEXT, value);
    else writeList(writer, value);
    closeMessage(writer, ENTRY_VALUE, content);
    writeText(writer, ENTRY_KEY, name);
    closeMessage(writer, STRUCT_FIELDS, entry);
  }
  closeMessage(writer, DYNAMIC_METADATA, opened);
}

function writeList(writer: ProtobufWriter, values: readonly string[]): void {
  const list = openMessage(writer);
  for (let at = values.length - 1; at >= 0; at--) {
    const value = openMessage(writer);
    writeText(writer, VALUE_TEXT, values[at]!);
    closeMessage(writer, LIST_VALUES, value);
  }
  closeMessage(writer, VALUE_LIST, list);
}

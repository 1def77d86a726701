/**
 * Reads `envoy.service.auth.v3.CheckRequest`. In: the octets of a message. Out: what the door uses of it. Field numbers are
 * those of envoyproxy/data-plane-api at 84e8436 (2026-01-29): `envoy/service/auth/v3/external_auth.proto` and
 * `attribute_context.proto`, `envoy/config/core/v3/address.proto` and `base.proto`. Metadata of filters and routes,
 * certificates and labels are skipped.
 */
import { lowerName } from '../../../base/http/header-fields.ts';
import {
  delimitedTag,
  enterMessage,
  leaveMessage,
  ProtobufError,
  type ProtobufReader,
  readOctets,
  readTag,
  readText,
  readVarint,
  skipField,
  varintTag,
} from './protobuf.ts';

/** A request as the proxy describes it. Texts have one character an octet; empty: absent. */
export interface CheckRequest {
  method: string;
  /** With the query. */
  path: string;
  host: string;
  scheme: string;
  /** `HTTP/1.0`, `HTTP/1.1`, `HTTP/2`, `HTTP/3`. */
  protocol: string;
  /** Names in lower case and values, in turn, in the order they were sent; pseudo-headers such as `:path` among them. */
  readonly headers: string[];
  /** `headers` has each header as it was sent; else headers of one name are one text, and octets that are not UTF-8 are lost. */
  isRaw: boolean;
  /** A view of the message; `null`: it has none. */
  body: Buffer | null;
  /** The address of the connection's other end. */
  source: string;
  /** The port that the connection came to; 0: unknown. */
  port: number;
  serverName: string;
  /** What the configuration of the route adds; visitors have no part in it. */
  readonly extensions: Map<string, string>;
}

/** Most headers of a request: proxies accept fewer (Envoy: 100, unless configured). */
const MAX_HEADERS = 1_000;
/** Most context extensions. */
const MAX_EXTENSIONS = 100;

// CheckRequest, AttributeContext and the messages in it.
const ATTRIBUTES = delimitedTag(1);
const SOURCE = delimitedTag(1);
const DESTINATION = delimitedTag(2);
const REQUEST = delimitedTag(4);
const EXTENSIONS = delimitedTag(10);
const TLS_SESSION = delimitedTag(12);
const REQUEST_HTTP = delimitedTag(2);
const TLS_SNI = delimitedTag(1);
// AttributeContext.HttpRequest.
const HTTP_METHOD = delimitedTag(2);
const HTTP_HEADERS = delimitedTag(3);
const HTTP_PATH = delimitedTag(4);
const HTTP_HOST = delimitedTag(5);
const HTTP_SCHEME = delimitedTag(6);
const HTTP_PROTOCOL = delimitedTag(10);
const HTTP_BODY = delimitedTag(11);
const HTTP_RAW_BODY = delimitedTag(12);
const HTTP_HEADER_MAP = delimitedTag(13);
// AttributeContext.Peer, Address, SocketAddress.
const PEER_ADDRESS = delimitedTag(1);
const SOCKET_ADDRESS = delimitedTag(1);
const ADDRESS_TEXT = delimitedTag(2);
const ADDRESS_PORT = varintTag(3);
// HeaderMap, HeaderValue; an entry of a map has the first two fields of it.
const MAP_HEADERS = delimitedTag(1);
const KEY = delimitedTag(1);
const VALUE = delimitedTag(2);
const RAW_VALUE = delimitedTag(3);

/** Reads a message. @throws ProtobufError it is malformed, or has too many headers */
export function decodeCheckRequest(octets: Buffer): CheckRequest {
  const reader: ProtobufReader = { octets, at: 0, end: octets.length };
  const check: CheckRequest = {
    method: '',
    path: '',
    host: '',
    scheme: '',
    protocol: '',
    headers: [],
    isRaw: false,
    body: null,
    source: '',
    port: 0,
    serverName: '',
    extensions: new Map(),
  };
  readFields(reader, check, (tag) => {
    if (tag !== ATTRIBUTES) return false;
    readMessage(reader, check, attribute);
    return true;
  });
  return check;
}

/** Reads one field of a message; `false`: the field is not of use. */
type ReadField = (tag: number, reader: ProtobufReader, check: CheckRequest) => boolean;

/** Reads the fields up to the end of the message, and skips those that are not of use. */
function readFields(reader: ProtobufReader, check: CheckRequest, read: ReadField): void {
  for (let tag = readTag(reader); tag !== 0; tag = readTag(reader)) {
    if (!read(tag, reader, check)) skipField(reader, tag);
  }
}

/** Reads the message of a tag, field by field. Several of one field are merged, as Protocol Buffers have it. */
function readMessage(reader: ProtobufReader, check: CheckRequest, read: ReadField): true {
  const outer = enterMessage(reader);
  readFields(reader, check, read);
  leaveMessage(reader, outer);
  return true;
}

/** AttributeContext. */
function attribute(tag: number, reader: ProtobufReader, check: CheckRequest): boolean {
  switch (tag) {
    case SOURCE:
      return readMessage(reader, check, sourcePeer);
    case DESTINATION:
      return readMessage(reader, check, destinationPeer);
    case REQUEST:
      return readMessage(reader, check, request);
    case EXTENSIONS:
      return readExtension(reader, check);
    case TLS_SESSION:
      return readMessage(reader, check, tlsSession);
    default:
      return false;
  }
}

/** AttributeContext.Request; its time is not of use. */
function request(tag: number, reader: ProtobufReader, check: CheckRequest): boolean {
  return tag === REQUEST_HTTP && readMessage(reader, check, httpRequest);
}

/** AttributeContext.HttpRequest. */
function httpRequest(tag: number, reader: ProtobufReader, check: CheckRequest): boolean {
  switch (tag) {
    case HTTP_METHOD:
      check.method = readText(reader);
      return true;
    case HTTP_HEADERS:
      // The two are one field in later versions: where both are, the raw ones count.
      if (check.isRaw) return false;
      return readHeader(reader, check);
    case HTTP_PATH:
      check.path = readText(reader);
      return true;
    case HTTP_HOST:
      check.host = readText(reader);
      return true;
    case HTTP_SCHEME:
      check.scheme = readText(reader);
      return true;
    case HTTP_PROTOCOL:
      check.protocol = readText(reader);
      return true;
    case HTTP_BODY:
    case HTTP_RAW_BODY:
      check.body = readOctets(reader);
      return true;
    case HTTP_HEADER_MAP:
      if (!check.isRaw) check.headers.length = 0;
      check.isRaw = true;
      return readMessage(reader, check, headerMap);
    default:
      return false;
  }
}

/** HeaderMap. */
function headerMap(tag: number, reader: ProtobufReader, check: CheckRequest): boolean {
  return tag === MAP_HEADERS && readHeader(reader, check);
}

/** Reads a header: a HeaderValue, or an entry of the map `headers`. */
function readHeader(reader: ProtobufReader, { headers, isRaw }: CheckRequest): true {
  if (headers.length >= 2 * MAX_HEADERS) {
    throw new ProtobufError(`the request has more than ${MAX_HEADERS} headers`);
  }
  const outer = enterMessage(reader);
  let name = '';
  let value = '';
  for (let tag = readTag(reader); tag !== 0; tag = readTag(reader)) {
    if (tag === KEY) name = lowerName(readText(reader));
    else if (tag === VALUE || (isRaw && tag === RAW_VALUE)) value = readText(reader);
    else skipField(reader, tag);
  }
  leaveMessage(reader, outer);
  headers.push(name, value);
  return true;
}

/** An entry of `context_extensions`. */
function readExtension(reader: ProtobufReader, { extensions }: CheckRequest): true {
  const outer = enterMessage(reader);
  let name = '';
  let value = '';
  for (let tag = readTag(reader); tag !== 0; tag = readTag(reader)) {
    if (tag === KEY) name = readText(reader);
    else if (tag === VALUE) value = readText(reader);
    else skipField(reader, tag);
  }
  leaveMessage(reader, outer);
  extensions.set(name, value);
  if (extensions.size > MAX_EXTENSIONS) {
    throw new ProtobufError(`there are more than ${MAX_EXTENSIONS} context extensions`);
  }
  return true;
}

/** AttributeContext.TLSSession. */
function tlsSession(tag: number, reader: ProtobufReader, check: CheckRequest): boolean {
  if (tag !== TLS_SNI) return false;
  check.serverName = readText(reader);
  return true;
}

// The peers. PERF: a function a level, so that reading a message makes no closure.

/** AttributeContext.Peer of the source. */
function sourcePeer(tag: number, reader: ProtobufReader, check: CheckRequest): boolean {
  return tag === PEER_ADDRESS && readMessage(reader, check, sourceAddress);
}

function sourceAddress(tag: number, reader: ProtobufReader, check: CheckRequest): boolean {
  return tag === SOCKET_ADDRESS && readMessage(reader, check, sourceSocket);
}

function sourceSocket(tag: number, reader: ProtobufReader, check: CheckRequest): boolean {
  if (tag !== ADDRESS_TEXT) return false;
  check.source = readText(reader);
  return true;
}

/** AttributeContext.Peer of the destination. */
function destinationPeer(tag: number, reader: ProtobufReader, check: CheckRequest): boolean {
  return tag === PEER_ADDRESS && readMessage(reader, check, destinationAddress);
}

function destinationAddress(tag: number, reader: ProtobufReader, check: CheckRequest): boolean {
  return tag === SOCKET_ADDRESS && readMessage(reader, check, destinationSocket);
}

function destinationSocket(tag: number, reader: ProtobufReader, check: CheckRequest): boolean {
  if (tag !== ADDRESS_PORT) return false;
  check.port = readVarint(reader);
  return true;
}

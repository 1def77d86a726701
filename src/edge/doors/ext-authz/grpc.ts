/**
 * gRPC over HTTP/2 for unary calls ("gRPC over HTTP2" in grpc/grpc `doc/PROTOCOL-HTTP2.md`; status codes in
 * `doc/statuscodes.md`). In: what has arrived on a stream. Out: the message of the call, or the status that refuses it; and
 * the response of a stream.
 */
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';

/** The status codes that the door answers with. */
export const GRPC = {
  ok: 0,
  invalidArgument: 3,
  notFound: 5,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
} as const;

/** Why a call gets no message in reply. */
export interface GrpcRefusal {
  readonly code: (typeof GRPC)[keyof typeof GRPC];
  /** A sentence for the log of the proxy. */
  readonly message: string;
}

/** Octets in front of a message: whether it is compressed, and its length. */
export const PREFIX_OCTETS = 5;

const CONTENT_TYPE = 'application/grpc';

/** Whether a call has a message format that the door reads. */
export function isGrpc(headers: IncomingHttpHeaders): boolean {
  const type = headers['content-type'];
  if (type === CONTENT_TYPE) return true;
  return type !== undefined && (type === `${CONTENT_TYPE}+proto` || type.startsWith(`${CONTENT_TYPE};`));
}

/** The length that the prefix of the first message states, prefix included; 0: the prefix has not arrived. */
export function framedLength(octets: Buffer): number {
  return octets.length < PREFIX_OCTETS ? 0 : PREFIX_OCTETS + octets.readUInt32BE(1);
}

/** The one message of a unary call, from all octets of its request. */
export function unaryMessage(octets: Buffer): Buffer | GrpcRefusal {
  if (octets.length === 0) return refusal(GRPC.unimplemented, 'the call has no message');
  const length = framedLength(octets);
  if (length === 0 || octets.length < length)
    return refusal(GRPC.internal, 'the request ends within a message');
  if (octets[0] === 1) {
    return refusal(GRPC.unimplemented, 'the message is compressed; the service reads `identity` alone');
  }
  if (octets[0] !== 0) return refusal(GRPC.internal, 'the first octet of a message is neither 0 nor 1');
  if (octets.length > length) return refusal(GRPC.unimplemented, 'the call has several messages');
  return octets.subarray(PREFIX_OCTETS);
}

/** A refusal. */
export function refusal(code: GrpcRefusal['code'], message: string): GrpcRefusal {
  return { code, message };
}

const RESPONSE_HEADERS = Object.freeze({ ':status': 200, 'content-type': CONTENT_TYPE });
const OK_TRAILERS = Object.freeze({ 'grpc-status': String(GRPC.ok) });
const WITH_TRAILERS = Object.freeze({ waitForTrailers: true });

/** Sends the message in reply, and the status OK. */
export function sendMessage(stream: ServerHttp2Stream, message: Buffer): void {
  const framed = Buffer.allocUnsafe(PREFIX_OCTETS + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  message.copy(framed, PREFIX_OCTETS);
  stream.respond(RESPONSE_HEADERS, WITH_TRAILERS);
  stream.once('wantTrailers', () => stream.sendTrailers(OK_TRAILERS));
  stream.end(framed);
}

/** Sends a status without a message: headers alone. */
export function sendRefusal(stream: ServerHttp2Stream, { code, message }: GrpcRefusal): void {
  const headers = {
    ...RESPONSE_HEADERS,
    'grpc-status': String(code),
    'grpc-message': percentEncoded(message),
    'grpc-accept-encoding': 'identity',
  };
  stream.respond(headers, { endStream: true });
}

/** Sends a status of HTTP, to a client that does not speak gRPC. */
export function sendHttpStatus(stream: ServerHttp2Stream, status: number): void {
  stream.respond({ ':status': status }, { endStream: true });
}

/** A sentence as `grpc-message` has it: octets of UTF-8, those outside of printable ASCII and `%` percent-encoded. */
export function percentEncoded(message: string): string {
  let encoded = '';
  for (const octet of Buffer.from(message)) {
    encoded +=
      octet >= 0x20 && octet <= 0x7e && octet !== 0x25
        ? String.fromCharCode(octet)
        : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}

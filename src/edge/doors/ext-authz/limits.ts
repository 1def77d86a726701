/** Limits of the gRPC door, each with its reason. */

/** Most connections at a time: a proxy opens one for each of its threads, and more where streams do not suffice. */
export const MAX_CONNECTIONS = 1_024;
/** Most concurrent calls of a connection: Envoy opens another one beyond. */
export const MAX_STREAMS = 512;
/** Most octets of a message, as with gRPC libraries: `max_request_bytes` has to stay below. */
export const MAX_MESSAGE_OCTETS = 4 * 1024 * 1024;
/** Most octets of unread messages of all connections together: of some thousand calls with bodies of 64 KiB. */
export const MAX_BUFFERED_OCTETS = 128 * 1024 * 1024;
/** The flow-control window of a call, in octets: most messages with a body come in one go. */
export const STREAM_WINDOW = 256 * 1024;
/** The flow-control window of a connection, in octets. */
export const CONNECTION_WINDOW = 4 * 1024 * 1024;
/** Most MiB that a session's own state may have, which Node counts with what it has not yet sent. */
export const SESSION_MIB = 64;
/** Octets of a call's headers: its own, not those of the request that is asked about. */
export const MAX_HEAD_OCTETS = 16 * 1024;
/** Milliseconds for a whole message to arrive, and for a response to be taken: proxies give up after fractions of it. */
export const CALL_MS = 10_000;
/** Milliseconds between two looks at open calls. */
export const SWEEP_MS = 1_000;
/**
 * Cancelled calls of a connection, at once and for each second from then on, before Node ends it (CVE-2023-44487): the
 * proxy cancels every call that takes too long for it, which under overload are thousands.
 */
export const RESETS = { burst: 100_000, perSecond: 20_000 } as const;
/** Milliseconds after the first GOAWAY before a connection without calls is closed: those on their way arrive meanwhile. */
export const GOAWAY_MS = 100;
/** Milliseconds between two sentences of one kind in the log. */
export const LOG_MS = 60_000;
/**
 * `max_request_bytes` of the filter as in `fixtures/proxies/envoy.yaml`, where the context extension states none: of a body
 * without a Content-Length that has so many octets there may be more (`to-request.ts`).
 */
export const BODY_LIMIT = 64 * 1024;

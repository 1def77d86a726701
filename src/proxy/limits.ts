/** Bounds of the node, each with its reason. */

/** Octets of a request's head; nginx's four buffers of 8 KiB hold as much. */
export const MAX_HEAD_OCTETS = 32 * 1024;
/** Headers of a request; as many as common servers take. */
export const MAX_HEADERS = 200;
/** Milliseconds for a whole head to arrive: slow senders are not worth a connection. */
export const HEAD_MS = 15_000;
/** Milliseconds for a whole request to arrive, large uploads over slow lines included. */
export const REQUEST_MS = 30 * 60_000;
/** Milliseconds an idle connection is kept: longer than the idle time of the proxies commonly in front. */
export const IDLE_MS = 75_000;
/** Milliseconds a connection that is in a request may send and take nothing. */
export const STALL_MS = 60_000;
/** Milliseconds that a client may go on sending a body nobody wants, after its answer: time to read it. */
export const LINGER_MS = 5_000;
/** Requests in flight on one HTTP/2 connection, as nginx and most others allow. */
export const MAX_STREAMS = 128;
/**
 * Connections of clients at a time, unless the operator says otherwise: with TLS some 60 KiB each. Idle ones are ended
 * where it becomes crowded.
 */
export const MAX_CONNECTIONS = 10_000;
/** The same of one address: offices and mobile networks put hundreds of people behind one. */
export const MAX_ADDRESS_CONNECTIONS = 1_000;
/** The same of WebSockets, which stay for hours and hold a connection to an origin each. */
export const MAX_WEBSOCKETS = 5_000;
/**
 * Milliseconds that a WebSocket may be without any octet either way, unless the operator says otherwise: nginx's
 * `proxy_read_timeout`. Clients that mean to stay send pings more often than that.
 */
export const WEBSOCKET_IDLE_MS = 60_000;
/** Octets of a head of an origin's answer. */
export const MAX_ORIGIN_HEAD_OCTETS = 64 * 1024;
/** Interim answers (RFC 9110 §15.2) of an origin to one request: one or two are usual, and no client holds them back. */
export const MAX_INFORMATIONAL = 16;
/**
 * Passes of one request through edges, counted by its `CDN-Loop`: two in a row are usual where a customer's origin is
 * another edge, a third where such a one is being replaced. What passed more often goes in a circle.
 */
export const MAX_PASSES = 3;
/** Requests that wait for a connection to one origin: those of a second at the rate that one process serves. */
export const MAX_QUEUED = 8_192;
/** Milliseconds that a request waits for a connection to its origin: what comes later than that is of no use to people. */
export const QUEUE_MS = 10_000;
/** Milliseconds to reach an origin, and to its head where the record says nothing else. */
export const CONNECT_MS = 5_000;
export const ORIGIN_MS = 60_000;
/**
 * Milliseconds for the DNS to tell an origin's addresses, below those for its connection, and for its first try: a
 * resolver that lies down leaves time for the next.
 */
export const ORIGIN_DNS_MS = 3_000;
export const ORIGIN_DNS_TRY_MS = 1_000;
/** Milliseconds that addresses are believed, whatever the DNS says: none is asked for at each connection, nor for a day. */
export const NAME_CACHE_MS = { least: 1_000, most: 300_000 } as const;
/** The same of a name without addresses, and of the system's own tables: what heals does so within that. */
export const NAME_RECHECK_MS = 5_000;
/** Milliseconds that addresses are used on while the DNS fails (RFC 8767 §4 has one to three days). */
export const NAME_STALE_MS = 24 * 60 * 60_000;
/** Names of origins whose addresses are remembered: some 5 MB. */
export const MAX_ORIGIN_NAMES = 10_000;
/** Milliseconds an idle connection to an origin is kept: below the 5 s after which Node's own servers close theirs. */
export const ORIGIN_IDLE_MS = 4_000;
/** Octets of a PROXY header: version 2 with the certificate names and cloud ids that balancers add. */
export const MAX_PROXY_OCTETS = 4 * 1024;
/** Milliseconds for a PROXY header: it comes from a machine nearby, in its first packet. */
export const PROXY_MS = 5_000;
/** Octets of a ClientHello: with post-quantum keys and padding the largest in use take 2 to 4 KiB. */
export const MAX_HELLO_OCTETS = 16 * 1024;
/** The same in records: six octets for one where every record holds a single octet. */
export const MAX_HELLO_RECORD_OCTETS = 6 * MAX_HELLO_OCTETS;
/** Milliseconds for a ClientHello, and again for the rest of a handshake. */
export const HELLO_MS = 10_000;
/** Streams that a client may give up on one HTTP/2 connection before it is asked whether it finishes as many. */
export const MAX_STREAM_RESETS = 100;
/**
 * Pings and settings of one HTTP/2 connection in a row, and how many more each second allows: clients that measure their
 * bandwidth send a ping each time that one comes back, over lines of some milliseconds.
 */
export const MAX_CONTROL_FRAMES = 5_000;
export const CONTROL_FRAMES_PER_SECOND = 500;
/** Octets of a certificate file: a chain of RSA certificates takes 6 to 10 KiB. */
export const MAX_CERTIFICATE_OCTETS = 64 * 1024;
/** Certificates of a node: some 4 KiB of memory each. */
export const MAX_CERTIFICATES = 20_000;
/** TLS contexts kept ready, the least recently used leaving first: some 40 KiB each, made within a millisecond. */
export const MAX_TLS_CONTEXTS = 1_000;
/** Folders watched for changes; systems give all processes of a user 8,192 and more together. */
export const MAX_WATCHED_FOLDERS = 512;
/** Milliseconds for one answer of the DNS about a bot, and how often it is asked. */
export const DNS_MS = 2_000;
export const DNS_TRIES = 2;
/** User-Agents whose bot is remembered, and how long one may be for it: some 2 MB. */
export const MAX_AGENTS = 2_000;
export const MAX_AGENT_CHARACTERS = 1_024;
/** Octets of a country database: the largest city databases have some 150 MB. */
export const MAX_COUNTRY_OCTETS = 512 * 1024 * 1024;
/** Octets of a list of ranges: Google's longest has some 100 KB. */
export const MAX_RANGES_OCTETS = 2 * 1024 * 1024;
/** Milliseconds for one request to a certificate authority. */
export const ACME_REQUEST_MS = 30_000;
/** Milliseconds for one certificate, from the order to the file: authorities ask from several places and may queue. */
export const ACME_NAME_MS = 10 * 60_000;
/** Characters of a challenge's token that is looked up (RFC 8555 §8.3 has them of 22 and more). */
export const MAX_TOKEN_CHARACTERS = 256;
/** Origins refused for their address that are logged in so many milliseconds: customers choose as many as they like. */
export const REFUSALS_LOGGED = 10;
export const REFUSALS_MS = 60_000;
/**
 * Octets that a coding may add to what it cannot compress: a few for each stored block (RFC 1951 §3.2.4) and each flush of
 * a stream, and gzip's header with a file name. A body with more than that is padded, and counts as not readable.
 */
export const CODING_OVERHEAD = { share: 1 / 8, octets: 1_024 } as const;

/** Limits of a node, its logs and its metrics, each with its reason. */

/** Maximum size, in octets, of a request's head: as large as nginx's four buffers of 8 KiB. */
export const MAX_HEAD_OCTETS = 32 * 1024;
/** Maximum number of headers per request, as many as common servers accept. */
export const MAX_HEADERS = 200;
/** Maximum time, in milliseconds, for a whole head to arrive: a protection against slow-header attacks (Slowloris). */
export const HEAD_MS = 15_000;
/** Maximum time, in milliseconds, for a whole request to arrive, large uploads over slow lines included. */
export const REQUEST_MS = 30 * 60_000;
/** Milliseconds until an idle connection is closed: longer than the idle time of common proxies in front. */
export const IDLE_MS = 75_000;
/**
 * Maximum time, in milliseconds, that a request may be without an octet either way, by default: nginx's `proxy_read_timeout`.
 * Within a response the `timeout` of the record governs its origin instead.
 */
export const STALL_MS = 60_000;
/**
 * Milliseconds between two readings of the queues of responses: a fifth of the time before a client's rate counts at all.
 */
export const SWEEP_MS = 1_000;
/**
 * Maximum time, in milliseconds, for which a client may still send its body after the response, so that it can read the
 * response.
 */
export const LINGER_MS = 5_000;
/** Maximum number of concurrent streams per HTTP/2 connection, as with nginx and most others. */
export const MAX_STREAMS = 128;
/**
 * Maximum number of client connections at a time, by default: with TLS some 60 KiB of memory each. Idle ones are closed
 * when few are left.
 */
export const MAX_CONNECTIONS = 10_000;
/**
 * Maximum number of client connections per address, by default: offices and mobile networks have hundreds of people
 * behind one.
 */
export const MAX_ADDRESS_CONNECTIONS = 1_000;
/** Maximum number of WebSockets at a time, by default: each lasts for hours and uses a connection to an origin. */
export const MAX_WEBSOCKETS = 5_000;
/**
 * Maximum time, in milliseconds, that a WebSocket may be without any octet either way, by default: nginx's
 * `proxy_read_timeout`. Clients that stay connected send pings more often.
 */
export const WEBSOCKET_IDLE_MS = 60_000;
/**
 * Maximum time, in milliseconds, for the closing handshake of a WebSocket when the node drains: as long as a lingering
 * close, and half of the time that requests then have to end.
 */
export const WEBSOCKET_CLOSE_MS = 5_000;
/** Maximum size, in octets, of the head of an origin's response. */
export const MAX_ORIGIN_HEAD_OCTETS = 64 * 1024;
/**
 * Maximum number of interim responses (RFC 9110 §15.2) of an origin per request: one or two are usual, and they have no
 * flow control.
 */
export const MAX_INFORMATIONAL = 16;
/**
 * Maximum number of passes of one request through edges, counted by its `CDN-Loop`: two are usual if a customer's origin
 * is another edge, three while such an edge is being replaced. More are a loop.
 */
export const MAX_PASSES = 3;
/**
 * Maximum number of requests that wait for a connection per origin: about one second of the requests that a process can
 * serve.
 */
export const MAX_QUEUED = 8_192;
/**
 * Maximum time, in milliseconds, that a request waits for a connection to its origin: a later response is of no use to
 * people.
 */
export const QUEUE_MS = 10_000;
/** Maximum time, in milliseconds, to connect to an origin. */
export const CONNECT_MS = 5_000;
/**
 * Maximum time, in milliseconds, that the 100 of an origin is awaited before the body is sent (RFC 9110 §10.1.1): curl's. Many
 * origins send none.
 */
export const CONTINUE_MS = 1_000;
/** Maximum time, in milliseconds, until the head of an origin's response arrives, unless the record sets another limit. */
export const ORIGIN_MS = 60_000;
/**
 * Maximum time, in milliseconds, to look up the addresses of an origin, shorter than for its connection, and for the
 * first query: after a resolver that does not answer there is time for the next.
 */
export const ORIGIN_DNS_MS = 3_000;
export const ORIGIN_DNS_TRY_MS = 1_000;
/** Minimum and maximum time, in milliseconds, for which addresses are cached, whatever their TTL. */
export const NAME_CACHE_MS = { least: 1_000, most: 300_000 } as const;
/** Milliseconds for which a name without addresses, and an answer of the system's tables, is cached. */
export const NAME_RECHECK_MS = 5_000;
/**
 * Maximum time, in milliseconds, for which stale addresses are used while the DNS fails (RFC 8767 §4 suggests one to
 * three days).
 */
export const NAME_STALE_MS = 24 * 60 * 60_000;
/** Maximum number of origin names whose addresses are cached: some 5 MB. */
export const MAX_ORIGIN_NAMES = 10_000;
/** Milliseconds until an idle connection to an origin is closed: below the 5 s of Node's own servers. */
export const ORIGIN_IDLE_MS = 4_000;
/**
 * Maximum size, in octets, of a PROXY header: enough for version 2 with the certificate names and cloud ids that load
 * balancers add.
 */
export const MAX_PROXY_OCTETS = 4 * 1024;
/** Maximum time, in milliseconds, for a PROXY header, which a nearby machine sends in its first packet. */
export const PROXY_MS = 5_000;
/** Maximum size, in octets, of a ClientHello: the largest in use, with post-quantum keys and padding, have 2 to 4 KiB. */
export const MAX_HELLO_OCTETS = 16 * 1024;
/**
 * Maximum size, in octets, of the records of a ClientHello: six times as large if every record has a single octet of it.
 */
export const MAX_HELLO_RECORD_OCTETS = 6 * MAX_HELLO_OCTETS;
/** Maximum time, in milliseconds, for a ClientHello, and again for the rest of a handshake. */
export const HELLO_MS = 10_000;
/** Maximum number of streams that a client may reset per HTTP/2 connection before their share of all streams counts. */
export const MAX_STREAM_RESETS = 100;
/**
 * Maximum burst of PING and SETTINGS frames on one HTTP/2 connection, and how many more are allowed per second: clients
 * that measure bandwidth send a ping at each reply, over lines with a round trip of some milliseconds.
 */
export const MAX_CONTROL_FRAMES = 5_000;
export const CONTROL_FRAMES_PER_SECOND = 500;
/** Maximum size, in octets, of a certificate file: a chain of RSA certificates has 6 to 10 KiB. */
export const MAX_CERTIFICATE_OCTETS = 64 * 1024;
/** Maximum number of certificates per node: some 4 KiB of memory each. */
export const MAX_CERTIFICATES = 20_000;
/** Maximum number of cached TLS contexts, evicted by least recent use: some 40 KiB each, created within a millisecond. */
export const MAX_TLS_CONTEXTS = 1_000;
/**
 * Maximum number of names with a server for TLS 1.2, evicted by least recent use: some 20 KiB each, created within a
 * millisecond. Only clients without TLS 1.3 need them.
 */
export const MAX_TLS12_NAMES = 250;
/** Maximum number of folders watched for changes; systems allow 8,192 and more for all processes of a user together. */
export const MAX_WATCHED_FOLDERS = 512;
/** Maximum time, in milliseconds, for one DNS answer about a bot, and the maximum number of tries. */
export const DNS_MS = 2_000;
export const DNS_TRIES = 2;
/** Maximum number of User-Agents whose bot is cached, and the maximum length, in characters, of a cached one: some 2 MB. */
export const MAX_AGENTS = 2_000;
export const MAX_AGENT_CHARACTERS = 1_024;
/** Maximum size, in octets, of a database of countries or autonomous systems: the largest, with cities, have some 150 MB. */
export const MAX_DATABASE_OCTETS = 512 * 1024 * 1024;
/** Maximum size, in octets, of a list of ranges: Google's longest has some 100 KB. */
export const MAX_RANGES_OCTETS = 2 * 1024 * 1024;
/** Maximum time, in milliseconds, for one request to a certificate authority. */
export const ACME_REQUEST_MS = 30_000;
/**
 * Maximum time, in milliseconds, for one certificate, from the order to the file: authorities validate from several
 * places, and queue.
 */
export const ACME_NAME_MS = 10 * 60_000;
/** Maximum length, in characters, of a challenge's token; RFC 8555 §8.3 requires at least 22. */
export const MAX_TOKEN_CHARACTERS = 256;
/**
 * Maximum number of refused origins logged per period, and the period in milliseconds: customers choose any number of
 * origins.
 */
export const REFUSALS_LOGGED = 10;
export const REFUSALS_MS = 60_000;
/**
 * Milliseconds for which a node that starts is not ready while first probes of pools are due: two attempts within the usual
 * time limit of a probe. An origin that does not answer delays no node for longer.
 */
export const FIRST_PROBES_MS = 10_000;

/** The share of plain forwards that is logged: enough to see traffic by, too few to cost anything. */
export const DEFAULT_RATE = 0.01;
/**
 * Maximum size, in octets, of all queued lines: enough for a disk that stalls for a second at 5,000 blocked requests a
 * second.
 */
export const MAX_WAITING_OCTETS = 8 * 1024 * 1024;
/** Octets of queued lines that start a write at once. */
export const WRITE_OCTETS = 64 * 1024;
/**
 * Maximum time, in milliseconds, that a line waits for others to be written with it: `tail -f` shows it without a
 * noticeable delay.
 */
export const WRITE_MS = 200;
/**
 * Lines of one domain that a node ships to the control plane a second, all its processes together, unless its operator sets
 * another number: enough to follow an attack by, while the worst one costs its node a few megabytes a minute.
 */
export const SHIPPED_PER_SEC = 50;
/** The most that an operator can set: a control plane takes some 1,000 lines a second of a node. */
export const MAX_SHIPPED_PER_SEC = 1_000;
/** Seconds of that rate that are shipped at once. */
export const SHIPPED_BURST_SEC = 10;
/** Domains whose rate is remembered; those above it are dropped until another one has been quiet for some seconds. */
export const MAX_SHIPPED_DOMAINS = 20_000;
/** Milliseconds until a failed write or open is tried again. */
export const RETRY_MS = 1_000;
/** Maximum time, in milliseconds, that the process waits for the last lines when it exits. */
export const FLUSH_ON_STOP_MS = 2_000;
/** Maximum length, in characters, of a target; longer ones are attacks or data, which their start shows. */
export const MAX_TARGET = 2_048;
/**
 * Maximum length, in characters, of one header's value: the longest User-Agents of browsers with their add-ons have half
 * of it.
 */
export const MAX_HEADER = 512;
/** Maximum length, in characters, of a host: no valid one is longer. */
export const MAX_HOST = 255;
/** Maximum number of header names listed under `withheld`. */
export const MAX_WITHHELD = 32;
/** Maximum number of matches logged per decision; `explain` lists all of them. */
export const MAX_MATCHES = 64;
/**
 * Maximum number of signatures that a line has with what they matched, all its verdicts together but at least one each: those
 * with the highest scores, which decide. Some 150 octets each.
 */
export const MAX_SIGNATURES = 32;
/** Maximum length, in characters, of a signature's message: the longest of the Core Rule Set has 101. */
export const MAX_SIGNATURE_NAME = 128;
/** Maximum length, in characters, of what it matched: an excerpt of 64 characters, each control character as four. */
export const MAX_SIGNATURE_PART = 256;
/** Maximum number of distinct values per label (cache results, faults): the code has some twenty. */
export const MAX_WORDS = 32;

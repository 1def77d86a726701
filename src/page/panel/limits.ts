/** Bounds of the page and of the server of `edgeplan play`. */

/** Plans of a file that stay in memory, the newest included: an hour of edits at the pace of one in three minutes. */
export const MAX_PLAYED_PLANS = 20;

/** Their octets together; the newest plan stays whatever its size. */
export const MAX_PLAYED_OCTETS = 64 * 1024 * 1024;

/** Event streams of one server; browsers open one for each tab, six at most to one host over HTTP/1.1. */
export const MAX_EVENT_STREAMS = 24;

/** Connections of one server: streams, and what the tabs load. */
export const MAX_PLAY_CONNECTIONS = 100;

/** Milliseconds for the head of a request, and for all of it: browsers are on this machine. */
export const PLAY_HEADERS_MS = 5_000;
export const PLAY_REQUEST_MS = 10_000;

/** Milliseconds between comments on an idle event stream, which find closed connections. */
export const EVENT_PING_MS = 15_000;

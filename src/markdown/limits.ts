/** Bounds of the Markdown rendering, each with its reason. A page beyond one of them goes out as HTML. */

/** Octets of a page, inflated or not: pages of text stay below a tenth of it. */
export const MAX_PAGE_OCTETS = 2 * 1024 * 1024;
/** Elements within each other, as many as browsers keep apart. */
export const MAX_DEPTH = 512;
/** Characters of Markdown: so many a character of the page, and some for the shortest ones. */
export const GROWTH = 4;
export const GROWTH_FLOOR = 4 * 1024;
/** Characters of the page's own address, which every relative link is read against. */
export const MAX_ADDRESS = 2 * 1024;
/** Characters of a link; a longer one holds data and leads nowhere. */
export const MAX_HREF = 8 * 1024;
/** Columns that one cell may span. */
export const MAX_SPAN = 32;
/** Characters of a code block's language. */
export const MAX_LANGUAGE = 32;
/** Octets at a page's beginning in which it may name its character encoding (HTML, "prescan a byte stream"). */
export const META_OCTETS = 1_024;
/** Milliseconds for a page to come from its origin, once its head is there. */
export const GATHER_MS = 10_000;
/** Milliseconds that a page waits for a thread: longer, and HTML now is worth more than Markdown later. */
export const WAIT_MS = 2_000;
/** Milliseconds that rendering takes: 2 MB take a processor 100 ms, and 400 ms where they are made to be slow. */
export const RENDER_MS = 5_000;
/** Pages that wait for a thread. */
export const MAX_QUEUED_PAGES = 64;
/** Octets of pages that are gathered, waiting, or rendered and not yet read by their clients. */
export const BUFFERED_OCTETS = 64 * 1024 * 1024;
/** Threads at most: rendering must leave room for serving. */
export const MAX_THREADS = 2;
/** MiB of a thread's heap: a page that needs more takes the thread down, not the process. */
export const THREAD_HEAP_MB = 256;

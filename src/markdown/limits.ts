/** Bounds of the Markdown rendering, each with its reason. A page beyond one of them goes out as HTML. */

/** Octets of a page, inflated or not: pages of text stay below a tenth of it. */
export const MAX_PAGE_OCTETS = 2 * 1024 * 1024;
/** Nesting depth of elements, the limit of browsers. */
export const MAX_DEPTH = 512;
/** Characters of Markdown per character of the page, and a floor for short pages. */
export const GROWTH = 4;
export const GROWTH_FLOOR = 4 * 1024;
/** Characters of the page's URL, which every relative link repeats. */
export const MAX_ADDRESS = 2 * 1024;
/** Characters of a link; a longer one contains data and is no destination. */
export const MAX_HREF = 8 * 1024;
/** Columns that one cell may span. */
export const MAX_SPAN = 32;
/** Characters of a code block's language. */
export const MAX_LANGUAGE = 32;
/** Octets at a page's start that may declare its character encoding (HTML, "prescan a byte stream"). */
export const META_OCTETS = 1_024;
/** Milliseconds for a page's body to arrive after its head. */
export const GATHER_MS = 10_000;
/** Milliseconds that a page waits for a thread: after that, HTML at once is better than Markdown later. */
export const WAIT_MS = 2_000;
/** Most milliseconds of a rendering. Measured: 2 MB take 100 ms, hostile ones 400 ms. */
export const RENDER_MS = 5_000;
/** Most pages that wait for a thread: two threads render as many in a few seconds. */
export const MAX_QUEUED_PAGES = 64;
/** Octets of pages that are gathered, waiting, or rendered and not sent yet. */
export const BUFFERED_OCTETS = 64 * 1024 * 1024;
/** Most threads: rendering must not take the processors of request handling. */
export const MAX_THREADS = 2;
/** MiB of a thread's heap: a page that needs more ends the thread, not the process. */
export const THREAD_HEAP_MB = 256;

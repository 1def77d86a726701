/** Bounds of the Markdown rendering, each with its reason. A page beyond one of them goes out as HTML. */

/** Maximum size, in octets, of a page, inflated or not: pages of text stay below a tenth of it. */
export const MAX_PAGE_OCTETS = 2 * 1024 * 1024;
/** Maximum nesting depth of elements, the limit of browsers. */
export const MAX_DEPTH = 512;
/**
 * Maximum number of characters of Markdown per character of the page, and the number that is added to it, for short
 * pages.
 */
export const GROWTH = 4;
export const GROWTH_FLOOR = 4 * 1024;
/** Maximum length, in characters, of the page's URL, which every relative link repeats. */
export const MAX_ADDRESS = 2 * 1024;
/** Maximum length, in characters, of a link; a longer one contains data and is no destination. */
export const MAX_HREF = 8 * 1024;
/** Maximum number of columns that one cell spans. */
export const MAX_SPAN = 32;
/** Maximum length, in characters, of a code block's language. */
export const MAX_LANGUAGE = 32;
/**
 * Maximum number of octets at a page's start that are searched for its character encoding (HTML, "prescan a byte
 * stream").
 */
export const META_OCTETS = 1_024;
/** Maximum time, in milliseconds, for a page's body to arrive after its head. */
export const GATHER_MS = 10_000;
/**
 * Maximum time, in milliseconds, that a page waits for a thread: after that, HTML at once is better than Markdown later.
 */
export const WAIT_MS = 2_000;
/** Maximum time of a rendering, in milliseconds. Measured: 2 MB take 100 ms, hostile ones 400 ms. */
export const RENDER_MS = 5_000;
/** Maximum number of pages that wait for a thread: two threads render as many in a few seconds. */
export const MAX_QUEUED_PAGES = 64;
/** Maximum size, in octets, of all pages that are gathered, waiting, or rendered and not sent yet. */
export const BUFFERED_OCTETS = 64 * 1024 * 1024;
/** Maximum number of threads: rendering must not take the processors of request handling. */
export const MAX_THREADS = 2;
/** Maximum heap of a thread, in MiB: a page that needs more ends the thread, not the process. */
export const THREAD_HEAP_MB = 256;

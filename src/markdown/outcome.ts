/** What became of a page that a client asked for as Markdown. */

/**
 * Why a page went out as the HTML it was:
 * - `size` it is larger than `MAX_PAGE_OCTETS`
 * - `coding` it is compressed in a way that cannot be undone here, or its compressed octets are broken
 * - `no-transform` its origin forbids to change it (RFC 9111 §5.2.2.6)
 * - `busy` too many pages are being rendered
 * - `late` its origin, or the rendering, took too long
 * - `depth` elements lie too deep within each other
 * - `growth` its Markdown would be far larger than itself
 * - `address` its own address is too long to read links against
 * - `empty` it holds no text: a script makes it in the browser
 * - `failed` the thread that rendered it has died
 */
export const HTML_REASONS = [
  'size',
  'coding',
  'no-transform',
  'busy',
  'late',
  'depth',
  'growth',
  'address',
  'empty',
  'failed',
] as const;
export type HtmlReason = (typeof HTML_REASONS)[number];

/** A word for the journal. */
export type MarkdownOutcome = 'rendered' | HtmlReason;

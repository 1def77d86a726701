/** The outcomes of a request for Markdown. */

/**
 * Why a page was sent as HTML:
 * - `size` larger than `MAX_PAGE_OCTETS`
 * - `coding` an unknown content coding, or broken compressed octets
 * - `no-transform` its origin forbids changes (RFC 9111 §5.2.2.6)
 * - `busy` too many pages are being rendered
 * - `late` the origin or the rendering took too long
 * - `depth` elements are nested deeper than `MAX_DEPTH`
 * - `growth` its Markdown would exceed `GROWTH` times the page
 * - `address` its URL is longer than `MAX_ADDRESS`
 * - `empty` it has no text: a script creates it in the browser
 * - `failed` the rendering thread died
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
/** One of `HTML_REASONS`. */
export type HtmlReason = (typeof HTML_REASONS)[number];

/** The outcome in logs and metrics. */
export type MarkdownOutcome = 'rendered' | HtmlReason;

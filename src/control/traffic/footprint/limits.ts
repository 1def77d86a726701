/** The bounds of the footprint room, each with its reason. */
import { MAX_REPORTED_DOMAINS, MAX_REPORTED_OCTETS } from '../../../base/vocabulary/limits.ts';

/**
 * Milliseconds that a report counts: three times the interval at which nodes repeat the report of a domain that has not
 * changed. What a node that is off has stored is not shown for longer.
 */
export const REPORT_COUNTS_MS = 1_800_000;
/** Maximum number of processes of a node: that of workers. */
export const MAX_PROCESSES = 256;
/** Maximum size, in octets, of all URLs of a report as they are stored: those of a report, and the brackets of each list. */
export const MAX_STORED_OCTETS = MAX_REPORTED_OCTETS + 2 * MAX_REPORTED_DOMAINS;
/** Maximum length, in characters, of a reported URL: that of a purge. */
export const MAX_URL = 2_048;
/** Maximum number of tags of a reported URL. */
export const MAX_URL_TAGS = 30;
/** Maximum size, in characters, of the reported URLs of a domain that one page is made of: some 40 ms of the API's thread. */
export const MAX_MERGED_CHARACTERS = 4_194_304;
/** Maximum number of URLs of a page. */
export const MAX_PAGE_URLS = 1_000;
/** URLs of a page without `limit`. */
export const USUAL_PAGE_URLS = 100;
/** Maximum length, in characters, of a cursor: a URL in Base64. */
export const MAX_CURSOR = 4_096;

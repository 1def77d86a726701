/** The bounds and thresholds of tuning, each with its reason. Shares are parts of 1. */

/** Visitors that a likely false positive has, at least, unless another number is given: a scanner has one address or a few. */
export const FEWEST_VISITORS = 10;
/** Different hours in which its requests came, at least: a campaign is a burst, ordinary traffic is not. */
export const FEWEST_HOURS = 3;
/** The share of its requests that one visitor may have sent, at most. */
export const MOST_OF_ONE = 0.5;
/** The share of its requests that visitors with signs of an attack may have sent, at most: every page is scanned now and then. */
export const MOST_SUSPICIOUS = 0.1;
/** The share of such requests from which on a group is a likely attack. */
export const ATTACK_SUSPICIOUS = 0.5;
/** Answers that a statement about them rests on, at least. */
export const FEWEST_ANSWERS = 5;
/** The share of 2xx and 3xx among the answers to a false positive, at least: the application takes what people send it. */
export const LEAST_ANSWERED = 0.8;
/** The share of 4xx among the answers to a few visitors from which on they are a likely attack: they ask for what is not there. */
export const MOST_REFUSED = 0.8;
/** The share of requests that a page of the site led to, from which on it is evidence that people sent them. */
export const OWN_PAGES = 0.8;
/** The share of visitors with ordinary requests before, or of all visitors of the section, that is the same evidence. */
export const ORDINARY_VISITORS = 0.5;
/** The share of requests that known bots may have sent, at most: a false positive of a crawler is no reason to exclude. */
export const MOST_BOTS = 0.05;

/** Places (section and target) with matches of one visitor from which on it scans; people fill in a few forms. */
export const SCAN_PLACES = 6;
/** Paths with matches of one visitor from which on it scans, if half of the answers to them are 4xx. */
export const SCAN_PATHS = 10;
/** Attack categories of one visitor from which on it scans: what people write resembles one or two. */
export const SCAN_CATEGORIES = 4;
/** Browsers (User-Agent) of one address from which on it may be an office or a proxy of a carrier. */
export const SHARED_AGENTS = 4;

/** Sections of one signature and target with few visitors that are judged apart; more of them are one group. */
export const SMALL_SECTIONS = 3;
/** Paths of a group that get an exclusion each; more of them get one with a wildcard. */
export const EXACT_PATHS = 3;
/** Examples of matched parts and of ids of requests that a group has. */
export const EXAMPLES = 3;

/** Signature, target and path together that are counted apart: some 1 KB each. */
export const MAX_CELLS = 20_000;
/** Visitors whose history is stored: some 500 octets each. */
export const MAX_VISITORS = 100_000;
/** Pairs of a visitor and a cell or a section: some 50 octets each. */
export const MAX_PAIRS = 1_000_000;
/** Kinds of blocked requests (rule, visitor, matches) that are scored again: some 300 octets each. */
export const MAX_KINDS = 100_000;
/** Hours that a group counts; a log of months has more, and no threshold needs them. */
export const MAX_HOURS = 1_000;
/** Unclear groups of a rule, those with the most requests, whose exclusions are measured: a person looks at fewer. */
export const MAX_UNCLEAR_MEASURED = 100;

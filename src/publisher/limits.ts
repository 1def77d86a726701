/** Bounds on what a publisher stores and how often it works, each with its reason. */
import { MAX_CAPTCHA_TTL_SEC } from '../base/limits.ts';

/**
 * Octets of the plans of one name that are stored, to print, compare and roll back to: some forty of a domain with
 * 10,000 rules, thousands of an ordinary one.
 */
export const MAX_STORED_OCTETS = 33_554_432;
/** Plans of one name that are stored: more versions than are ever compared. */
export const MAX_STORED_PLANS = 100;
/** Milliseconds for which plans are stored beyond the newest few: a month of work to go back to. */
export const STORED_MS = 30 * 24 * 3_600_000;
/** Plans that are stored whatever their age, so that a domain that rests for a year can be rolled back. */
export const AGELESS_PLANS = 10;
/**
 * Plans that are stored whatever their size, the published one among them: what was there before the last two changes can
 * be rolled back to, even where each is as large as nodes take.
 */
export const SIZELESS_PLANS = 3;
/** Plans of one name removed in one transaction: on SQLite other writers wait for it, some milliseconds a plan. */
export const PRUNED_AT_ONCE = 20;
/** Names per read. */
export const PRUNED_NAMES = 200;
/** Revisions of a name between two prunings beside the hourly ones: a burst stores at most so many plans too many. */
export const PRUNE_EVERY = 20;

/**
 * Milliseconds of a publication from which its domain rests before the next, and after which others no longer wait for it:
 * ordinary ones take a tenth of that.
 */
export const SLOW_MS = 250;
/** A domain rests this many times as long as its publication took, so its plans take a third of a processor at most. */
export const DOMAIN_REST = 2;
/** Milliseconds of the longest rest: with two of the slowest compiles it is below what `?wait=published` waits. */
export const LONGEST_DOMAIN_REST_MS = 4_000;
/** Claims whose slow publications may be under way at once: as many publications as plans may wait for the thread. */
export const CLAIMS_UNDER_WAY = 4;

/**
 * Domains that are published again at once, as after an upgrade: as many as one claim publishes side by side, so a
 * customer's change waits for so many publications at most.
 */
export const REPUBLISHED_AT_ONCE = 4;
/** Publishing again rests this many times as long as it took, so it takes half of what the publisher can do at most. */
export const REPUBLISH_REST = 1;
/** Milliseconds of the shortest rest: nodes get some eighty plans a second at most. */
export const SHORTEST_REPUBLISH_REST_MS = 50;
/** Milliseconds that publishing again gives way to customers' changes before each batch; a stream of them never ends. */
export const LONGEST_GIVING_WAY_MS = 2_000;
/** Milliseconds that a batch is waited for: a domain that cannot be published must not stop the others. */
export const LONGEST_REPUBLISH_WAIT_MS = 30_000;
/** Plans whose first octets one reading fetches; the embedded store reads each of them whole. */
export const REPUBLISH_HEADS = 100;
/** Milliseconds between two checks for an operator's request to publish everything again. */
export const REPUBLISH_LOOK_MS = 1_000;
/** Milliseconds between counts of older plans: an older process beside this one may have published meanwhile. */
export const REPUBLISH_COUNT_MS = 3_600_000;
/** The same after a pass that left some. */
export const REPUBLISH_AFTER_FAILURE_MS = 60_000;
/** Milliseconds between two lines of progress in the log. */
export const REPUBLISH_PROGRESS_MS = 10_000;

/**
 * Milliseconds for which a secret of clearance is accepted after it was replaced: as long as a cookie lasts that was
 * signed right before, and a day for nodes that were away and signed with it after that.
 */
export const CLEARANCE_OVERLAP_MS = MAX_CAPTCHA_TTL_SEC * 1_000 + 24 * 3_600_000;
/** Secrets accepted beside the current one: each is a signature more for a node to check. */
export const MAX_PREVIOUS_SECRETS = 2;

/**
 * Milliseconds for which a signing key that was replaced signs too: nodes that follow have the new one within seconds, those
 * that are away follow the transitions later, and a week is left to give it to what is set up by hand.
 */
export const SIGNING_OVERLAP_MS = 7 * 24 * 3_600_000;
/** Keys that sign beside the current one: each is a signature more on every page. */
export const MAX_RETIRING_KEYS = 2;
/** Transitions that are served: with a rotation a month, a node that was off for a year finds its way. */
export const MAX_TRANSITIONS = 16;

/** Milliseconds for which a node token that was replaced is valid: a working day to install the new one on the node. */
export const TOKEN_OVERLAP_MS = 24 * 3_600_000;
/** Replaced tokens of a node that are valid: more are more to lose. */
export const MAX_REPLACED_TOKENS = 2;

/** Requests that a node can have had in a second: ten times what the fastest machine that was measured answers. */
export const MAX_NODE_REQUESTS_PER_SEC = 200_000;
/** Octets that a node can have sent in a second: a network of 100 Gbit/s. */
export const MAX_NODE_OCTETS_PER_SEC = 12_500_000_000;
/** Octets of one request's answer: what 10 Gbit/s carry in a quarter of an hour. */
export const MAX_REQUEST_OCTETS = 2 ** 40;
/**
 * Milliseconds of traffic that a node may report beyond the time since its last accepted report: its minute is over before
 * it is sent, reports are a minute apart give or take, and a long answer is counted when it ends.
 */
export const TRAFFIC_SLACK_MS = 120_000;
/** Milliseconds that a node's clock may be ahead of the server's. */
export const MAX_CLOCK_AHEAD_MS = 5 * 60_000;
/**
 * Minutes for which hits of rules are stored, a row for each rule and minute: a month and the days to look at it. Traffic of
 * a node that was away is accepted as long: older hits would be removed at once.
 */
export const HITS_STORED_MINUTES = 35 * 24 * 60;

/** Bounds on what a publisher stores and how often it works, each with its reason. */
import { MAX_CAPTCHA_TTL_SEC } from '../../base/vocabulary/limits.ts';

/**
 * Maximum size, in octets, of the stored plans per name, to print, compare and roll back to: some forty of a domain with
 * 10,000 rules, thousands of an ordinary one.
 */
export const MAX_STORED_OCTETS = 33_554_432;
/** Maximum number of stored plans per name: more versions than are ever compared. */
export const MAX_STORED_PLANS = 100;
/** Milliseconds for which plans are stored in addition to the newest few: a month of work to go back to. */
export const STORED_MS = 30 * 24 * 3_600_000;
/** Number of newest plans that are stored whatever their age, so that a domain that rests for a year can be rolled back. */
export const AGELESS_PLANS = 10;
/**
 * Number of newest plans that are stored whatever their size, the published one among them: what was there before the
 * last two changes can be rolled back to, even if each is as large as nodes accept.
 */
export const SIZELESS_PLANS = 3;
/**
 * Maximum number of plans of one name removed per transaction: on SQLite other writers wait for it, some milliseconds a
 * plan.
 */
export const PRUNED_AT_ONCE = 20;
/** Maximum number of names per read. */
export const PRUNED_NAMES = 200;
/**
 * Maximum size, in characters, of the challenges in a page of the manifest, unless its first entry has more: with them and
 * 500 names a page stays below what nodes accept.
 */
export const MAX_PAGE_CHALLENGES = 262_144;
/**
 * Maximum size, in octets, of opened lists that a publisher and each thread cache, besides those in use: for the tests of as
 * many plans as name one changed list, it is read once.
 */
export const MAX_OPEN_LIST_OCTETS = 67_108_864;
/**
 * Maximum size, in octets, of plans, lists and registries that a server caches for the nodes that fetch them: some of the largest, or
 * thousands of ordinary ones.
 */
export const MAX_RECENT_OCTETS = 67_108_864;
/** Maximum size, in octets, of what is sent to each node ahead of a page: a registry of 1,000 consumers with its plan. */
export const MAX_PUSHED_OCTETS = 262_144;
/** Plans that are new in a page up to which they are sent ahead of it. */
export const MAX_PUSHED_PLANS = 8;
/** Digests of plans, lists and registries that are remembered, so that none is sent twice. */
export const MAX_SEEN_DIGESTS = 20_000;
/** Lists whose last seals are remembered: more than are sealed while a publication reads its domain. */
export const RECENT_SEALS = 100;
/** Entries up to which a list is sealed at once, which takes some 10 ms; a larger one is sealed in the thread. */
export const SEALED_AT_ONCE = 1_000;
/** The same of consumers: with two keys each they take some 10 ms. */
export const SEALED_CONSUMERS_AT_ONCE = 500;
/** Milliseconds for which a sealed list is stored that nothing refers to: a publication under way may be about to. */
export const UNUSED_LIST_MS = 3_600_000;
/** Maximum number of sealed lists removed per transaction: each may have megabytes. */
export const PRUNED_LISTS = 20;
/** Revisions of a name between two prunings, besides the hourly ones: a burst stores at most so many plans too many. */
export const PRUNE_EVERY = 20;

/**
 * Milliseconds of a publication from which its domain rests before the next, and after which others no longer wait for it:
 * ordinary ones take a tenth of that.
 */
export const SLOW_MS = 250;
/** A domain rests this many times as long as its publication took, so its plans take a third of a processor at most. */
export const DOMAIN_REST = 2;
/** Maximum rest, in milliseconds: with two of the slowest compiles it is below what `?wait=published` waits. */
export const LONGEST_DOMAIN_REST_MS = 4_000;
/** Maximum number of claims whose slow publications run at once: as many publications as plans may wait for the thread. */
export const CLAIMS_UNDER_WAY = 4;

/**
 * Maximum number of domains that are published again at once, as after an upgrade: as many as one claim publishes in
 * parallel, so a customer's change waits for so many publications at most.
 */
export const REPUBLISHED_AT_ONCE = 4;
/** Publishing again rests this many times as long as it took, so it takes half of what the publisher can do at most. */
export const REPUBLISH_REST = 1;
/** Minimum rest, in milliseconds: nodes get some eighty plans a second at most. */
export const SHORTEST_REPUBLISH_REST_MS = 50;
/**
 * Maximum time, in milliseconds, that publishing again gives way to customers' changes before each batch; a stream of
 * them never ends.
 */
export const LONGEST_GIVING_WAY_MS = 2_000;
/**
 * Maximum time, in milliseconds, that a batch is waited for: a domain that cannot be published must not stop the others.
 */
export const LONGEST_REPUBLISH_WAIT_MS = 30_000;
/** Maximum number of plans whose first octets one read fetches; the embedded store reads each of them whole. */
export const REPUBLISH_HEADS = 100;
/** Milliseconds between two checks for an operator's request to publish everything again. */
export const REPUBLISH_LOOK_MS = 1_000;
/** Milliseconds between counts of older plans: an older process on the same store may have published meanwhile. */
export const REPUBLISH_COUNT_MS = 3_600_000;
/** The same after a pass that failed to publish some of them. */
export const REPUBLISH_AFTER_FAILURE_MS = 60_000;
/** Milliseconds between two lines of progress in the log. */
export const REPUBLISH_PROGRESS_MS = 10_000;

/**
 * Milliseconds for which a secret of clearance is accepted after it was replaced: as long as a cookie lasts that was
 * signed right before, and a day for nodes that were away and signed with it after that.
 */
export const CLEARANCE_OVERLAP_MS = MAX_CAPTCHA_TTL_SEC * 1_000 + 24 * 3_600_000;
/** Maximum number of secrets accepted besides the current one: a node checks one more signature for each. */
export const MAX_PREVIOUS_SECRETS = 2;

/**
 * Milliseconds for which a signing key that was replaced signs too: nodes that follow have the new one within seconds, those
 * that are away follow the transitions later, and a week is left to give it to what is set up by hand.
 */
export const SIGNING_OVERLAP_MS = 7 * 24 * 3_600_000;
/** Maximum number of keys that sign besides the current one: each adds a signature to every page. */
export const MAX_RETIRING_KEYS = 2;
/**
 * Maximum number of transitions that are served: with a rotation a month, a node that was off for a year can follow
 * them.
 */
export const MAX_TRANSITIONS = 16;

/** Milliseconds for which a node token that was replaced is valid: a working day to install the new one on the node. */
export const TOKEN_OVERLAP_MS = 24 * 3_600_000;
/** Maximum number of replaced tokens per node that are still valid: with more, more can leak. */
export const MAX_REPLACED_TOKENS = 2;

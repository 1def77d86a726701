/** The bounds of notifications and of their delivery, each with its reason. */

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Notifications of one account that are stored; the oldest are removed: a feed longer than this is read by nobody. */
export const MAX_STORED = 1_000;
/** Milliseconds for which a notification is stored: a quarter, the longest that an account looks back in a feed. */
export const STORED_MS = 90 * DAY_MS;
/** Old notifications that one transaction removes, so that other writers do not wait long. */
export const PRUNED_AT_ONCE = 500;
/** Milliseconds between two removals of old notifications. */
export const PRUNE_EVERY_MS = HOUR_MS;
/** Entries of a page of the feed, at most, and where the request has no `limit`. */
export const MAX_FEED_PAGE = 100;
/** See `MAX_FEED_PAGE`. */
export const USUAL_FEED_PAGE = 50;
/** Ids that one request marks as read: those of the longest page of the feed. */
export const MAX_READ_IDS = 100;

/** Webhooks of one account: each is a connection for each notification. */
export const MAX_WEBHOOKS = 5;
/** Characters of a webhook's URL: what common servers accept in a request line. */
export const MAX_URL_CHARACTERS = 2_048;
/**
 * Deliveries to one account in an hour, by channel: a mailbox or a telephone must not be flooded by a domain that changes
 * again and again, or by invitations of strangers; an SMS costs money. The feed has what is skipped.
 */
export const MAX_PER_HOUR = { email: 30, sms: 10, webhook: 600 } as const;

/**
 * Deliveries of an hour, counted with all others, above which a kind that strangers cause (an invitation) is in the feed
 * only: invitations must not use up `MAX_PER_HOUR`, which an outage needs.
 */
export const MAX_BEFORE_STRANGERS = { email: 5, sms: 2, webhook: 60 } as const;

/**
 * The same for messages to support: half of `MAX_PER_HOUR`, so that the other half is left to lost nodes and whatever else an
 * operator's account is notified of.
 */
export const MAX_BEFORE_TICKETS = { email: 15, sms: 5, webhook: 300 } as const;

/**
 * Deliveries that wait for one target, at most: half of `MAX_STORED`, so that the feed still has an entry that says so when
 * those that wait are removed with their notifications.
 */
export const MAX_WAITING = 500;

/** Milliseconds for which a confirmation code is valid: long enough to open a mailbox. */
export const CODE_MS = 30 * MINUTE_MS;
/** Wrong codes before a code is void: of 100,000,000 codes they are too few to guess one. */
export const MAX_CODE_TRIES = 5;
/** Milliseconds between two codes to one account, and the codes of a day: a stranger's mailbox must not be flooded. */
export const CODE_PAUSE_MS = MINUTE_MS;
/** See `CODE_PAUSE_MS`. */
export const MAX_CODES_PER_DAY = 10;
/** The day of `MAX_CODES_PER_DAY`, in milliseconds. */
export const CODES_DAY_MS = DAY_MS;

/** Milliseconds before the second attempt of a delivery, doubled for each further one, and the longest such wait. */
export const RETRY = { first: MINUTE_MS, last: 12 * HOUR_MS } as const;
/** Milliseconds after which a delivery has failed: news of three days ago is no news. */
export const DELIVER_FOR_MS = 3 * DAY_MS;
/** Milliseconds that one attempt may take, from the look-up of the name to the answer. */
export const ATTEMPT_MS = 15_000;
/** Milliseconds for which an attempt is leased: two attempts, so that a slow process does not lose it. */
export const LEASE_MS = 2 * ATTEMPT_MS;
/** Milliseconds between two looks for deliveries that are due. */
export const POLL_MS = 1_000;
/**
 * Attempts at once, by channel, so that webhooks that do not answer cannot hold up e-mail; and those of one account, so
 * that the dead endpoints of one account leave the other places to others.
 */
export const ATTEMPTS_AT_ONCE = { email: 4, sms: 4, webhook: 16 } as const;
/** Milliseconds after which an attempt is slow and its place is free for another: most receivers answer within them. */
export const PROMPT_MS = 1_000;
/** Slow attempts at once, by channel; above it the oldest one ends, and is tried again as after any failure. */
export const SLOW_ATTEMPTS = { email: 16, sms: 16, webhook: 64 } as const;
/** See `ATTEMPTS_AT_ONCE`. */
export const ATTEMPTS_PER_ACCOUNT = 2;
/** Characters of an error that are stored: they are shown in a list. */
export const MAX_ERROR_CHARACTERS = 200;
/** Octets of a response that are read before the connection is closed: only its status matters. */
export const MAX_RESPONSE_OCTETS = 16_384;
/** Milliseconds for which the rest of a response is read: the receiver has it ready when it answers. */
export const DRAIN_MS = 1_000;
/** Characters of an SMS: three segments of 153 GSM characters (3GPP TS 23.040), which gateways join. */
export const MAX_SMS_CHARACTERS = 459;

/** Failed attempts after which a publication is reported: the first two are often of a busy store. */
export const PUBLICATION_ATTEMPTS = 3;
/** Milliseconds between two notifications of failing publications of one domain to one account. */
export const PUBLICATION_QUIET_MS = DAY_MS;
/** Milliseconds between two notifications of invitations to one domain to one account. */
export const SHARED_QUIET_MS = DAY_MS;
/** Milliseconds without a request of a node after which it is lost: several of its polls, or a restart of the machine. */
export const NODE_LOST_MS = 5 * MINUTE_MS;
/** Milliseconds between two looks for lost nodes and for invitations to announce. */
export const WATCH_EVERY_MS = 15_000;
/** Invitations that one look announces. */
export const ANNOUNCED_AT_ONCE = 50;
/** Milliseconds before its end at which an uploaded certificate is notified: two weeks to get another (semantics §8). */
export const CERTIFICATE_END_MS = 14 * 86_400_000;
/** Milliseconds after its time at which the renewal of an obtained certificate counts as failing. */
export const RENEWAL_LATE_MS = 2 * 86_400_000;
/** Certificates that one look notifies of, at most; the next look takes the others. */
export const CERTIFICATES_AT_ONCE = 100;

/** Percent of a quota that are notified of: near, and reached. */
export const QUOTA_LEVELS = [80, 100] as const;

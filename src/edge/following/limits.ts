/** Bounds of sync and of traffic counts, each with its reason. */
import { MAX_RULE_LISTS } from '../../base/vocabulary/limits.ts';
import { LIST } from '../../engine/plan/layout.ts';

/** Maximum size, in octets, of a page of the manifest and of an event that carries one: 500 names take 100 to 250 KB. */
export const MAX_MANIFEST_OCTETS = 1_048_576;
/** Maximum size, in octets, of plans and lists that came ahead of their entries: four times what a control plane sends at once. */
export const MAX_PUSHED_OCTETS = 1_048_576;
/** Maximum number of names per page: four times what a control plane sends. */
export const MAX_MANIFEST_ENTRIES = 2_000;
/** Maximum number of secrets per domain that are accepted besides the current one: twice what a control plane sends. */
export const MAX_PREVIOUS_SECRETS = 4;
/** Size of a secret, in octets. */
export const SECRET_OCTETS = 32;
/** Maximum number of key transitions per answer: twice what a control plane serves. */
export const MAX_TRANSITIONS = 32;
/**
 * Maximum number of stored keys that preceded the trusted one. If `--trust` names one of them, it is known to lead to
 * the trusted key.
 */
export const MAX_PASSED_KEYS = 32;
/** Maximum size, in octets, of a sealed plan: twice what the largest rule set within the compiler's limits takes. */
export const MAX_PLAN_OCTETS = 64 * 1024 * 1024;
/** Maximum size, in octets, of the rows of a plan's lists that are read from its file: twice what as many lists as a domain may name take. */
export const MAX_LIST_ROWS = 2 * MAX_RULE_LISTS * LIST.size * 4;
/** Maximum number of lists of a plan: twice what the rules of a domain may name. */
export const MAX_PLAN_LISTS = 2 * MAX_RULE_LISTS;
/** Maximum size, in octets, of a sealed certificate set: twice what a control plane sends, whose domains have 50 certificates. */
export const MAX_BOX_OCTETS = 8 * 1024 * 1024;
/** Maximum number of certificates per set: ten times what a control plane sends. */
export const MAX_SET_CERTIFICATES = 500;
/** Maximum number of certificates of all sets of a node: as many as a folder may have, some 4 KiB of memory each. */
export const MAX_FEED_CERTIFICATES = 20_000;
/**
 * Maximum size, in characters, of all sets of a node: 20,000 usual certificates. A worker that starts gets all of them in
 * one message.
 */
export const MAX_FEED_CHARACTERS = 160 * 1024 * 1024;
/** Maximum number of challenges of certificate authorities that a node answers: of 100 domains with as many as one may have. */
export const MAX_FEED_CHALLENGES = 20_000;
/** Maximum number of sets fetched at once: few, so that plans, which end no service later than certificates, come first. */
export const PARALLEL_SETS = 2;
/** Milliseconds between checks for sets whose retry is due. */
export const SET_CHECK_MS = 250;
/** Maximum size, in octets, of an answer with purges of a domain: twice what their bounds take in JSON. */
export const MAX_PURGES_ANSWER_OCTETS = 1_048_576;
/** Maximum size, in octets, of any other answer: the node's identity, and the outcome of a report. */
export const MAX_ANSWER_OCTETS = 64 * 1024;
/** Maximum time, in milliseconds, for a whole answer, streams and polls excepted. */
export const ANSWER_MS = 30_000;
/**
 * Maximum number of plans fetched at once: enough to hide the latency to the control plane, few enough not to load it or
 * the disk.
 */
export const PARALLEL_FETCHES = 8;
/** Milliseconds without octets before a stream counts as cut: two and a half heartbeats of the control plane. */
export const STALL_MS = 40_000;
/** Milliseconds to a stream's first octet, which a control plane sends at once: a later one means a buffering proxy. */
export const FIRST_OCTET_MS = 10_000;
/** Streams in a row without an octet before the node polls instead. */
export const DEAD_STREAMS = 2;
/** Milliseconds of polling before a stream is tried again. */
export const POLLING_MS = 10 * 60_000;
/** Seconds that the control plane holds an empty poll open: below the idle limits of common proxies. */
export const POLL_SEC = 25;
/** Milliseconds before the second attempt at anything; doubled for each further one, up to the last. */
export const FIRST_RETRY_MS = 500;
export const LAST_RETRY_MS = 30_000;
/** Maximum time, in milliseconds, before a refused plan is tried again: only a change elsewhere can make it good. */
export const LAST_PLAN_RETRY_MS = 300_000;
/** Milliseconds between whole comparisons, plus or minus a fifth: a missed change is found within 12 minutes. */
export const COMPARE_MS = 10 * 60_000;
/**
 * Maximum number of reports per batch, of the 500 that a control plane accepts: with reasons of full length a batch
 * stays below its body limit.
 */
export const REPORTS_AT_ONCE = 200;
/** Maximum length, in characters, of a reason, which is also the control plane's. */
export const MAX_REASON = 1_000;
/** Milliseconds that a report waits for others to share its batch. */
export const REPORT_MS = 50;
/** Maximum time, in milliseconds, that a stop waits for reports being sent. */
export const FLUSH_ON_STOP_MS = 1_000;
/** The journal is compacted at twice the number of names, or at twice this number if there are fewer names. */
export const MIN_COMPACT_LINES = 10_000;
/** Maximum number of names reported again after a start: their reports may have been lost when the node was killed. */
export const RECENT_NAMES = 500;
/** Maximum number of refused names in the state of sync: enough for a diagnosis, bounded for an endpoint. */
export const MAX_FAILING = 20;
/** Milliseconds that a log entry waits for others in its file: what a node that is killed loses. */
export const LOG_WRITE_MS = 1_000;
/** Milliseconds between looks at the queue of log entries: half of what an entry waits before. */
export const SHIP_MS = 500;
/** Maximum size, in octets, of queued log entries in gzip while the control plane is away: some 500,000 entries. */
export const MAX_LOG_QUEUE_OCTETS = 128 * 1024 * 1024;
/** Maximum size, in characters, of log entries in memory: more than the rates of entries fill in a slow second. */
export const MAX_LOG_WAITING_CHARACTERS = 16 * 1024 * 1024;
/** The share of both that one domain may have queued, so that an attacked one does not push out the others. */
export const LOG_DOMAIN_SHARE = 1 / 8;
/**
 * Maximum size, in octets, of one line, the control plane's limit: some eight times the longest ordinary one. A longer line
 * would have its whole batch refused, with the lines of other domains.
 */
export const MAX_LOG_LINE_OCTETS = 131_072;
/** Maximum numbers of lines and domains per batch: half of what a control plane takes. */
export const LOG_BATCH_LINES = 500;
export const LOG_BATCH_DOMAINS = 100;
/** Maximum size, in characters, of the lines of a batch: with the fewest octets a character, half of what a control plane takes. */
export const LOG_BATCH_CHARACTERS = 512 * 1024;
/** Maximum number of domains whose dropped lines are counted apart between two writes: twice what nodes usually serve. */
export const MAX_GAP_DOMAINS = 10_000;
/**
 * Rows of one domain that count what exceeds its rate between two writes. Half of them may have a network: with 200 networks
 * a second, the lines of an attack take as much as those of its first 50 requests.
 */
export const MAX_COUNTED_ROWS_OF_DOMAIN = 400;
/** The same of all domains, half of them with a network: some 2 MB a second, which a control plane takes of a node. */
export const MAX_COUNTED_ROWS = 10_000;
/** Files of a process that wait from which it writes only every `LOG_MANY_TURNS` times `LOG_WRITE_MS`: the server is away for long. */
export const LOG_MANY_FILES = 1_000;
/** See `LOG_MANY_FILES`: a node that is killed then loses ten seconds. */
export const LOG_MANY_TURNS = 10;
/** Maximum number of files in the queue: of four processes, a day and more. Beyond it the oldest are removed. */
export const MAX_LOG_FILES = 50_000;

/** Milliseconds between drains of a process's counter: what a process that is killed can lose. */
export const DRAIN_MS = 1_000;
/**
 * Milliseconds after its end at which a minute is closed. Workers send what they counted within a second; one that is
 * later opens its minute again, which costs a second entry and loses nothing.
 */
export const CLOSE_MS = 3_000;
/** Milliseconds within which a node begins to send a closed minute, at random: nodes must not all send at once. */
export const SPREAD_MS = 15_000;
/**
 * Maximum size, in octets, of the top lists of all domains and open minutes of a process: forty domains whose six lists are
 * full with long values, or a thousand of common size. Beyond it the lists of the domains with the fewest requests are
 * dropped; their counts are not.
 */
export const MAX_TOPS_OCTETS = 128 * 1024 * 1024;
/** Octets that an entry of a top list takes besides its text: the slot of a hash table, an object and the head of a text. */
export const TOP_ENTRY_OCTETS = 120;
/** Maximum number of domains in one batch: the control plane writes a row for each in one transaction. */
export const MAX_BATCH_DOMAINS = 500;
/** Octets of sealed counts and lists after which a batch gets no further domain: a short request, and a short transaction. */
export const BATCH_OCTETS = 1024 * 1024;
/** Octets of a batch from which it is compressed: below, the head of the request is longer than what is saved. */
export const GZIP_OCTETS = 1_024;
/** Domains that are sealed or merged before other work gets its turn: some milliseconds. */
export const TURN_DOMAINS = 64;
/** Maximum size, in octets, of one frame of a journal or batch file; a longer one is damage. */
export const MAX_FRAME_OCTETS = 256 * 1024 * 1024;
/** Maximum number of batch files: two hours of minutes. Beyond it the oldest are merged into hours. */
export const MAX_BATCH_FILES = 120;
/** Maximum size, in octets, of all batch files: an hour of a node with a thousand busy domains, or weeks of a small one. */
export const MAX_BATCH_FILES_OCTETS = 512 * 1024 * 1024;
/** Maximum number of batch files that are merged in one step: half of them, so that merges are rare. */
export const MERGE_FILES = 60;
/** Maximum size, in octets, of the batch files that are merged in one step; in memory they take some ten times as much. */
export const MERGE_OCTETS = 16 * 1024 * 1024;
/** Maximum number of spans in memory that cannot be written to the disk; beyond it the oldest are merged. */
export const MAX_UNWRITTEN_SPANS = 48;
/**
 * Maximum number of journals whose counts could not be written to a batch file: an hour of minutes. Beyond it the oldest are
 * removed: journals of this node must not be what a full disk is full of.
 */
export const MAX_UNWRITTEN_JOURNALS = 60;
/** Milliseconds between attempts to write what could not be written. */
export const UNWRITTEN_RETRY_MS = 10_000;
/** Maximum size, in octets, of what waits to be appended to journals: a disk that stalls must not fill the memory. */
export const MAX_APPENDING_OCTETS = 32 * 1024 * 1024;
/** Milliseconds between reports of one kind of trouble. */
export const REPORT_TROUBLE_MS = 60_000;

/**
 * Codes of faults: what failed was not a customer's input. A node writes those of responses into its decision log and its
 * metrics; the logs of server and node have the others as `code` of an error. Two areas may use one word.
 */
import type { CodeList } from './code.ts';

/** `fault` of a line of the decision log, `code` of `edgeplan_node_faults_total`. */
export const RESPONSE_FAULT_CODES = {
  aborted: {
    severity: null,
    meaning: 'the client closed its connection before it had the response; the logged status is 499',
    remedy: 'nothing, unless it happens often: then look at how long the origin takes',
  },
  body: {
    severity: null,
    meaning: "the client's request body ended early or is malformed",
    remedy: 'look at the client: its `Content-Length` or its chunks are wrong, or its connection broke',
  },
  busy: {
    severity: null,
    meaning: 'every connection to the origin was in use for too long; nothing was sent (503)',
    remedy: 'a faster origin, more origins in a pool, or a higher `--origin-connections`',
  },
  cut: {
    severity: null,
    meaning:
      "the origin's response ended early: 502 if nothing of it was sent yet, else the client's copy ends early too",
    remedy: "read the origin's log for the time of the line: a crash, a restart or a time-out there",
  },
  forbidden: {
    severity: null,
    meaning:
      "the origin's address is loopback, private, of documentation or otherwise special; nothing was sent (502)",
    remedy: 'start the node with `--allow-origins` and the prefix of the address, if the origin is yours',
  },
  malformed: {
    severity: null,
    meaning: 'what the origin sent is not valid HTTP (502)',
    remedy: "check the record's `scheme` and `port`: TLS where plain HTTP is expected, or another protocol",
  },
  refused: {
    severity: null,
    meaning: 'the origin refused the connection; nothing was sent (502)',
    remedy: 'start the origin, and check the address and the port of the record',
  },
  reset: {
    severity: null,
    meaning: 'the connection ended before the head of the response (502)',
    remedy: "read the origin's log; a proxy or a firewall between may close idle connections",
  },
  slow: {
    severity: null,
    meaning:
      'the client sent or took fewer octets than the minimum rate: 408, or the early end of a response that had begun',
    remedy: 'lower `--min-rate` if such clients are to be served',
  },
  timeout: {
    severity: null,
    meaning:
      "the origin was silent for the record's `timeout`: before the head of its response 504, within it an early end",
    remedy:
      'a faster origin, or a higher `timeout` of the record; without one `--idle` limits a silent response',
  },
  unreachable: {
    severity: null,
    meaning: 'no route leads to the origin; nothing was sent (502)',
    remedy: 'check the address of the record and the routes of the node',
  },
  unreached: {
    severity: null,
    meaning: 'no connection to the origin was made in time; nothing was sent (504)',
    remedy: 'check firewalls between node and origin, and the load of the origin',
  },
  unresolved: {
    severity: null,
    meaning: "the origin's name has no address; nothing was sent (502)",
    remedy: "check the record's `destination`, and `--resolver` of the node",
  },
} as const satisfies CodeList;

/** Faults of the store. */
export const STORE_FAULT_CODES = {
  closed: {
    severity: null,
    meaning: 'the store, or the transaction, has ended',
    remedy: 'nothing where the process is stopping; otherwise report it',
  },
  conflict: {
    severity: null,
    meaning: 'something unique exists already; the fault names table and column',
    remedy: 'read the object again and choose another value',
  },
  contended: {
    severity: null,
    meaning: 'other writers conflicted at every attempt, or the work took too long; nothing was written',
    remedy: 'send the request again',
  },
  full: {
    severity: null,
    meaning: 'the disk has no room left; nothing was written',
    remedy: 'free room below `--data`, or on the disk of PostgreSQL; writes go on by themselves',
  },
  in_use: {
    severity: null,
    meaning: 'another process has locked the data folder',
    remedy: 'stop it, or give each server a folder of its own',
  },
  missing: {
    severity: null,
    meaning: 'a row refers to one that does not exist, such as a domain that was deleted a moment ago',
    remedy: 'read the object again',
  },
  text: {
    severity: null,
    meaning: 'a text has NUL or a lone surrogate, which not every database can store; nothing was sent',
    remedy: 'send the text without it',
  },
  too_new: {
    severity: null,
    meaning: 'a later version of edgeplan has migrated the database',
    remedy: 'run that version, or restore the backup from before the upgrade',
  },
  unavailable: {
    severity: null,
    meaning: 'the database cannot be reached, or the connection was lost',
    remedy: '`edgeplan doctor --database …` names the reason; the server tries again by itself',
  },
  unreadable: {
    severity: null,
    meaning: 'the file is not a database of edgeplan, or is damaged',
    remedy: 'check `--data`; a damaged store is replaced by `edgeplan restore`',
  },
} as const satisfies CodeList;

/** Faults of a publication; the domain's last plan is served on, and the server tries again. */
export const PUBLISH_FAULT_CODES = {
  blob: {
    severity: null,
    meaning: "the store's sealed plan is missing or does not match its digest",
    remedy: 'look at the disk; `edgeplan publish <domain>` makes a new revision',
  },
  compile: {
    severity: null,
    meaning: 'the compiler refused what the model had accepted: a mistake of edgeplan',
    remedy: 'report it with the log line; the last change of the domain is not served',
  },
  contended: {
    severity: null,
    meaning: 'another publisher was first at every attempt',
    remedy: 'nothing: the other has published, or the server tries again',
  },
  self_test: {
    severity: null,
    meaning: 'the compiled plan did not open or did not run: a mistake of edgeplan',
    remedy: 'report it with the log line; the last change of the domain is not served',
  },
  stored_rows: {
    severity: null,
    meaning: 'rows of the store no longer read as a rule set: a damaged store, or a mistake of edgeplan',
    remedy: 'the log names the domain and the row; restore it, or change it through the API',
  },
  thread: {
    severity: null,
    meaning: 'the thread that compiles large plans ended or could not be started',
    remedy: 'look at memory and limits of the process; the server tries again',
  },
} as const satisfies CodeList;

/** Faults of DNS queries. */
export const DNS_FAULT_CODES = {
  bad_resolver: {
    severity: null,
    meaning: 'a configured resolver is not an address',
    remedy: 'write `--resolver` as an address, with `:port` if it is not 53',
  },
  cancelled: {
    severity: null,
    meaning: 'the query was no longer needed',
    remedy: 'nothing',
  },
  disagreement: {
    severity: null,
    meaning: 'two name servers of one zone gave different answers',
    remedy: 'wait until the zone is the same at all its name servers',
  },
  malformed: {
    severity: null,
    meaning: 'the reply is not a DNS message, or answers another question',
    remedy: 'use another resolver; something between may rewrite DNS',
  },
  network: {
    severity: null,
    meaning: 'the resolver cannot be reached, or closed the connection',
    remedy: 'check `--resolver` and the firewall for port 53, UDP and TCP',
  },
  timeout: {
    severity: null,
    meaning: 'no reply came in time',
    remedy: 'check `--resolver` and the firewall for port 53, UDP and TCP',
  },
  unanswered: {
    severity: null,
    meaning: 'no name server gave an answer that can be used',
    remedy: "check the domain's delegation, and try another resolver",
  },
} as const satisfies CodeList;

/** Faults of a node's requests to its control plane; the node serves its last plans on, and tries again. */
export const CONTROL_FAULT_CODES = {
  answer: {
    severity: null,
    meaning: 'the response cannot be read, is too long, or has an unexpected status',
    remedy: 'check that `--control` names an edgeplan server, and whether a proxy between changes responses',
  },
  away: {
    severity: null,
    meaning: 'no connection, no response in time, or status 408, 429 or 5xx',
    remedy: '`edgeplan doctor --control …` names the reason; the node tries again by itself',
  },
  missing: {
    severity: null,
    meaning: 'the control plane does not have what was asked for (404)',
    remedy: 'check the address in `--control`; a plan that was replaced meanwhile is fetched again',
  },
  token: {
    severity: null,
    meaning: "the node's token is refused (401, 403)",
    remedy: '`edgeplan node-token create` or `rotate` makes a new one; give it in `--token-file`',
  },
} as const satisfies CodeList;

/** Faults of computations that the API runs in threads; clients get 503. */
export const COMPUTE_FAULT_CODES = {
  plan: {
    severity: null,
    meaning: 'this version cannot read the sealed plan, which an earlier one published',
    remedy: 'wait until the server has published the domain again, or run `edgeplan publish <domain>`',
  },
  unavailable: {
    severity: null,
    meaning: 'no thread was free, the computation exceeded a limit, or the server is stopping',
    remedy: 'send the request again after `Retry-After`; smaller inputs need less time',
  },
} as const satisfies CodeList;

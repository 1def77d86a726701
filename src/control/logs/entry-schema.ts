/**
 * The one schema of log entries. In: an entry as a node ships it, as the store has it, or as a line of a file has it. Out: the
 * entry with the fields of this release, or a sentence that names the field that cannot be right. Words of a closed list
 * (actions, effects, faults) are checked by their shape only, since a node of a later release has further ones.
 */
import { z } from 'zod';
import { parseIpEntry } from '../../base/addresses/ip.ts';
import { formatPath } from '../../base/diagnostics/diagnostic.ts';
import { MAX_ASN } from '../../base/vocabulary/limits.ts';
import { MAX_ENTRY_LIST, MAX_TEXT } from './limits.ts';

/** The formats of entries (`edge/proxy/log/line.ts`). */
export const LOG_LINE_FORMAT = 'edgeplan.decision/v1';
export const LOG_GAP_FORMAT = 'edgeplan.gap/v1';
export const LOG_COUNTED_FORMAT = 'edgeplan.counted/v1';

/** The id of a decision, a random UUID (RFC 9562). */
export const ENTRY_ID_SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A message that states what a value must be. */
function must(be: string): { readonly error: string } {
  return { error: `must be ${be}` };
}

const TEXT_RULE = must(`a text of at most ${MAX_TEXT} characters`);
const TEXT = z.string(TEXT_RULE).max(MAX_TEXT, TEXT_RULE);
const TEXTS = z
  .array(TEXT, must('a list of texts'))
  .max(MAX_ENTRY_LIST, must(`at most ${MAX_ENTRY_LIST} texts`));
const TEXT_OR_TEXTS = z.union([TEXT, TEXTS], must('a text, or a list of texts'));
const WORD_RULE = must('a word in lower case');
const WORD = z.string(WORD_RULE).regex(/^[a-z][a-z0-9_-]{0,63}$/, WORD_RULE);
const COUNT_RULE = must('a whole number from 0 on');
const COUNT = z.int(COUNT_RULE).min(0, COUNT_RULE);
const NUMBER = z.number(must('a number'));
/** May be negative: an origin may answer before the end of the request. */
const MS = z.number(must('milliseconds'));
const FLAG = z.boolean(must('`true` or `false`'));
const STATUS_RULE = must('a status of HTTP');
const STATUS = z.int(STATUS_RULE).min(100, STATUS_RULE).max(999, STATUS_RULE);
const TIME_RULE = must('RFC 3339 with milliseconds, in UTC');
const TIME = z.iso.datetime({ precision: 3, ...TIME_RULE });
const ID = z.string(must('a UUID in lower case')).regex(ENTRY_ID_SHAPE, must('a UUID in lower case'));
const REVISION = z.int(must('a whole number'));
const DIGEST = z.string(must('64 hex digits')).regex(/^[0-9a-f]{64}$/, must('64 hex digits'));
const PORT_RULE = must('a port, 1 to 65535');

const ASN_RULE = must(`the number of an autonomous system, 1 to ${MAX_ASN}`);

/** A logged request: `EdgeRequest` (`engine/evaluator/request.ts`) without its secrets. */
const REQUEST = z.object(
  {
    scheme: WORD.optional(),
    method: TEXT,
    host: TEXT_OR_TEXTS,
    target: TEXT,
    protocol: TEXT.optional(),
    port: z.int(PORT_RULE).min(1, PORT_RULE).max(65_535, PORT_RULE).optional(),
    headers: z
      .record(z.string(), TEXT_OR_TEXTS, must('an object of names, each with a text or a list of texts'))
      .optional(),
    ip: TEXT.nullable().optional(),
    country: TEXT.nullable().optional(),
    asn: z.int(ASN_RULE).min(1, ASN_RULE).max(MAX_ASN, ASN_RULE).nullable().optional(),
    bot: z
      .object({ kind: TEXT, verified: FLAG.optional() }, must('null, or an object with `kind`'))
      .nullable()
      .optional(),
    ja4: TEXT.nullable().optional(),
    now: NUMBER.optional(),
    cleared: TEXTS.optional(),
    identity: z
      .object(
        {
          consumer: TEXT.nullable(),
          verified: TEXTS.optional(),
          scopes: TEXTS.optional(),
          failure: WORD.optional(),
        },
        must('an object with a `consumer`'),
      )
      .optional()
      .describe('whose request it is; claims of its token are not logged'),
  },
  must('an object with a `target`'),
);

/** A signature that matched, with what it matched. */
const SIGNATURE = z.object(
  {
    id: z.int(must('a whole number')),
    name: TEXT.describe('the message of the signature'),
    category: TEXT,
    score: NUMBER.describe('what it added to the score'),
    target: TEXT.describe('the variable, `ARGS:id`; empty: the signature inspects none'),
    part: TEXT.describe('an excerpt around the match; not of what may be a secret'),
  },
  must('an object with `id` and `target`'),
);

/** A verdict of signatures; an absent field is `false` or empty. */
const VERDICT = z.object(
  {
    score: NUMBER,
    ids: z
      .array(z.int(must('a whole number')), must('a list of numbers'))
      .max(MAX_ENTRY_LIST, must(`at most ${MAX_ENTRY_LIST} numbers`)),
    targets: TEXTS.optional(),
    matches: z
      .array(SIGNATURE, must('a list of objects with `id` and `target`'))
      .max(MAX_ENTRY_LIST, must(`at most ${MAX_ENTRY_LIST} signatures`))
      .optional(),
    denied: FLAG.optional(),
    truncated: FLAG.optional(),
    exhausted: FLAG.optional(),
    body_error: TEXT.optional(),
    uninspected: WORD.optional(),
  },
  must('an object with `score` and `ids`'),
);

const RULE = TEXT.nullable().describe('`<type>/<id>`');

/** The logged part of a decision, or of its shadow. */
const DECISION = z.object(
  {
    action: WORD,
    status: STATUS.nullable().default(null),
    rule: RULE,
    location: TEXT.nullable().default(null),
    origin: TEXT.nullable().default(null),
    host_header: TEXT.nullable().default(null),
    path: TEXT.nullable().default(null),
    cache: z
      .object(
        {
          mode: WORD,
          edge_ttl_sec: NUMBER.nullable().default(null),
          browser_ttl_sec: NUMBER.nullable().default(null),
        },
        must('an object with a `mode`'),
      )
      .nullable()
      .default(null),
    tags: TEXTS.default([]),
    gateway: z
      .object(
        {
          reason: WORD,
          operation: TEXT.nullable(),
          consumer: TEXT.nullable(),
          failure: WORD.optional(),
        },
        must('an object with a `reason`'),
      )
      .optional()
      .describe('what the gateway made of the request'),
  },
  must('an object with an `action`'),
);

const MATCH = z.object(
  { rule: TEXT, mode: WORD.optional(), effect: WORD.optional(), waf: VERDICT.optional() },
  must('an object with a `rule`'),
);
const MATCHES = z
  .array(MATCH, must('a list of objects with a `rule`'))
  .max(MAX_ENTRY_LIST, must(`at most ${MAX_ENTRY_LIST} rules`));

const UNSERVED = z.object(
  { host: TEXT, server_name: TEXT.nullable(), reason: WORD },
  must('an object with a `host`'),
);

/** A logged decision of a domain, as nodes ship it; `src/edge/node/README.md` has every field. */
export const loggedDecision = z.object({
  format: z.literal(LOG_LINE_FORMAT, must(`\`${LOG_LINE_FORMAT}\``)),
  time: TIME.describe('the arrival of the request'),
  id: ID.meta({
    description: 'the id of the decision, as in `X-Edgeplan-Id` and on its page',
    example: '0b7c9a52-3f0e-4c55-9a7d-2f1c8a4be6d1',
  }),
  domain: TEXT,
  revision: REVISION.describe('the revision of the plan that decided'),
  digest: DIGEST.describe('SHA-256 of that plan, 64 hex digits'),
  sampled: NUMBER.nullable()
    .default(null)
    .describe('the share of such requests that is logged; `null`: all are'),
  request: REQUEST.meta({
    description: 'the request without its secrets',
    example: {
      scheme: 'https',
      method: 'GET',
      host: 'shop.example.com',
      target: '/admin/users',
      ip: '203.0.113.7',
    },
  }),
  unserved: UNSERVED.nullable().default(null),
  withheld: TEXTS.describe('what the request had and the entry lacks'),
  decision: DECISION,
  matches: MATCHES.describe('the rules that matched, dry_run ones too'),
  page_matches: MATCHES.optional(),
  shadow: DECISION.nullable().describe('the decision had every dry_run rule been enforced'),
  waf: VERDICT.nullable()
    .default(null)
    .describe('the score of signatures, their ids, targets and what they matched'),
  status: STATUS.describe('the status of the response'),
  octets: COUNT.nullable().default(null),
  duration_ms: MS.nullable().default(null),
  octets_in: COUNT.optional(),
  ttfb_ms: MS.nullable().optional(),
  origin: WORD.nullable().optional(),
  origin_ms: MS.nullable().optional(),
  monitored: FLAG.optional(),
  cache: WORD.nullable().default(null),
  markdown: TEXT.nullable().default(null),
  fault: TEXT.nullable().describe('why the request failed; `null`: it did not'),
});
export type LoggedDecisionEntry = z.output<typeof loggedDecision>;

/** A line of a decision log in a file: a request that was refused before any plan was evaluated has neither. */
const decisionInFile = loggedDecision.extend({
  id: TEXT,
  domain: TEXT.nullable(),
  revision: REVISION.nullable(),
  digest: DIGEST.nullable(),
  request: REQUEST.nullable(),
  decision: DECISION.nullable(),
});

/** Entries that are missing at a place. */
export const loggedGap = z.object({
  format: z.literal(LOG_GAP_FORMAT, must(`\`${LOG_GAP_FORMAT}\``)),
  time: TIME,
  id: ID,
  domain: TEXT,
  dropped: z
    .int(must('a whole number from 1 on'))
    .min(1, must('a whole number from 1 on'))
    .describe('entries of the domain that are missing here, since there were too many'),
});

const NETWORK_RULE = must('a prefix of addresses, or null');
const REQUESTS_RULE = must('a whole number from 1 on');

/** A number of requests whose own entries would exceed the bound of their domain. */
export const loggedCounted = z.object({
  format: z.literal(LOG_COUNTED_FORMAT, must(`\`${LOG_COUNTED_FORMAT}\``)),
  time: TIME.describe('the arrival of the first of the requests'),
  until: TIME.describe('the arrival of the last'),
  id: ID,
  domain: TEXT,
  action: WORD.describe(
    'the outcome of each: `block`, `challenge`, `refuse`, `fault`, or with `would-` what dry_run rules would have done',
  ),
  rule: RULE.describe('`<type>/<id>` of the rule that settled it; `null`: none, or one of too many'),
  network: TEXT.refine((text) => parseIpEntry(text).ok, NETWORK_RULE)
    .nullable()
    .meta({
      description: 'the /24 or /48 of the visitors; `null`: not known, or one of too many',
      example: '203.0.113.0/24',
    }),
  requests: z.int(REQUESTS_RULE).min(1, REQUESTS_RULE).describe('their exact number'),
});

/** What became of a check: the fields of this release, or the first mistake as a sentence. */
export type CheckedEntry<T> =
  | { readonly ok: true; readonly entry: T }
  | { readonly ok: false; readonly mistake: string };

/** Checks one entry by its schema. */
export function checkEntry<T>(schema: z.ZodType<T>, value: unknown): CheckedEntry<T> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return { ok: true, entry: data };
  const [issue] = error.issues;
  const path = formatPath(issue!.path.map((step) => (typeof step === 'number' ? step : String(step))));
  return { ok: false, mistake: `\`${path}\` ${issue!.message}` };
}

/** The first mistake of a counted line; `null`: the line is valid. */
export function countedMistake(value: unknown): string | null {
  const checked = checkEntry<unknown>(loggedCounted, value);
  return checked.ok ? null : checked.mistake;
}

/** The first mistake of a decision that the store has, or a file; `null`: no mistake. */
export function decisionMistake(value: unknown, from: 'store' | 'file'): string | null {
  const checked = checkEntry<unknown>(from === 'store' ? loggedDecision : decisionInFile, value);
  return checked.ok ? null : checked.mistake;
}

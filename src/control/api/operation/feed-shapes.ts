/** Schemas of the requests and answers of nodes, for validation and for the OpenAPI document. */
import { z } from 'zod';
import { MAX_ID } from '../../../base/vocabulary/limits.ts';
import { RULE_TYPES } from '../../../base/vocabulary/vocabulary.ts';
import {
  MANIFEST_FORMAT,
  SELF_FORMAT,
  TOMBSTONES,
  TRANSITION_FORMAT,
} from '../../../engine/plan/manifest.ts';
import { PURGE_KINDS, PURGES_FORMAT } from '../../../engine/plan/purges.ts';

/** Seconds a long-poll waits, at most and by default: below the idle time-outs of common proxies. */
const MOST_WAIT_SEC = 55;
/** See `MOST_WAIT_SEC`. */
const DEFAULT_WAIT_SEC = 25;
/** Entries of one report. */
const MOST_REPORTS = 500;

/** A position in the feed: `through` of the last manifest page that the node has; 0: none. */
export const since = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
/** The query of the long-poll. `wait`: seconds until an unchanged manifest is answered with 304. */
export const manifestQuery = z.strictObject({
  since: since.default(0),
  wait: z.coerce.number().min(0).max(MOST_WAIT_SEC).default(DEFAULT_WAIT_SEC),
});
/** Characters of a nonce: 32 octets in base64 and room for other alphabets. */
const MOST_NONCE = 64;
/** The query of `/nodes/self`. The answer is signed together with the `nonce`, so that it cannot be replayed. */
export const selfQuery = z.strictObject({
  nonce: z
    .string()
    .max(MOST_NONCE)
    .regex(/^[\w+/=-]*$/)
    .default('')
    .describe('signed with the answer, so that no earlier answer can stand in for it'),
});
/** The query of purges: the position of the newest one that the node has. */
export const purgesQuery = z.strictObject({ since: since.default(0) });
/** The query of the event stream, where the request has no `Last-Event-ID`. */
export const feedQuery = z.strictObject({ since: since.optional() });

/** A text that the store can save: no NUL, no lone surrogates. */
const plain = (most: number): z.ZodString =>
  z
    .string()
    .max(most)
    .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be plain text');
/** A whole number from 0: counts, positions and times. */
const count = z.int().min(0);
/** A node's reports: the result of installing revisions, and its traffic counts since the last batch. */
export const reportsBody = z.strictObject({
  /**
   * The number of this batch of traffic, which rises with every batch of a node, such as the milliseconds at which it was
   * closed. A batch that is sent again after a lost answer is not counted twice. Without a number every batch counts.
   */
  batch: z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
  reports: z
    .array(
      z.strictObject({
        domain: plain(253),
        revision: z.int().min(0),
        outcome: z.enum(['ack', 'nack']),
        reason: plain(1_000).default(''),
      }),
    )
    .max(MOST_REPORTS)
    .default([]),
  usage: z
    .array(
      z.strictObject({
        domain: plain(253),
        minute: count,
        requests: count,
        octets: count,
        gateway_requests: count.default(0),
      }),
    )
    .max(MOST_REPORTS)
    .default([]),
  /** How often rules matched, of the same batch. */
  hits: z
    .array(
      z.strictObject({
        domain: plain(253),
        minute: count,
        type: z.enum(RULE_TYPES),
        id: z.int().min(0).max(MAX_ID),
        count,
      }),
    )
    .max(MOST_REPORTS)
    .default([]),
});

/** A secret of clearance cookies. */
const secret = z.string().describe('octets in base64');

/** A signature by one of several keys in force. */
const keySignature = z.object({ key_id: z.string(), signature: z.string() });
/** Signed statements that one key replaces another, with which a node follows a change of keys. */
const transitions = z
  .array(
    z.object({
      format: z.literal(TRANSITION_FORMAT),
      from: z.string().describe('the id of the key before'),
      public_key: z.string().describe('the key that takes its place: SubjectPublicKeyInfo in base64'),
      at: count,
      until: count.describe('the key before signs manifests before this, milliseconds since 1970'),
      signature: z
        .string()
        .describe('Ed25519 by the key before, over the canonical JSON of the other fields'),
    }),
  )
  .optional();

/** The signatures of a page or of purges. */
const signatures = {
  key_id: z.string(),
  signature: z.string(),
  also: z.array(keySignature).optional().describe('by the other keys in force, the newest last'),
  transitions: transitions.describe('from the keys in force'),
};

/** A signed page of the manifest, see `engine/plan/manifest.ts`. */
export const signedPage = z.object({
  manifest: z.object({
    format: z.literal(MANIFEST_FORMAT),
    epoch: count.optional().describe('of the history: positions and revisions begin again in a higher one'),
    since: count,
    through: count,
    complete: z.boolean(),
    at: count,
    groups: z
      .array(z.string())
      .optional()
      .describe('those of the node, whose names the page has; absent: `default` alone'),
    entries: z.array(
      z.object({
        domain: z.string(),
        revision: count,
        digest: z.string().nullable(),
        tombstone: z.enum(TOMBSTONES).nullable(),
        purge_epoch: count,
        purges: count
          .optional()
          .describe('the position of the newest purge of single responses; absent: there was none'),
        position: count,
        clearance: z
          .object({
            current: secret,
            previous: z.array(
              z.object({ secret, until: count.describe('accepted before this, milliseconds since 1970') }),
            ),
          })
          .optional()
          .describe("what the domain's clearance cookies are signed with; absent where there is a tombstone"),
        certificates: z
          .string()
          .optional()
          .describe("the digest of the domain's certificates; absent: it has none, or the name is `gone`"),
        challenges: z
          .array(z.object({ token: z.string(), answer: z.string().describe('the key authorization') }))
          .optional()
          .describe('what nodes answer to HTTP-01 challenges of certificate authorities; absent: nothing'),
      }),
    ),
  }),
  ...signatures,
});

/** Signed purges, see `engine/plan/purges.ts`. */
export const signedPurges = z.object({
  purges: z.object({
    format: z.literal(PURGES_FORMAT),
    epoch: count,
    domain: z.string(),
    since: count,
    through: count,
    floor: count.describe('responses from before this position count as purged'),
    purges: z.array(z.object({ kind: z.enum(PURGE_KINDS), value: z.string(), position: count })),
  }),
  ...signatures,
});

/** The answer of `/nodes/self`. */
export const nodeSelf = z.object({
  format: z.literal(SELF_FORMAT),
  id: z.int(),
  name: z.string(),
  public_key: z.string().describe('what manifests are signed with: SubjectPublicKeyInfo in base64'),
  clearance: z
    .string()
    .describe('what nodes of releases with one secret for all domains sign clearance cookies with: base64'),
  groups: z.array(z.string()).optional().describe('the groups that the node is in; absent: `default` alone'),
  nonce: z.string(),
  key_id: z.string(),
  signature: z
    .string()
    .describe('Ed25519 over the canonical JSON (RFC 8785) of the fields from `format` to `nonce`'),
  also: z
    .array(keySignature.extend({ public_key: z.string() }))
    .optional()
    .describe('by the other keys in force, the newest last, each over the same with its own `public_key`'),
  transitions: transitions.describe('all that there are, the oldest first'),
});

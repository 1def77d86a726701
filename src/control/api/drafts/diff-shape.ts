/** The form of a comparison of two rule sets: fields that differ and, with a proof, outcomes that differ. */
import { z } from 'zod';
import { RULE_CHANGES } from '../../../workbench/proofs/diff.ts';
import { pageNote, shortenedList } from '../operation/shapes.ts';

/** A field that differs, with both values. */
const field = z.object({
  field: z.string(),
  /** Absent where the older, or the newer, side has no such field. */
  was: z.unknown().optional(),
  now: z.unknown().optional(),
});

/** What decides a request, and how. */
const side = z.object({
  /** `<type>/<id>`; `null`: no rule. */
  rule: z.string().nullable(),
  action: z.string(),
  status: z.int().nullable(),
  location: z.string().nullable(),
});

/** Requests that are decided differently. */
const outcome = z.object({
  /** The step in which they differ, such as `end`, `cache` or `origin`. */
  component: z.string(),
  kind: z
    .enum(['outcome', 'other_rule', 'order'])
    .describe(
      '`other_rule`: the outcome is the same, by another rule. `order`: both rules act, and now the one of `after` is the first',
    ),
  before: side,
  after: side,
  request: z
    .record(z.string(), z.unknown())
    .describe('a request that gets the one before and the other after'),
  was: z.string().describe('the outcome before, for people'),
  now: z.string().describe('the outcome after, for people'),
  command: z.string().describe('the request as arguments of `edgeplan simulate`'),
});

/** What the proof of outcomes comes to. */
const proof = z.object({
  equivalent: z.boolean().describe('proved: hosts and rules decide every request alike'),
  complete: z
    .boolean()
    .describe('false: some pairs of rules are proved neither way, so there may be more outcomes'),
  outcomes: z.int().describe('changed outcomes of all pages'),
  open: z.array(
    z.object({ component: z.string(), before: z.string().nullable(), after: z.string().nullable() }),
  ),
});

/** The parameter that turns the proof on or off. */
export const PROOF_QUERY = z.enum(['true', 'false']).optional();

/** The answer, without the fields that name its two sides. */
export const DIFF = z.object({
  same: z.boolean(),
  domain: z.array(field),
  hosts: z.array(
    z.object({ change: z.enum(['added', 'removed', 'changed']), host: z.string(), fields: z.array(field) }),
  ),
  rules: z.array(
    z.object({
      change: z.enum(RULE_CHANGES),
      /** `<type>/<id>`. */
      rule: z.string(),
      /** Its id on the older side, where that is another one. */
      before: z.string().optional(),
      fields: z.array(field),
    }),
  ),
  /** With a proof only; `null`: one of the sides serves nothing. */
  proof: proof.nullable().optional(),
  /** With a proof only. */
  outcomes: z.array(outcome).optional(),
  /** Changes of all pages. */
  counts: z.object({
    hosts: z.int(),
    added: z.int(),
    removed: z.int(),
    changed: z.int(),
    moved: z.int(),
  }),
  /** Its entries are changes of hosts, then of rules, then of outcomes. */
  page: pageNote.extend({
    /** The `cursor` of the next page; `null` on the last one. */
    next: z.string().nullable(),
  }),
  shortened: shortenedList,
});

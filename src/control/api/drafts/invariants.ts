/**
 * `/domains/{domain}/invariants`: what must be proved of the rules of a domain before its draft is published. Only a domain that
 * publishes by hand has them: its rules are checked together, when somebody publishes them.
 */
import { z } from 'zod';
import { isObject } from '../../../base/text/json-object.ts';
import { MAX_INVARIANTS } from '../../../base/vocabulary/limits.ts';
import { ACTIONS, CONDITION_OPS } from '../../../base/vocabulary/vocabulary.ts';
import { parseInvariants } from '../../../rules/model/invariant.ts';
import { wrongInput } from '../operation/read-request.ts';
import { badRequest, conflict } from '../operation/refusal.ts';
import { JSON_TYPE, ok, operation, type Response, type Writing } from '../operation/route.ts';

const texts = z.union([z.string(), z.array(z.string())]);
const filter = z.union([texts, z.object({ in: texts.optional(), not: texts.optional() })]);
const numbers = z.union([z.int(), z.array(z.int())]);
/** As in `conditions` of rules. */
const values = z.array(
  z.object({
    name: z.string(),
    op: z.enum(CONDITION_OPS),
    values: z.array(z.string()).optional(),
    ignore_case: z.boolean().optional(),
  }),
);
const outcomes = z.union([z.enum(ACTIONS), z.array(z.enum(ACTIONS))]);

/** The list as it is written; `rules/model/invariant.ts` reads it. */
const LIST = z.object({
  invariants: z
    .array(
      z.object({
        name: z.string().describe('what holds'),
        when: z
          .object({
            host: filter.optional(),
            path: filter.optional(),
            ip: filter.optional(),
            country: filter.optional(),
            bot: filter.optional(),
            method: filter.optional(),
            scheme: filter.optional(),
            asn: z.union([numbers, z.object({ in: numbers.optional(), not: numbers.optional() })]).optional(),
            user_agent: filter.optional(),
            header: values.optional(),
            query: values.optional(),
            cookie: values.optional(),
          })
          .optional()
          .describe('the requests that are meant; absent: all that the domain serves'),
        never: outcomes.optional().describe('what none of them may get'),
        always: outcomes.optional().describe('what all of them get; instead of `never`'),
      }),
    )
    .max(MAX_INVARIANTS)
    .meta({
      examples: [[{ name: 'only the office reaches /admin', when: { path: '/admin/*' }, never: 'forward' }]],
    }),
});

/** What is proved. */
const PROOF = z.object({
  holds: z.boolean().describe('every invariant is proved'),
  invariants: z.array(
    z.object({
      name: z.string(),
      claim: z.string(),
      result: z
        .enum(['proved', 'broken', 'empty', 'unknown'])
        .describe('`empty`: no request is meant; `unknown`: the budget of steps ended'),
      outcome: z.string().nullable().describe('what `request` gets, where the invariant is broken'),
      request: z.record(z.string(), z.unknown()).nullable(),
      command: z.string().nullable().describe('the request as arguments of `edgeplan simulate`'),
      open: z.string().nullable().describe('what was not decided'),
    }),
  ),
});

/** `GET /domains/{domain}/invariants`. */
export const read = operation({
  summary: 'What must be proved of the rules before a draft is published',
  response: LIST,
  handle: async ({ domain, read: reading }) => {
    const required = await reading((tx) => tx.invariants.get(domain.id));
    return ok({ invariants: listOf(required?.body) });
  },
});

/** `PUT /domains/{domain}/invariants`: replaces the list; an empty one requires nothing. */
export const change = operation<{ readonly invariants: readonly unknown[] }>({
  summary: 'Require invariants of every draft before it is published; replaces the list',
  body: { kind: 'read', schema: LIST, read: readList },
  response: LIST,
  statuses: [409],
  handle: ({ body, write }) => write((w) => replace(w, body.invariants)),
});

/** `GET /domains/{domain}/invariants/proof`: runs in a compute thread. */
export const prove = operation({
  summary: 'Prove the invariants of the stored rules, which are those of the draft',
  response: PROOF,
  handle: async ({ compute, domain }) => {
    const body = await compute('invariants', async () => ({ kind: 'invariants', domain }));
    return { body, type: JSON_TYPE };
  },
});

/** The stored list. */
function listOf(body: string | undefined): readonly unknown[] {
  return body === undefined ? [] : (JSON.parse(body) as readonly unknown[]);
}

/** @throws Refusal 400 that lists the mistakes */
function readList(body: unknown): { readonly invariants: readonly unknown[] } {
  if (!isObject(body) || Object.keys(body).some((name) => name !== 'invariants'))
    throw badRequest('must be an object with `invariants`, a list, and nothing else');
  const { invariants } = body;
  const parsed = parseInvariants(invariants);
  if (!parsed.ok)
    throw wrongInput(parsed.diagnostics.map((one) => ({ ...one, path: ['invariants', ...one.path] })));
  return { invariants: invariants as readonly unknown[] };
}

/** Replaces the list. @throws Refusal 409, 412 */
async function replace(w: Writing, wanted: readonly unknown[]): Promise<Response> {
  const { domain, tx } = w;
  const before = { invariants: listOf((await tx.invariants.get(domain.id))?.body) };
  w.match(before);
  const after = { invariants: wanted };
  if (wanted.length > 0 && domain.publish_mode !== 'manual')
    throw conflict(
      'invariants are proved when a draft is published, and this domain publishes every change at once; ' +
        `PUT /domains/${domain.name}/publishing with \`{ "publish_mode": "manual" }\` first`,
    );
  await tx.invariants.put(domain.id, JSON.stringify(wanted));
  await w.audit({ action: 'domain.invariants', before, after });
  return ok(after);
}

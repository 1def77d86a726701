/**
 * Questions about a domain that change nothing: what would a request meet (`/simulate`), and what in the stored rules
 * looks like a mistake (`/analysis`). A request is put to the plan that nodes should hold now, so the answer is what the
 * edge would do; with a `status`, also what visitors would see of an origin's error.
 */
import { z } from 'zod';
import { lintRuleSet } from '../../analysis/lint.ts';
import { formatPath } from '../../base/diagnostic.ts';
import { PlanFault } from '../../plan/fault.ts';
import { findBlob } from '../../publisher/blob.ts';
import { readDomainRows, toRuleSet } from '../../publisher/rule-set.ts';
import { requestMistake } from '../../simulator/request-fields.ts';
import { type Asked, simulate as simulateRequest } from '../../simulator/simulate.ts';
import type { DomainRow } from '../../store/rows.ts';
import type { ReadTransaction } from '../../store/store.ts';
import { badRequest, conflict } from '../refusal.ts';
import { ok, operation } from '../route.ts';
import { currentOf } from './plans.ts';

const question = z.strictObject({
  /** As `edgeplan simulate --requests` reads a line: `{ "host": "example.com", "target": "/a?b", "ip": "203.0.113.7" }`. */
  request: z.record(z.string(), z.unknown()),
  /** An origin's answer, to see the error page. */
  status: z.int().min(400).max(599).optional(),
});

const finding = z.object({
  severity: z.enum(['error', 'warning', 'info']),
  code: z.string(),
  /** Where: `rules[3].path_includes[0]`. */
  path: z.string(),
  message: z.string(),
  found: z.string().nullable(),
  remedy: z.string().nullable(),
});

export const simulate = operation({
  summary: 'Ask what a request would meet: every rule that was looked at, and why',
  body: { kind: 'raw', schema: question },
  response: z.record(z.string(), z.unknown()),
  statuses: [409],
  handle: (call) => {
    const asked = question.safeParse(call.body);
    if (!asked.success) {
      throw badRequest(
        'the body must be `{ "request": { "host": …, "target": … } }`, with a `status` of 400 to 599 if any',
      );
    }
    const { request: fields, status } = asked.data;
    const mistake = requestMistake(fields);
    if (mistake !== null) throw badRequest(`request: ${mistake}`);
    const plain = { scheme: 'https', method: 'GET', host: call.domain.name, target: '/' };
    const request = { ...plain, ...fields } as Asked['request'];
    return call.read(async (tx) => {
      const { bytes, digest, revision } = await currentPlan(tx, call.domain);
      const subject = {
        bytes,
        digest: `sha256:${digest}`,
        name: `revision ${revision}`,
        sources: new Map(),
        ruleSet: null,
        signatures: (await call.services.signaturesFor?.(bytes)) ?? null,
      };
      const world = {
        down: [],
        nodeId: null,
        now: request.now ?? call.now,
        nowGiven: request.now !== undefined,
      };
      const response = status === undefined ? undefined : { status, madeBy: 'origin' as const };
      const url = `${request.scheme}://${String(request.host)}${request.target}`;
      try {
        return ok(simulateRequest(subject, { request, url, world, response }));
      } catch (error) {
        // Sealed by an earlier version, and not published again since.
        if (error instanceof PlanFault) throw conflict(error.message);
        throw error;
      }
    });
  },
});

async function currentPlan(
  tx: ReadTransaction,
  domain: DomainRow,
): Promise<{ readonly bytes: Uint8Array; readonly digest: string; readonly revision: number }> {
  const current = await currentOf(tx, domain);
  const digest = current?.digest ?? null;
  const bytes = digest === null ? null : await findBlob(tx, digest);
  if (current === null || digest === null || bytes === null) {
    throw conflict('the domain has no published plan: nothing was published yet, or it must not serve');
  }
  return { bytes, digest, revision: current.revision };
}

export const analysis = operation({
  summary:
    'Look for mistakes in the stored rules: what can never match, what is never reached, what is meant otherwise',
  response: z.array(finding),
  handle: (call) =>
    call.read(async (tx) => {
      const found = lintRuleSet(toRuleSet(await readDomainRows(tx, call.domain)));
      return ok(
        found.map(({ severity, code, path, message, found: what, remedy }) => ({
          severity,
          code,
          path: formatPath(path),
          message,
          found: what ?? null,
          remedy: remedy ?? null,
        })),
      );
    }),
});

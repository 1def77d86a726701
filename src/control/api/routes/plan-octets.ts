/**
 * Operations that return what the page evaluates with: the sealed plan of a revision, and the signatures of its `waf` rules. In: the
 * revision of the path. Out: octets with their digest in a header, which the page compares with its own.
 */
import { z } from 'zod';
import { conflict, notFound } from '../operation/refusal.ts';
import { type Call, operation, type Response } from '../operation/route.ts';
import { findRevision, planOf, revisionOf } from '../operation/stored-revision.ts';

/** SHA-256 of the octets: `sha256:` and 64 hex digits. */
const DIGEST = 'edgeplan-digest';
/** The same of the signatures that `waf` rules of the plan inspect with; absent: the plan has no such rule. */
const SIGNATURES = 'edgeplan-signatures';

const OCTETS = 'application/octet-stream';

/** The sealed plan of the revision in the path. @throws Refusal 404 for an unknown one, 409 for a pruned one and for a tombstone */
async function planOfPath({ domain, params, read }: Call<unknown>): Promise<PlanOctets> {
  const revision = revisionOf(params['revision']);
  return read(async (tx) => {
    const row = await findRevision(tx, domain.id, revision);
    const bytes = await planOf(tx, row);
    if (bytes === null || row.digest === null)
      throw conflict(
        `revision ${revision} is a tombstone: the edge refuses every request, and no plan decides`,
      );
    return { bytes, digest: `sha256:${row.digest}` };
  });
}

/** A sealed plan with its digest. */
interface PlanOctets {
  readonly bytes: Uint8Array;
  readonly digest: string;
}

function octets(body: Uint8Array, headers: Readonly<Record<string, string>>): Response {
  return { body, type: OCTETS, headers };
}

/** `GET /domains/{domain}/plans/{revision}/bytes`: what nodes evaluate, octet by octet. */
export const plan = operation({
  summary:
    'Fetch the sealed plan of a revision, as nodes evaluate it; `edgeplan-digest` is its SHA-256, `edgeplan-signatures` that of the signatures of its `waf` rules',
  response: z.string(),
  produces: OCTETS,
  statuses: [409],
  async handle(call) {
    const { bytes, digest } = await planOfPath(call);
    const found = (await call.services.signaturesFor?.(bytes)) ?? null;
    const named = found === null ? {} : { [SIGNATURES]: `${found.digest} ${found.name}` };
    return octets(bytes, { [DIGEST]: digest, ...named });
  },
});

/** `GET /domains/{domain}/plans/{revision}/signatures`: 404 for a plan without `waf` rules. */
export const signatures = operation({
  summary:
    'Fetch the sealed signatures that `waf` rules of a revision inspect with; `edgeplan-digest` is their SHA-256',
  response: z.string(),
  produces: OCTETS,
  statuses: [409],
  async handle(call) {
    const { bytes } = await planOfPath(call);
    const found = (await call.services.signaturesFor?.(bytes)) ?? null;
    if (found === null) throw notFound();
    return octets(found.sealed, { [DIGEST]: found.digest });
  },
});

/** What a review of the draft shows: which rules it changes, what it would decide differently, which invariants hold. */
import { callJson } from './call.ts';
import { type DraftDiffShown, type DraftShown, domainPath, type InvariantsProved } from './documents.ts';
import { getApi } from './state.ts';

/** A draft as it is reviewed. */
export interface Review {
  readonly draft: DraftShown;
  /** The tag of the draft that was compared; a publication names it. */
  readonly tag: string;
  /** `null`: it changes nothing. */
  readonly diff: DraftDiffShown | null;
  readonly proof: InvariantsProved;
}

/** Reads the draft of the domain with its comparison; `null`: no domain is chosen. @throws CallFault */
export async function readReview(): Promise<Review | null> {
  const { domain } = getApi();
  if (domain === null) return null;
  const path = domainPath(domain.name);
  const { body: draft, headers } = await callJson<DraftShown>(`${path}/draft`);
  const tag = headers.get('etag') ?? '"none"';
  if (draft.publish_mode === 'automatic')
    return { draft, tag, diff: null, proof: { holds: true, invariants: [] } };
  const { body: proof } = await callJson<InvariantsProved>(`${path}/invariants/proof`);
  if (draft.changed === 0) return { draft, tag, diff: null, proof };
  const compared = await callJson<DraftDiffShown>(`${path}/draft/diff`);
  return { draft, tag: compared.headers.get('etag') ?? tag, diff: compared.body, proof };
}

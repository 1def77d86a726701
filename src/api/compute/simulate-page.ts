/** One simulated request, and of its trace the page that was asked for. */
import { openSignatures } from '../../plan/open-signatures.ts';
import { type Signatures, simulate } from '../../simulator/simulate.ts';
import { loadSignatures } from '../../waf/load/load.ts';
import type { SealedSignatures, SimulateJob } from './job.ts';
import { tracePage } from './trace-page.ts';

let loaded: Signatures | null = null;

/** @throws PlanFault when this build does not read the plan */
export function simulatePage({
  bytes,
  digest,
  revision,
  signatures,
  asked,
  limit,
  from,
}: SimulateJob): string {
  const subject = {
    bytes,
    digest: `sha256:${digest}`,
    name: `revision ${revision}`,
    sources: new Map(),
    ruleSet: null,
    signatures: signatures === null ? null : load(signatures),
  };
  return tracePage(simulate(subject, asked), { revision, limit, from });
}

/** The thread loads a set once: the Core Rule Set takes some 100 ms. */
function load({ name, digest, sealed }: SealedSignatures): Signatures {
  if (loaded?.digest !== digest) loaded = { waf: loadSignatures(openSignatures(sealed)), name, digest };
  return loaded;
}

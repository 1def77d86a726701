/** Simulates one request and returns the requested page of its trace. */
import { openSignatures } from '../../engine/plan/open-signatures.ts';
import { loadSignatures } from '../../engine/waf/load/load.ts';
import { type Signatures, simulate } from '../../workbench/simulation/simulate.ts';
import type { SealedSignatures, SimulateJob } from './job.ts';
import { tracePage } from './trace-page.ts';

/** The signature set this thread used last. */
let loaded: Signatures | null = null;

/** The page as JSON text. @throws PlanFault when this build cannot read the plan */
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

/** PERF: a thread loads a set once; the Core Rule Set takes about 100 ms. */
function load({ name, digest, sealed }: SealedSignatures): Signatures {
  if (loaded?.digest !== digest) loaded = { waf: loadSignatures(openSignatures(sealed)), name, digest };
  return loaded;
}

/**
 * The domain that was chosen over the management API: its revisions are the plans, fetched octet by octet and compared with their
 * digests by WebCrypto.
 */
import { CallFault, callOctets } from '../api/call.ts';
import { type ApiState, domainPath } from '../api/documents.ts';
import { followServer } from '../api/session.ts';
import { getApi } from '../api/state.ts';
import type { PageSource, PlanEntry, SourcePlan, SourceState } from '../source.ts';
import { onState } from '../state.ts';

/** The source of the page that the API process serves. */
export function apiSource(): PageSource {
  return {
    follow(report) {
      followServer();
      onState(({ api, revision }, before) => {
        if (api == null || (api === before.api && revision === before.revision)) return;
        if (api.domain === null) return;
        report(stateOf(api, { name: api.domain.name, revision }));
      });
    },
    plan: readPlan,
  };
}

/** The plans of a domain, the chosen one first. */
function stateOf(
  api: ApiState,
  { name, revision }: { readonly name: string; readonly revision: number | null },
): SourceState {
  const stored = api.revisions.flatMap(planEntry);
  const chosen = stored.find(({ label }) => label === `#${revision}`);
  const refuses = refusalOf(api.revisions[0]);
  // A tombstone decides without a plan; an older plan decides only where it is chosen.
  const plans = refuses !== null && chosen === undefined ? [] : stored;
  return {
    live: api.live,
    title: name,
    domain: name,
    plans: chosen === undefined ? plans : [chosen, ...plans.filter((plan) => plan !== chosen)],
    refuses,
    mistakes: [],
    findings: api.findings,
  };
}

/** The sentence of a newest revision without a plan; `null`: it has one, or nothing was published. */
function refusalOf(newest: ApiState['revisions'][number] | undefined): string | null {
  if (newest === undefined || newest.digest !== null) return null;
  return `The edge refuses every request since revision #${newest.revision}: ${newest.reason}.`;
}

/** A revision as a plan; tombstones and pruned revisions cannot be evaluated. */
function planEntry({
  digest,
  revision,
  pruned,
  created_at,
}: ApiState['revisions'][number]): readonly PlanEntry[] {
  if (digest === null || pruned) return [];
  return [{ digest, label: `#${revision}`, at: created_at, rules: null }];
}

async function readPlan(digest: string): Promise<SourcePlan> {
  const { domain, revisions } = getApi();
  const revision = revisions.find((one) => one.digest === digest);
  if (domain === null || revision === undefined) throw new CallFault(404, 'this plan is not listed any more');
  const path = `${domainPath(domain.name)}/plans/${revision.revision}`;
  const { body: bytes, headers } = await callOctets(`${path}/bytes`);
  await check(bytes, digest, 'plan');
  const named = /^sha256:([0-9a-f]{64}) (.+)$/.exec(headers.get('edgeplan-signatures') ?? '');
  const signatures = named === null ? null : await readSignatures(path, { hex: named[1]!, name: named[2]! });
  const subject = { bytes, digest: `sha256:${digest}`, name: domain.name, sources: new Map(), ruleSet: null };
  return { subject, signatures, list: (list) => readList(path, list) };
}

async function readList(path: string, digest: string): Promise<Uint8Array> {
  const { body: sealed } = await callOctets(`${path}/lists/${digest}`);
  await check(sealed, digest, 'list');
  return sealed;
}

async function readSignatures(
  path: string,
  { hex, name }: { readonly hex: string; readonly name: string },
): Promise<SourcePlan['signatures']> {
  const { body: sealed } = await callOctets(`${path}/signatures`);
  await check(sealed, hex, 'signatures');
  return { name, digest: `sha256:${hex}`, sealed };
}

/** Compares octets with their digest. @throws Error when they differ, or cannot be compared */
async function check(
  octets: Uint8Array,
  digest: string,
  what: 'plan' | 'list' | 'signatures',
): Promise<void> {
  if (!isSecureContext)
    throw new Error('plans are checked with WebCrypto, which browsers offer over HTTPS and on loopback only');
  const found = new Uint8Array(await crypto.subtle.digest('SHA-256', octets as Uint8Array<ArrayBuffer>));
  const hex = [...found].map((octet) => octet.toString(16).padStart(2, '0')).join('');
  if (hex !== digest)
    throw new Error(`the octets of ${what} ${digest} arrived damaged: their digest is ${hex}`);
}

/** Compares nginx with an imported file: each generated request runs through both, and what differs is listed. */
import { MAX_WINDOW_SEC } from '../../base/vocabulary/limits.ts';
import { compileEdge } from '../../edge/middleware/node/edge-input.ts';
import { type Evaluator, loadPlan } from '../../engine/evaluator/index.ts';
import { seal } from '../../engine/plan/seal.ts';
import type { NginxDirective } from '../../workbench/importers/nginx/parse-nginx.ts';
import type { ImportedEdge } from '../../workbench/importers/report.ts';
import { inputFault } from '../exit.ts';
import { generateRequests } from './generate-requests.ts';
import { type CheckedOutcome, type CheckedRequest, runNginx } from './run-nginx.ts';

/**
 * `opened`: nginx reaches no origin, over http and https, and the edge does; `lost_redirect`: nginx redirects and the edge forwards; `closed`: the
 * edge refuses what nginx does not; `other`: another status, target or path.
 */
export type DifferenceKind = 'opened' | 'lost_redirect' | 'closed' | 'other';

/** One request that both answer otherwise. */
export interface CheckedDifference {
  readonly kind: DifferenceKind;
  readonly request: CheckedRequest;
  readonly nginx: CheckedOutcome;
  readonly edge: CheckedOutcome;
}

/** The result of a check. */
export interface NginxCheck {
  /** Requests that were compared. */
  readonly compared: number;
  readonly differences: readonly CheckedDifference[];
}

/** Runs the requests of a configuration through nginx and through the imported file. @throws CommandFault */
export async function checkNginx(
  program: string,
  directives: readonly NginxDirective[],
  { edge, origin }: { readonly edge: ImportedEdge; readonly origin: string },
): Promise<NginxCheck> {
  const compiled = compileEdge(new TextEncoder().encode(edge.text), 'edge.yaml');
  if (!compiled.ok) throw inputFault('the imported file does not compile');
  // nginx runs without limits, and here requests are further apart than any window: a check would reach the limits.
  let now = Date.now();
  const evaluator = loadPlan(seal(compiled.plan, { revision: 0 }), {
    clock: () => (now += MAX_WINDOW_SEC * 1_000),
  });
  const nginx = await runNginx(program, withoutLimits(directives));
  const differences: CheckedDifference[] = [];
  let compared = 0;
  try {
    for (const request of generateRequests(directives)) {
      const theirs = await nginx.ask(request);
      if (theirs === null) continue;
      const ours = decide(evaluator, request);
      // Hosts without a record are not of the file.
      if (ours.kind === 'answer' && ours.status === 421) continue;
      compared++;
      const kind = differenceOf(theirs, ours, origin);
      if (kind === null) continue;
      // What nginx forwards alike over the other scheme is not opened.
      const other = kind === 'opened' ? await nginx.ask(otherScheme(request)) : null;
      const isElsewhere = other !== null && differenceOf(other, ours, origin) === null;
      differences.push({ kind: isElsewhere ? 'other' : kind, request, nginx: theirs, edge: ours });
    }
  } finally {
    await nginx.stop();
  }
  return { compared, differences };
}

function otherScheme(request: CheckedRequest): CheckedRequest {
  return { ...request, scheme: request.scheme === 'http' ? 'https' : 'http' };
}

/** The directives without those that limit how often or how fast a visitor may ask. */
function withoutLimits(directives: readonly NginxDirective[]): readonly NginxDirective[] {
  return directives.flatMap((one) => {
    if (/^limit_(?:req|conn|rate)/.test(one.name)) return [];
    return [one.block === null ? one : { ...one, block: withoutLimits(one.block) }];
  });
}

/** The decision of the file in the form of an outcome. */
function decide(evaluator: Evaluator, request: CheckedRequest): CheckedOutcome {
  const { scheme, host, target } = request;
  const decision = evaluator.evaluate({ ...request, headers: request.headers ?? {} });
  const { action, status, location, origin, path, query } = decision;
  if (action === 'redirect')
    return {
      kind: 'redirect',
      status: status!,
      url: new URL(location!, `${scheme}://${host}${target}`).href,
    };
  if (action !== 'forward') return { kind: 'answer', status: status! };
  const { address, port, scheme: to, hostHeader } = origin!;
  const isDefault = port === null || port === (to === 'https' ? 443 : 80);
  return {
    kind: 'forward',
    origin: isDefault ? address : `${address}:${port}`,
    target: query === null ? path! : `${path}?${query}`,
    host: hostHeader === '' ? host : hostHeader,
  };
}

/** How both outcomes differ; `null`: they are alike. `fallback`: the origin of hosts for which nginx names none. */
export function differenceOf(
  nginx: CheckedOutcome,
  edge: CheckedOutcome,
  fallback: string,
): DifferenceKind | null {
  switch (edge.kind) {
    case 'forward':
      if (nginx.kind === 'redirect') return 'lost_redirect';
      if (nginx.kind === 'forward') return sameForward(nginx, edge) ? null : 'other';
      return edge.origin === fallback && !isRefusal(nginx) ? null : 'opened';
    case 'redirect':
      if (nginx.kind !== 'redirect') return 'other';
      return nginx.status === edge.status && sameUrl(nginx.url, edge.url) ? null : 'other';
    case 'answer':
      if (nginx.kind !== 'answer') return 'closed';
      return nginx.status === edge.status ? null : 'other';
  }
}

/** Whether nginx refuses a visitor; files that are not there, and methods that files have not, are no refusals. */
function isRefusal({ status, isReturned }: Extract<CheckedOutcome, { kind: 'answer' }>): boolean {
  if (status === 404 || status === 405) return isReturned === true;
  return [0, 400, 401, 403, 410, 429, 451, 503].includes(status);
}

function sameForward(
  one: Extract<CheckedOutcome, { kind: 'forward' }>,
  other: Extract<CheckedOutcome, { kind: 'forward' }>,
): boolean {
  const plain = (text: string): string => text.replace(/:(?:80|443)$/, '');
  // nginx resolves nothing where the path stays; an empty query counts as none.
  const settled = (text: string): string => text.replace(/^\/+/, '/').replace(/\?$/, '');
  return plain(one.origin) === plain(other.origin) && settled(one.target) === settled(other.target);
}

function sameUrl(one: string, other: string): boolean {
  return one.replace(/\?$/, '') === other.replace(/\?$/, '');
}

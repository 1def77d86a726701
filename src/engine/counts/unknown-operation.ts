/**
 * Requests that came to a gateway and that none of its operations describes (semantics §15), as a top list counts them. In: a
 * finished request. Out: the gateway's id, the method and the generalized path. Requests with such values are what operations are
 * discovered from (`workbench/discovery`).
 */
import { generalizePath } from '../../base/paths/segment-kind.ts';
import type { Decision } from '../evaluator/decision.ts';
import { type CountedRequest, MAX_VALUE_LENGTH } from './counts.ts';

/** Methods that an OpenAPI document has fields for (OpenAPI 3.1 §4.8.9). */
export const DOCUMENT_METHODS = [
  'GET',
  'PUT',
  'POST',
  'DELETE',
  'OPTIONS',
  'HEAD',
  'PATCH',
  'TRACE',
] as const;
const METHODS: ReadonlySet<string> = new Set(DOCUMENT_METHODS);

/** What a value of the list says. */
export interface UnknownOperation {
  /** The id of the gateway. */
  readonly gateway: number;
  readonly method: string;
  /** Of `generalizePath`; with the gateway's base path. */
  readonly path: string;
}

/** The parts of a finished request that are read here. */
type Finished = Pick<CountedRequest, 'decision' | 'method' | 'path' | 'status'>;

/**
 * The value of a request, such as `7 GET /orders/{integer}`. `null`: an operation describes it, it came to no gateway, it was not
 * forwarded, or its response does not show that the API has the path: paths that scanners try are answered with 404.
 */
export function unknownOperation({ decision, method, path, status }: Finished): string | null {
  if (decision === null || decision.action !== 'forward') return null;
  // PERF: nearly all requests end here.
  if (decision.gateway === undefined && decision.shadow === null) return null;
  if (!showsOperation(status) || !METHODS.has(method) || path === null) return null;
  const gateway = gatewayWithout(decision);
  const general = gateway === null ? null : generalizePath(path);
  if (general === null) return null;
  const value = `${gateway} ${method} ${general}`;
  return value.length > MAX_VALUE_LENGTH ? null : value;
}

/** The gateway that takes the request and has no operation for it: the one that is enforced, else that of the shadow. */
function gatewayWithout(decision: Decision): number | null {
  const { matches, shadow } = decision;
  if (isUnknown(decision)) {
    return matches.find(({ type, mode }) => type === 'gateway' && mode === 'enforce')?.id ?? null;
  }
  // The first match is the gateway that would have taken the request.
  if (shadow === null || !isUnknown(shadow)) return null;
  return matches.find(({ type }) => type === 'gateway')?.id ?? null;
}

function isUnknown({ gateway }: Decision): boolean {
  return gateway !== undefined && gateway.operation === null && gateway.reason !== 'preflight';
}

/**
 * Whether a status shows that an API has the path and method: a success, a redirection of this request, or an upgrade. A permanent
 * redirection (301, 308) says that the path is elsewhere.
 */
export function showsOperation(status: number): boolean {
  return status === 101 || (status >= 200 && status < 400 && status !== 301 && status !== 308);
}

/** The parts of a value; `null`: `unknownOperation` does not write it. */
export function readUnknownOperation(value: string): UnknownOperation | null {
  const first = value.indexOf(' ');
  const second = value.indexOf(' ', first + 1);
  if (first < 1 || second < 0) return null;
  const gateway = Number(value.slice(0, first));
  const method = value.slice(first + 1, second);
  const path = value.slice(second + 1);
  if (!Number.isSafeInteger(gateway) || !METHODS.has(method) || !path.startsWith('/')) return null;
  return { gateway, method, path };
}

/**
 * The operations of a gateway that its traffic shows and that it does not have. In: a top list of unknown operations, the gateway
 * as it is now. Out: operations below its base path. What an operation added since describes is left out.
 */
import { decodeEscapes } from '../../base/octets/octets.ts';
import type { SpaceSaving } from '../../engine/counts/space-saving.ts';
import { readUnknownOperation } from '../../engine/counts/unknown-operation.ts';
import { createRouter, type PathOperations } from '../../engine/evaluator/operations.ts';
import type { GatewayOperation } from '../../rules/model/types.ts';
import { createDiscovery, type Discovered, type DiscoveredOperation } from './discover.ts';

/** The fields of a gateway that are read here. */
export interface DiscoveringGateway {
  readonly id: number;
  readonly base_path: string;
  readonly operations: readonly Pick<GatewayOperation, 'methods' | 'path'>[];
}

/** Discovers operations. Requests of each are a lower bound. */
export function discoverUnknown(
  { entries }: Pick<SpaceSaving, 'entries'>,
  { id, base_path, operations }: DiscoveringGateway,
): Discovered {
  const base = base_path === '/' ? '' : decodeEscapes(base_path);
  const router = createRouter(
    operations.map(({ methods, path }, index) => ({
      ...{ index, methods, path },
      ...{ id: '', scopes: [], tags: [], open: false, throttle: null },
    })),
  );
  const discovery = createDiscovery();
  for (const [value, { count, error }] of entries) {
    const one = readUnknownOperation(value);
    const path = one?.gateway === id ? below(one.path, base) : null;
    if (one === null || path === null || hasMethod(router.find(path), one.method)) continue;
    // A value that only the error bound of the list has may not have been seen at all.
    if (count > error) discovery.add({ method: one.method, path, requests: count - error, status: null });
  }
  return discovery.discover();
}

/** The path below the base path; `null`: the gateway had another one. */
function below(path: string, base: string): string | null {
  if (path === base) return '/';
  return path.startsWith(`${base}/`) ? path.slice(base.length) : null;
}

/** HEAD is answered as GET (semantics §15). */
function hasMethod(found: PathOperations | null, method: string): boolean {
  return found !== null && (found.has(method) || (method === 'HEAD' && found.has('GET')));
}

/** A discovered operation in the form of a gateway's operations. */
export function asOperation({ method, path }: DiscoveredOperation): GatewayOperation {
  return { methods: [method], path, source: 'discovered' };
}

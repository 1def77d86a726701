/**
 * Drafts an OpenAPI 3.1 document of discovered operations: paths, methods, path parameters and the statuses that were seen. What
 * traffic does not show is not in it.
 */
import type { DiscoveredOperation } from './discover.ts';
import type { ParameterType } from './parameter-names.ts';

/** What a document has beside operations. */
export interface DraftedApi {
  readonly title: string;
  /** `/`: the root. */
  readonly basePath: string;
}

/** Schemas of parameters. The numbers of identifiers have no bound that is known. */
const SCHEMAS: Readonly<Record<ParameterType, object>> = {
  integer: { type: 'integer' },
  uuid: { type: 'string', format: 'uuid' },
  date: { type: 'string', format: 'date' },
  string: { type: 'string' },
};

/** The document as plain data. */
export function draftOpenApi(
  operations: readonly Pick<DiscoveredOperation, 'method' | 'path' | 'parameters' | 'statuses'>[],
  { title, basePath }: DraftedApi,
): object {
  const paths = new Map<string, Record<string, unknown>>();
  for (const { method, path, parameters, statuses } of operations) {
    let item = paths.get(path);
    if (item === undefined) {
      item = parameters.length === 0 ? {} : { parameters: parameters.map(parameterOf) };
      paths.set(path, item);
    }
    // OpenAPI 3.1 demands a description, which may be empty.
    const responses = Object.fromEntries([...statuses.keys()].map((status) => [status, { description: '' }]));
    item[method.toLowerCase()] = statuses.size === 0 ? {} : { responses };
  }
  return {
    openapi: '3.1.0',
    info: { title, version: '0' },
    ...(basePath === '/' ? {} : { servers: [{ url: basePath }] }),
    paths: Object.fromEntries(paths),
  };
}

function parameterOf({ name, type }: DiscoveredOperation['parameters'][number]): object {
  return { name, in: 'path', required: true, schema: SCHEMAS[type] };
}

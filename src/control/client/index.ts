/** `edgeplan/client`: the management API, typed. */
export { type ApiError, type Client, type ClientOptions, createClient } from './client.ts';
export { ifMatch, ifNoneMatch, type Version } from './conditions.ts';
export { ApiFault, dataOf } from './fault.ts';
export type { components, operations, paths } from './schema.ts';

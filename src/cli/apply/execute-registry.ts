/** Executes a planned change of a consumer, a key, a usage plan or a token issuer over the API. */
import { same } from '../../rules/files/print-edge.ts';
import { type ApiResponse, callApi } from '../remote/call-api.ts';
import { domainPath } from '../remote/remote-domain.ts';
import { REGISTRY_PATHS, type RegistryNoun, readObject } from '../remote/remote-registry.ts';
import type { RegistryChange } from './registry-changes.ts';
import { changedMeanwhile, matching, type SendOptions, send } from './send.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Options of `executeRegistry`. */
interface RegistryOptions extends SendOptions {
  readonly domain: string;
}

/** Executes a change; `query` is added to the writing request. @throws CommandFault when its object has changed since it was read */
export async function executeRegistry(
  change: RegistryChange,
  options: RegistryOptions,
  query: string,
): Promise<ApiResponse> {
  if (change.noun === 'consumer_key') return executeKey(change, options, query);
  const all = allOf(options, change.noun);
  if (change.verb === 'create')
    return send(options, { method: 'POST', path: all + query, body: change.after });
  const path = `${all}${change.of}`;
  const { body: shown, headers } = await callApi(options, { method: 'GET', path });
  if (!same(readObject(change.noun, shown as Fields), change.before)) throw changedMeanwhile(change);
  if (change.verb === 'delete')
    return send(options, { method: 'DELETE', path: path + query, ...matching(headers) });
  return send(options, { method: 'PUT', path: path + query, body: change.after, ...matching(headers) });
}

/** Adds a key by its hash, or revokes one. */
async function executeKey(
  change: Extract<RegistryChange, { noun: 'consumer_key' }>,
  options: RegistryOptions,
  query: string,
): Promise<ApiResponse> {
  const all = allOf(options, 'consumer');
  if (change.verb === 'delete')
    return send(options, { method: 'DELETE', path: `${all}${change.consumer}/keys/${change.of}${query}` });
  const { name, sha256, expires_at } = change.after;
  const id = change.consumer ?? (await idOfCreated(change, options));
  const body = { name, sha256, expires_at };
  return send(options, { method: 'POST', path: `${all}${id}/keys/${query}`, body });
}

/** The id of the consumer of a key, which this plan has created. @throws CommandFault when the server does not have it */
async function idOfCreated(
  change: Extract<RegistryChange, { noun: 'consumer_key'; verb: 'create' }>,
  options: RegistryOptions,
): Promise<number> {
  const path = `${allOf(options, 'consumer')}?username=${encodeURIComponent(change.username)}`;
  const [consumer] = (await callApi(options, { method: 'GET', path })).body as readonly Fields[];
  if (consumer === undefined) throw changedMeanwhile(change);
  return Number(consumer['id']);
}

function allOf({ domain }: RegistryOptions, noun: RegistryNoun): string {
  return domainPath(domain, `/${REGISTRY_PATHS[noun]}/`);
}

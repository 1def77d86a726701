/** Fills a server with the sample shop, over its API. */
import { fileURLToPath } from 'node:url';
import { readDesiredState } from '../apply/desired-state.ts';
import { executeChanges } from '../apply/execute-changes.ts';
import { planChanges } from '../apply/plan-changes.ts';
import { callApi, type ServerAccess } from '../remote/call-api.ts';
import { domainPath, readRemote } from '../remote/remote-domain.ts';

/** Shipped with the package as it lies in the repository. */
const SHOP = fileURLToPath(new URL('../../../fixtures/shop/edge.yaml', import.meta.url));

export interface Shop {
  readonly records: number;
  readonly rules: number;
}

/** Makes the shop's domain, active and published. Throws the fault of whatever was refused. */
export async function applyShop(options: ServerAccess): Promise<Shop> {
  const wanted = await readDesiredState(SHOP, 'never');
  const { domain } = wanted;
  await callApi(options, { method: 'POST', path: '/domains/', body: { name: domain } });
  await callApi(options, { method: 'POST', path: domainPath(domain, '/check-ns') });
  const plan = planChanges(wanted, await readRemote(domain, options), { ids: false, prune: false });
  const outcome = await executeChanges(plan, { ...options, domain });
  if (!outcome.ok) throw outcome.fault;
  return { records: wanted.records.length, rules: wanted.rules.length };
}

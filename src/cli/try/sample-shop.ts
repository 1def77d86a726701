/** Creates the sample shop on a server, over its API. */
import { fileURLToPath } from 'node:url';
import { readDesiredState } from '../apply/desired-state.ts';
import { executeChanges } from '../apply/execute-changes.ts';
import { planChanges } from '../apply/plan-changes.ts';
import { callApi, type ServerAccess } from '../remote/call-api.ts';
import { domainPath, readRemote } from '../remote/remote-domain.ts';

/** The sample file, which the package includes. */
const SHOP = fileURLToPath(new URL('../../../fixtures/shop/edge.yaml', import.meta.url));

/** The size of the shop. */
export interface Shop {
  readonly records: number;
  readonly rules: number;
}

/** Creates the shop's domain, active and published. @throws CommandFault for any refusal */
export async function applyShop(options: ServerAccess): Promise<Shop> {
  const desired = await readDesiredState(SHOP, 'never');
  const { domain } = desired;
  await callApi(options, { method: 'POST', path: '/domains/', body: { name: domain } });
  await callApi(options, { method: 'POST', path: domainPath(domain, '/check-ns') });
  const plan = planChanges(desired, await readRemote(domain, options), { ids: false, prune: false });
  const outcome = await executeChanges(plan, { ...options, domain });
  if (!outcome.ok) throw outcome.fault;
  return { records: desired.records.length, rules: desired.rules.length };
}

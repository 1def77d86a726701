/** Reads the use of a gateway or a consumer of a server over the API. */
import type { UseDivision } from '../../control/traffic/show-gateway-use.ts';
import { CommandFault, EXIT } from '../exit.ts';
import type { UsageReport } from '../print/usage.ts';
import { type PeriodFlags, periodAt } from '../reports.ts';
import type { ServerAccess } from './call-api.ts';
import { callDomainApi, domainPath } from './remote-domain.ts';

/** Whose use to read, and of what time. */
export interface UsageFlags extends ServerAccess, PeriodFlags {
  /** The id of a gateway. */
  readonly gateway?: string;
  /** A username. */
  readonly consumer?: string;
  /** What requests are divided by. */
  readonly by?: UseDivision;
}

/** Reads the use over the API. @throws CommandFault */
export async function readUsage(domain: string, flags: UsageFlags): Promise<UsageReport> {
  const { gateway, consumer, by = gateway === undefined ? 'operation' : 'consumer' } = flags;
  const { query } = periodAt(flags, Date.now());
  const get = async (below: string, parameters: Readonly<Record<string, string>>): Promise<unknown> => {
    const path = `${domainPath(domain, below)}?${new URLSearchParams(parameters)}`;
    return (await callDomainApi(domain, flags, { method: 'GET', path })).body;
  };
  let place = `/gateways/${encodeURIComponent(gateway ?? '')}`;
  if (consumer !== undefined) {
    const [found] = (await get('/consumers/', { username: consumer })) as readonly { readonly id: number }[];
    if (found === undefined) throw new CommandFault(EXIT.no, `\`${domain}\` has no consumer \`${consumer}\``);
    place = `/consumers/${found.id}`;
  }
  const answer = (await get(`${place}/usage`, { ...query, by })) as Omit<UsageReport, 'domain' | 'of'>;
  const of = consumer === undefined ? `gateway ${gateway}` : `consumer ${consumer}`;
  return { domain, of, ...answer };
}

/** Checks that each DNS resolver answers, with the client that servers and nodes use. */
import { createDns, type Dns } from '../../control/dns/resolver.ts';
import type { ServerAddress } from '../../control/dns/server-address.ts';
import { type Check, type CheckFinding, reasonText } from './check.ts';

/** The servers of the root: every resolver of the internet has them in its cache. */
const QUESTION = { name: '', type: 'NS' } as const;

async function resolverFinding(dns: Dns, resolver: ServerAddress): Promise<CheckFinding> {
  const place = `resolver ${resolver.address} port ${resolver.port}`;
  const began = performance.now();
  try {
    const { rcode } = await dns.askResolver(resolver, QUESTION);
    const took = `in ${Math.max(1, Math.round(performance.now() - began))} ms`;
    if (rcode === 'NOERROR') return { state: 'fine', found: `${place} answers ${took}` };
    const remedy =
      'it answers and resolves no names: check where it forwards to, or name another with --resolver';
    return { state: 'warning', found: `${place} answers ${rcode} ${took}`, remedy };
  } catch (error) {
    const remedy = 'name one that answers with --resolver, or correct /etc/resolv.conf';
    return { state: 'failure', found: `${place}: ${reasonText(error)}`, remedy };
  }
}

export const resolvers: Check = {
  name: 'dns',
  async run({ resolver }) {
    const dns = createDns(resolver === undefined ? {} : { resolvers: resolver });
    if (dns.resolvers.length === 0) {
      const remedy = 'name one with --resolver: domains are proved and origins found by DNS';
      return [{ state: 'failure', found: 'this system has no DNS resolver', remedy }];
    }
    const findings = await Promise.all(dns.resolvers.map((one) => resolverFinding(dns, one)));
    // One that answers is enough: the others are asked after it.
    const works = findings.some(({ state }) => state === 'fine');
    return findings.map((one) => (works && one.state === 'failure' ? { ...one, state: 'warning' } : one));
  },
};

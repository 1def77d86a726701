/** The certificates of `edgeplan serve` that it obtains by ACME: the issuer and its metrics. */
import type { Registry } from 'prom-client';
import { createIssuer, type Issuer } from '../control/certificates/issuance/issuer.ts';
import { addIssuerMetrics } from '../control/certificates/issuance/metrics.ts';
import type { HostNames } from '../control/dns/host-names.ts';
import type { ServerOptions } from './server-options.ts';

/** The issuer of a server; `null`: it obtains no certificates. */
export function createServerIssuer(
  { issuer, secretsKey: ring, zones, store, log }: ServerOptions,
  { registry, hostNames }: { readonly registry: Registry; readonly hostNames: HostNames },
): Issuer | null {
  if (issuer === undefined || ring == null) return null;
  const metrics = addIssuerMetrics(registry, store);
  const nameservers = zones === undefined ? null : zones.secondaries.map(({ server }) => server);
  return createIssuer({
    ...issuer,
    ...{ store, ring, nameservers, log },
    lookup: hostNames.lookupFor('operator'),
    clock: Date.now,
    onOutcome: metrics.ended,
  });
}

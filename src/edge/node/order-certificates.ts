/**
 * Certificates by ACME for a node of several processes: the primary orders them; every worker answers the authority's
 * challenges and serves the certificates.
 */
import type { SharedState } from '../workers/shared-state.ts';
import { openCertificateFolder, startOrders } from './certificates.ts';
import type { EdgeNodeOptions } from './options.ts';
import { reportReloads } from './reload.ts';

/** Running ACME orders of the primary. */
export interface CertificateOrders {
  stop(): void;
}

/**
 * Starts to order certificates; challenge answers travel to the workers as shared state. `null`: ACME is not configured.
 * @throws the system's error when the folder cannot be read
 */
export async function orderCertificates(
  { tls, log }: EdgeNodeOptions,
  sharedState: SharedState,
): Promise<CertificateOrders | null> {
  if (tls === null || tls.acme === null || tls.folder === null) return null;
  const certificates = await openCertificateFolder(tls.folder, log);
  const acme = startOrders(tls.folder, tls.acme, {
    certificates,
    tokens: {
      set: (token, answer) => sharedState.setToken(token, answer),
      delete: (token) => sharedState.setToken(token, null),
    },
    log,
    // Workers watch the folder too; this is sooner, and works on file systems that report no changes.
    onObtained: () => reportReloads(log, [sharedState.reload()]),
  });
  return {
    stop() {
      acme.stop();
      certificates.close();
    },
  };
}

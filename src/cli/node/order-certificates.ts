/** Certificates by ACME for a node of several processes: one orders them, all answer the authority and serve them. */
import type { SharedState } from '../../workers/shared-state.ts';
import { obtain, openFolder } from './certificates.ts';
import type { NodeStart } from './options.ts';
import { reloadFiles } from './reload.ts';

export interface Ordering {
  stop(): void;
}

/** `null`: certificates come as files only. @throws the system's error when their folder cannot be read */
export async function orderCertificates(
  { tls, log }: NodeStart,
  alike: SharedState,
): Promise<Ordering | null> {
  if (tls === null || tls.acme === null) return null;
  const certificates = await openFolder(tls, log);
  const acme = obtain(tls, tls.acme, {
    certificates,
    tokens: {
      set: (token, answer) => alike.setToken(token, answer),
      delete: (token) => alike.setToken(token, null),
    },
    log,
    // Workers watch the folder too; this is sooner, and holds where the system tells no changes.
    onObtained: () => reloadFiles(log, [alike.reload()]),
  });
  return {
    stop() {
      acme.stop();
      certificates.close();
    },
  };
}

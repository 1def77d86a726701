/**
 * Finds domains with proxied names that no certificate covers. It follows the manifest: every change of records is published
 * at a new position, so the work grows with changes and not with domains. Now and then it begins again, since certificates
 * expire without a change.
 */
import { pause } from '../../../base/platform/tasks.ts';
import type { Store } from '../../store/store.ts';
import { ENTRIES_AT_ONCE, SURVEY_MS, SURVEY_REST_MS } from './limits.ts';
import { hasUncovered, requestUncovered } from './request.ts';

export interface NameSurveyOptions {
  readonly store: Store;
  /** Whether this server serves zones. */
  readonly zones: boolean;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Finds uncovered names. */
export interface NameSurvey {
  /** Reads what has changed and makes orders; resolves with how many. @throws StoreFault */
  run(): Promise<number>;
}

export function createSurvey({ store, zones, clock }: NameSurveyOptions): NameSurvey {
  let position = 0;
  let begun = Number.NEGATIVE_INFINITY;

  /** Whether an order was made. */
  async function look(domainId: number): Promise<boolean> {
    const now = clock();
    const isOpen = await store.read(async (tx) => {
      const domain = await tx.domains.get(domainId);
      return domain !== null && isServed(domain) && (await hasUncovered(tx, { domain, zones, now }));
    });
    if (!isOpen) return false;
    return store.write(async (tx) => {
      const domain = await tx.domains.get(domainId);
      if (domain === null || !isServed(domain)) return false;
      return (await requestUncovered(tx, { domain, zones, now })) !== null;
    });
  }

  return {
    async run() {
      const now = clock();
      if (now - begun >= SURVEY_MS || now < begun) {
        position = 0;
        begun = now;
      }
      for (let made = 0; ; await pause(SURVEY_REST_MS)) {
        const entries = await store.latest.plans.changedSince(position, ENTRIES_AT_ONCE);
        for (const { domain_id, digest, position: through } of entries) {
          if (digest !== null && (await look(domain_id))) made += 1;
          position = through;
        }
        if (entries.length < ENTRIES_AT_ONCE) return made;
      }
    },
  };
}

function isServed({ status, suspended }: { readonly status: string; readonly suspended: boolean }): boolean {
  return status === 'active' && !suspended;
}

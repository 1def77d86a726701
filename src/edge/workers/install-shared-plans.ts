/**
 * Installs the primary's plans in a worker: reads them from the plan store's folder, or takes the octets of the message.
 */
import type { PurgeList } from '../../engine/plan/purges.ts';
import { readPurgeFile } from '../following/fetch-purges.ts';
import { DamageFault, readPlanFile } from '../following/plan-store.ts';
import type { Installed, PlanTable } from '../following/plan-table.ts';
import type { PlanMessage, SharedStateChange } from './messages.ts';

type PlanChange = Extract<SharedStateChange, { readonly kind: 'plan' }>;

/** The worker's plans. */
export interface PlanTaker {
  /** Installs a plan without opening it: one that cannot be read refuses its name from the first request on. */
  apply(change: PlanChange): void;
  /**
   * Opens a plan without serving it; the returned function installs it.
   * @throws DamageFault, PlanFault or the system's error, without paths
   */
  prepare(change: PlanChange): () => void;
}

export interface PlanTakerOptions {
  readonly plans: PlanTable;
  /** The folder of the primary's plan store. */
  readonly directory: string;
  /** Called with a name whose installed plan is damaged. */
  readonly onDamaged: (name: string) => void;
}

export function createPlanTaker({ plans, directory, onDamaged }: PlanTakerOptions): PlanTaker {
  function readOf({ digest, octets }: PlanMessage): () => Uint8Array {
    if (octets === null) return () => readPlanFile(directory, digest);
    // A copy in memory of its own: views of a plan need an 8-octet boundary.
    const bytes = new Uint8Array(Buffer.from(octets, 'base64'));
    return () => bytes;
  }

  function apply({ name, plan }: PlanChange): void {
    if (plan === null) plans.delete(name);
    else plans.set(name, plan === 'refused' ? plan : installed(plan, () => onDamaged(name)));
  }

  function installed(plan: PlanMessage, reportDamage: () => void): Installed {
    const { revision, digest, clearance, previous } = plan;
    const purged = purgedOf(plan);
    const readOctets = readOf(plan);
    let damage: DamageFault | null = null;
    const read = (): Uint8Array => {
      // Not read again at each request: the primary sends the plan again, which replaces this entry.
      if (damage !== null) throw damage;
      try {
        return readOctets();
      } catch (error) {
        // A lack of descriptors or memory is temporary, and the primary would find the file intact.
        if (error instanceof DamageFault) {
          damage = error;
          reportDamage();
        }
        throw error;
      }
    };
    const fallback =
      previous === null
        ? null
        : { ...previous, ...purged, read: () => readPlanFile(directory, previous.digest) };
    return { revision, digest, ...purged, clearance, read, previous: fallback };
  }

  function purgedOf({ purgeEpoch, purges }: PlanMessage): Pick<Installed, 'purgeEpoch' | 'purges'> {
    if (purges === null) return { purgeEpoch, purges };
    const read = (): PurgeList => readPurgeFile(purges, () => readPlanFile(directory, purges.digest));
    return { purgeEpoch, purges: { ...purges, read } };
  }

  return {
    apply,
    prepare(change) {
      const { name, plan } = change;
      if (plan === null || plan === 'refused') return () => apply(change);
      let isInstalled = false;
      // Before that, the fault of `prepare` reports the damage.
      const entry = installed(plan, () => isInstalled && onDamaged(name));
      let install: () => void;
      try {
        install = plans.prepare(name, entry);
      } catch (error) {
        throw withoutPath(error);
      }
      return () => {
        isInstalled = true;
        install();
      };
    },
  };
}

/** Removes the path from the system's message, since customers read why a plan is refused. */
function withoutPath(error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  return new Error(`${code}: the plan cannot be read`, { cause: error });
}

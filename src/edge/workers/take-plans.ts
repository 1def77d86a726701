/** A worker's side of plans: what the primary says is installed, read from the files it keeps or as it came. */
import { readPlanFile } from '../follow/persist.ts';
import type { Installed, PlanTable } from '../plans.ts';
import type { Change, ToldPlan } from './messages.ts';

type PlanChange = Extract<Change, { readonly kind: 'plan' }>;

export interface PlanTaker {
  /** Installs what all others serve; what cannot be read is found at its first request, and the name refused by it. */
  hold(change: PlanChange): void;
  /**
   * Opens what is new and serves as before; what is returned installs it.
   * @throws DamageFault, the system's error or what the plan is refused for
   */
  prepare(change: PlanChange): () => void;
}

export interface PlanTakerOptions {
  readonly plans: PlanTable;
  /** The folder that the primary keeps plans in. */
  readonly directory: string;
  /** Told of a plan in use that cannot be read any more. */
  readonly onDamaged: (name: string) => void;
}

export function createPlanTaker({ plans, directory, onDamaged }: PlanTakerOptions): PlanTaker {
  function readOf({ digest, octets }: ToldPlan): () => Uint8Array {
    if (octets === null) return () => readPlanFile(directory, digest);
    // Of its own memory, since a plan is a view of its bytes from an 8-octet boundary on.
    const bytes = new Uint8Array(Buffer.from(octets, 'base64'));
    return () => bytes;
  }

  function hold({ name, plan }: PlanChange): void {
    if (plan === null) plans.delete(name);
    else plans.set(name, plan === 'refused' ? plan : installed(plan, () => onDamaged(name)));
  }

  function installed(plan: ToldPlan, tell: () => void): Installed {
    const { revision, digest, purgeEpoch } = plan;
    const readIt = readOf(plan);
    let damage: unknown = null;
    const read = (): Uint8Array => {
      // Until the primary brings it again, which takes the place of this: not read once a request.
      if (damage !== null) throw damage;
      try {
        return readIt();
      } catch (error) {
        damage = error;
        tell();
        throw error;
      }
    };
    return { revision, digest, purgeEpoch, read };
  }

  return {
    hold,
    prepare(change) {
      const { name, plan } = change;
      if (plan === null || plan === 'refused') return () => hold(change);
      let made = false;
      // Until then it is no plan in use, and that it cannot be read is told by the refusal.
      const install = plans.prepare(
        name,
        installed(plan, () => made && onDamaged(name)),
      );
      return () => {
        made = true;
        install();
      };
    },
  };
}

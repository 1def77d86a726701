/** A worker's side of plans: what the primary says is installed, read from the files it keeps or as it came. */
import { DamageFault, readPlanFile } from '../sync/plan-store.ts';
import type { Installed, PlanTable } from '../sync/plan-table.ts';
import type { PlanMessage, SharedStateChange } from './messages.ts';

type PlanChange = Extract<SharedStateChange, { readonly kind: 'plan' }>;

export interface PlanTaker {
  /** Installs what all others serve; what cannot be read is found at its first request, and the name refused by it. */
  apply(change: PlanChange): void;
  /**
   * Opens what is new and serves as before; what is returned installs it.
   * @throws DamageFault, what the system lacks or what the plan is refused for, without paths
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
  function readOf({ digest, octets }: PlanMessage): () => Uint8Array {
    if (octets === null) return () => readPlanFile(directory, digest);
    // Of its own memory, since a plan is a view of its bytes from an 8-octet boundary on.
    const bytes = new Uint8Array(Buffer.from(octets, 'base64'));
    return () => bytes;
  }

  function apply({ name, plan }: PlanChange): void {
    if (plan === null) plans.delete(name);
    else plans.set(name, plan === 'refused' ? plan : installed(plan, () => onDamaged(name)));
  }

  function installed(plan: PlanMessage, tell: () => void): Installed {
    const { revision, digest, purgeEpoch, clearance, previous } = plan;
    const readIt = readOf(plan);
    let damage: DamageFault | null = null;
    const read = (): Uint8Array => {
      // Until the primary brings it again, which takes the place of this: not read once a request.
      if (damage !== null) throw damage;
      try {
        return readIt();
      } catch (error) {
        // What the system lacks now it has at another request, and the primary would find nothing wrong.
        if (error instanceof DamageFault) {
          damage = error;
          tell();
        }
        throw error;
      }
    };
    const fallback =
      previous === null
        ? null
        : { ...previous, purgeEpoch, read: () => readPlanFile(directory, previous.digest) };
    return { revision, digest, purgeEpoch, clearance, read, previous: fallback };
  }

  return {
    apply,
    prepare(change) {
      const { name, plan } = change;
      if (plan === null || plan === 'refused') return () => apply(change);
      let made = false;
      // Until then it is no plan in use, and that it cannot be read is told by the refusal.
      const entry = installed(plan, () => made && onDamaged(name));
      let install: () => void;
      try {
        install = plans.prepare(name, entry);
      } catch (error) {
        throw withoutPath(error);
      }
      return () => {
        made = true;
        install();
      };
    },
  };
}

/** The system's own sentence holds the path, and customers read why a plan is refused. */
function withoutPath(error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  return new Error(`${code}: the plan cannot be read`, { cause: error });
}

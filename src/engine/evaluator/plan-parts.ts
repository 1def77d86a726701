/**
 * The parts of a plan that have octets of their own: the lists that its rules name, and its registry. A plan has them in it, or
 * refers to them by digest; they are opened once and shared by all evaluators whose plans refer to them.
 */
import { LIST_KINDS } from '../../base/vocabulary/vocabulary.ts';
import { decodeString, LIST, listDigest, NONE, type Plan, PlanFault } from '../plan/layout.ts';
import { isRegistry, type OpenedRegistry, openRegistry } from '../plan/open-registry.ts';
import { REGISTRY_KIND } from '../plan/registry.ts';
import { type OpenedList, type OpenListOptions, openList } from './lists.ts';

/** A list or a registry. */
export type PlanPart = OpenedList | OpenedRegistry;

/**
 * Opens a sealed list or registry, by its magic. The octets must not change afterwards.
 * @throws PlanFault naming what was found and what this build reads
 */
export function openPlanPart(bytes: Uint8Array, options: OpenListOptions = {}): PlanPart {
  return isRegistry(bytes) ? openRegistry(bytes, options) : openList(bytes, options);
}

/** Finds a list or a registry by the SHA-256 of its sealed form, 64 lower-case hex digits; `null`: it is not there. */
export type FindList = (digest: string) => PlanPart | null;

/** Where the parts of a plan come from. */
interface PartSource extends OpenListOptions {
  /** Absent: from the plan alone. */
  readonly lists?: FindList;
}

/**
 * The lists that the rules of a plan name, in the order of their rows: those that it contains, and those that it refers to. The row of
 * the registry, which is the last one, is left out.
 * @throws PlanFault for one that is missing or damaged
 */
export function listsOfPlan(plan: Plan, source: PartSource): readonly OpenedList[] {
  const opened: OpenedList[] = [];
  for (let row = 0; row < plan.lists.length; row += LIST.size) {
    const kind = plan.lists[row + LIST.kind]!;
    if (kind === REGISTRY_KIND) continue;
    const name = decodeString(plan, plan.lists[row + LIST.name]!);
    const list = partAt(plan, row, { ...source, called: `list \`${name}\`` });
    if (list.kind !== LIST_KINDS[kind])
      throw new PlanFault(
        'list',
        `the plan names a list of kind \`${LIST_KINDS[kind]}\`, found one of kind \`${list.kind}\``,
      );
    opened.push(list as OpenedList);
  }
  return opened;
}

/**
 * The registry of a plan; `null`: it has none.
 * @throws PlanFault when it is missing or damaged
 */
export function registryOfPlan(plan: Plan, source: PartSource): OpenedRegistry | null {
  for (let row = 0; row < plan.lists.length; row += LIST.size) {
    if (plan.lists[row + LIST.kind] !== REGISTRY_KIND) continue;
    const part = partAt(plan, row, { ...source, called: 'a registry' });
    if (part.kind === 'registry') return part;
    throw new PlanFault('list', `the plan names a registry, found a list of kind \`${part.kind}\``);
  }
  return null;
}

/** The part of a row: from the plan, or by its digest. */
function partAt(
  plan: Plan,
  row: number,
  { lists: find = () => null, trusted = false, called }: PartSource & { readonly called: string },
): PlanPart {
  const at = plan.lists[row + LIST.at]!;
  if (at !== NONE)
    return openPlanPart(plan.listData.subarray(at, at + plan.lists[row + LIST.octets]!), { trusted });
  const digest = listDigest(plan, row);
  const part = find(digest);
  if (part !== null) return part;
  throw new PlanFault('list', `the plan names ${called} with digest ${digest}, which is not there`);
}

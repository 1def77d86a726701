/**
 * A plan without indexes: the same rules, filters and fields, but every rule is a candidate of every request. The
 * variant is made of the sections themselves, so the same evaluator runs it and only the candidates differ.
 */
import { seal } from '../../src/engine/compiler/index.ts';
import { type Evaluator, type EvaluatorOptions, loadPlan } from '../../src/engine/evaluator/index.ts';
import { GROUP, META, NONE, type Plan, RECORD, SLOT } from '../../src/engine/plan/layout.ts';

const NOTHING = new Uint32Array(0);

/** `plan` with every slot, disabled ones too, filed where no index narrows, and no prefilter of its own. */
export function linearPlan(plan: Plan): Plan {
  const count = plan.slots.length / SLOT.size;
  const meta = plan.meta.slice();
  const trees = [META.pathTree, META.suffixTree, META.hostTree, META.ja4Tree, META.ja4hTree];
  for (const field of [...trees, META.countries, META.bots]) meta[field] = NONE;
  meta[META.inner] = 0;
  meta[META.always] = count === 0 ? NONE : 0;
  const groups = unfiledGroups(plan);
  meta[META.groups] = plan.words.length + groups.table;
  const slots = plan.slots.slice();
  for (let slot = 0; slot < count; slot++) slots[slot * SLOT.size + SLOT.need] = 0;
  return {
    ...plan,
    meta,
    slots,
    words: Uint32Array.from([...plan.words, ...groups.words]),
    postings: count === 0 ? NOTHING : Uint32Array.of(0, count),
    postingSlots: Uint32Array.from({ length: count }, (_, slot) => slot),
    nodes: NOTHING,
    literals: NOTHING,
    cidr4: NOTHING,
    cidr6: NOTHING,
    labels: new Uint16Array(0),
  };
}

/** The groups once more, with no rules filed under them; words are pooled, so those in place may not be changed. */
function unfiledGroups(plan: Plan): { readonly words: readonly number[]; readonly table: number } {
  const words: number[] = [];
  const offsets: number[] = [];
  for (let group = 0; group < plan.meta[META.groupCount]!; group++) {
    const from = plan.words[plan.meta[META.groups]! + group]!;
    const row = plan.words.slice(from, from + GROUP.records + plan.words[from + GROUP.count]! * RECORD.size);
    row[GROUP.posting] = NONE;
    offsets.push(plan.words.length + words.length);
    words.push(...row);
  }
  return { words: [...words, ...offsets], table: words.length };
}

/** An evaluator of the plan without its indexes. */
export function loadLinear(plan: Plan, options: EvaluatorOptions = {}, revision = 0): Evaluator {
  return loadPlan(seal(linearPlan(plan), { revision }), options);
}

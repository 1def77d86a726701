/** Minimisation of a deterministic automaton (Hopcroft 1971): states × classes × log states, whatever its shape. */

/** A complete automaton; states with different labels are never merged. */
export interface Machine {
  readonly states: number;
  readonly classes: number;
  /** `next[state * classes + class]`. */
  readonly next: Int32Array;
  readonly labels: Int32Array;
}

/** The coarsest grouping of states that agree on their label and, class by class, on the group they lead to. */
export function minimise(machine: Machine): Int32Array {
  const { states, classes } = machine;
  const { heads, sources } = invert(machine);
  const blockOf = new Int32Array(states);
  const members: Set<number>[] = [];
  const byLabel = new Map<number, number>();
  for (let state = 0; state < states; state++) {
    const label = machine.labels[state]!;
    let block = byLabel.get(label);
    if (block === undefined) {
      block = members.push(new Set()) - 1;
      byLabel.set(label, block);
    }
    members[block]!.add(state);
    blockOf[state] = block;
  }

  const waiting = new Set<number>(members.keys());
  const split = (block: number, inside: readonly number[]): void => {
    const old = members[block]!;
    if (inside.length === old.size) return;
    const fresh = members.push(new Set(inside)) - 1;
    for (const state of inside) {
      old.delete(state);
      blockOf[state] = fresh;
    }
    // Splitting by the smaller half is enough unless the whole was still to be used: Hopcroft's point.
    if (waiting.has(block) || inside.length <= old.size) waiting.add(fresh);
    else waiting.add(block);
  };

  for (const splitter of waiting) {
    waiting.delete(splitter);
    const targets = [...members[splitter]!];
    for (let column = 0; column < classes; column++) {
      const touched = new Map<number, number[]>();
      for (const target of targets) {
        const cell = target * classes + column;
        for (let i = heads[cell]!; i < heads[cell + 1]!; i++) {
          const source = sources[i]!;
          const block = blockOf[source]!;
          const inside = touched.get(block);
          if (inside === undefined) touched.set(block, [source]);
          else inside.push(source);
        }
      }
      for (const [block, inside] of touched) split(block, inside);
    }
  }
  return blockOf;
}

/** Who leads to a state under a class: `sources[heads[cell]…heads[cell + 1]]`, where cell is `state * classes + class`. */
function invert({ states, classes, next }: Machine): { heads: Int32Array; sources: Int32Array } {
  const heads = new Int32Array(states * classes + 1);
  for (let at = 0; at < next.length; at++) heads[next[at]! * classes + (at % classes) + 1]!++;
  for (let cell = 0; cell < states * classes; cell++) heads[cell + 1]! += heads[cell]!;
  const fill = heads.slice();
  const sources = new Int32Array(next.length);
  for (let at = 0; at < next.length; at++) {
    const cell = next[at]! * classes + (at % classes);
    sources[fill[cell]!++] = Math.floor(at / classes);
  }
  return { heads, sources };
}

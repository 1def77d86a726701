/** The indexes of a plan in their printed form. */
import { BOT_KINDS, RULE_TYPES } from '../../base/vocabulary/vocabulary.ts';
import { COUNTRIES, FLAG, META, NODE, NONE, type Plan, SLOT } from './layout.ts';
import type { Printed } from './print-fields.ts';

/** Each index as `key → rules filed under it`. */
export function printIndexes(plan: Plan): Printed {
  const { meta, words } = plan;
  const rows = (postings: number, names: readonly string[]): Printed =>
    postings === NONE
      ? {}
      : Object.fromEntries(
          names.flatMap((name, index) => {
            const posting = words[postings + index]!;
            return posting === NONE ? [] : [[name, printPosting(plan, posting)]];
          }),
        );
  const countries = Array.from({ length: COUNTRIES }, (_, number) => countryText(number));
  const always = meta[META.always]!;
  return {
    path: printTree(plan, meta[META.pathTree]!),
    path_suffix_reversed: printTree(plan, meta[META.suffixTree]!),
    host_reversed: printTree(plan, meta[META.hostTree]!),
    ja4: printTree(plan, meta[META.ja4Tree]!),
    ja4h: printTree(plan, meta[META.ja4hTree]!),
    inner_literals: meta[META.inner] === 1 ? plan.literals[1] : 0,
    address_boundaries: { ipv4: plan.cidr4.length / 2, ipv6: plan.cidr6.length / 5 },
    country: rows(meta[META.countries]!, countries),
    bot: rows(meta[META.bots]!, [...BOT_KINDS, 'any other']),
    always: always === NONE ? [] : printPosting(plan, always),
  };
}

function printPosting(plan: Plan, posting: number): readonly string[] {
  const start = plan.postings[posting * 2]!;
  const slots = plan.postingSlots.subarray(start, start + plan.postings[posting * 2 + 1]!);
  return [...slots].map((slot) => slotName(plan, slot));
}

/** A tree as its literals; one that others may follow ends in `*`. */
function printTree(plan: Plan, root: number): Printed {
  if (root === NONE) return {};
  const found: Record<string, readonly string[]> = {};
  const pending = [{ node: root, text: '' }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const row = next.node * NODE.size;
    const label = plan.labels
      .subarray(plan.nodes[row + NODE.label]!)
      .subarray(0, plan.nodes[row + NODE.length]!);
    const text = next.text + String.fromCharCode(...label);
    const exact = plan.nodes[row + NODE.exact]!;
    const prefix = plan.nodes[row + NODE.prefix]!;
    if (exact !== NONE) found[text] = printPosting(plan, exact);
    if (prefix !== NONE) found[`${text}*`] = printPosting(plan, prefix);
    for (let child = 0; child < plan.nodes[row + NODE.count]!; child++) {
      pending.push({ node: plan.nodes[row + NODE.children]! + child, text });
    }
  }
  return found;
}

/** `type/id` of a slot. */
function slotName(plan: Plan, slot: number): string {
  const row = slot * SLOT.size;
  return `${RULE_TYPES[plan.slots[row + SLOT.flags]! & FLAG.type]}/${plan.slots[row + SLOT.id]}`;
}

/** The alpha-2 code of a country's number. */
export function countryText(number: number): string {
  return String.fromCharCode(65 + Math.floor(number / 26), 65 + (number % 26));
}

/**
 * Saves rate counters as octets, and restores them in another process of the same machine: a restart loses no count. In:
 * counters. Out: octets of one version, which counters of the same bound take before their first request. Not a part of the
 * evaluator's bundle, since pages and Workers hand nothing over.
 */
import type { BoundedCounters } from './counters.ts';
import { HOLDER_LAYOUT, layoutOfId } from './layout.ts';
import { createShape, type EntryShape } from './pages.ts';

/** The version of the octets: also of the layout of entries. */
const VERSION = 1;

/** All counts as octets. */
export function saveCounters({
  parts: { store, holders, shapes, seed },
}: Pick<BoundedCounters, 'parts'>): Uint8Array {
  const { maxBytes, evictions, pageHand } = store.marks;
  const all = [holders, ...shapes.values()];
  const words: Uint32Array[] = [
    Uint32Array.of(VERSION, maxBytes, seed === null ? 0 : 1, seed?.[0] ?? 0, seed?.[1] ?? 0),
    Uint32Array.of(evictions, pageHand, all.length, store.pages.length),
  ];
  for (const { layout, fresh, used, handPage, handSlot, rounds, looks, pages } of all) {
    words.push(Uint32Array.of(layout.id, fresh, used, handPage, handSlot, rounds, looks, pages.length));
    words.push(Uint32Array.from(pages));
  }
  for (const page of store.pages.slice(1)) {
    if (page === null) words.push(Uint32Array.of(0));
    else words.push(Uint32Array.of(page.words.length, page.shape.layout.id, page.newest), page.words);
  }
  const [heads, count, level, keys] = store.buckets.table;
  words.push(Uint32Array.of(heads.length, count, level, keys), heads);
  return joined(words);
}

function joined(parts: readonly Uint32Array[]): Uint8Array {
  const words = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    words.set(part, at);
    at += part.length;
  }
  return new Uint8Array(words.buffer);
}

/**
 * Fills counters that have counted nothing.
 * @returns `false`: the octets are of another version or bound, or of counters without a request, and nothing is restored
 */
export function restoreCounters({ parts }: Pick<BoundedCounters, 'parts'>, saved: Uint8Array): boolean {
  const { store, holders, shapes } = parts;
  // A copy, since views of words need a boundary of four octets.
  const words = new Uint32Array(saved.slice().buffer, 0, Math.floor(saved.length / 4));
  let at = 0;
  const read = (count: number): Uint32Array<ArrayBuffer> => {
    at += count;
    return words.slice(at - count, at);
  };
  const [version, maxBytes, isSeeded, ...seed] = read(5);
  if (version !== VERSION || maxBytes !== store.marks.maxBytes || isSeeded !== 1 || parts.seed !== null)
    return false;
  const [evictions, pageHand, shapeCount, pageCount] = read(4);
  const shapeOf = (id: number): EntryShape => {
    if (id === HOLDER_LAYOUT.id) return holders;
    const shape = shapes.get(id) ?? createShape(layoutOfId(id));
    shapes.set(id, shape);
    return shape;
  };
  for (let index = 0; index < shapeCount!; index++) {
    const [id, fresh, used, handPage, handSlot, rounds, looks, pages] = read(8);
    const shape = shapeOf(id!);
    Object.assign(shape, { fresh, used, handPage, handSlot, rounds, looks });
    shape.pages.push(...read(pages!));
  }
  for (let number = 1; number < pageCount!; number++) {
    const length = read(1)[0]!;
    if (length === 0) {
      store.pages[number] = null;
      continue;
    }
    const [id, newest] = read(2);
    const shape = shapeOf(id!);
    store.pages[number] = { words: read(length), stride: shape.layout.stride, shape, newest: newest! };
  }
  const [length, count, level, keys] = read(4);
  store.buckets.table = [read(length!), count!, level!, keys!];
  store.adopt({ maxBytes, evictions: evictions!, pageHand: pageHand! });
  parts.seed = Int32Array.from(seed);
  return true;
}

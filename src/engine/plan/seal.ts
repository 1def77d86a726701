/** Seals a plan: one run of bytes with a version, a revision and a checksum, ready to store or send. */
import { quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { describeArgument } from '../../base/diagnostics/options.ts';
import { xxhash32 } from '../../base/octets/xxhash32.ts';
import { DIRECTORY, HEADER, MAGIC, PLAN_VERSION, type Plan, SECTIONS } from './layout.ts';

/** What the header has besides the plan. */
export interface SealOptions {
  /** The domain's revision this plan is published as; 0 for a plan that is not published. */
  readonly revision?: number;
}

const WIDTHS = { u8: 1, u16: 2, u32: 4 } as const;

/** Octets of the header and the directory, up to the first section. */
export const SECTIONS_START = startAfter(SECTIONS.length);

/** Octets of the header and a directory of as many sections. */
export function startAfter(sections: number): number {
  return Math.ceil((DIRECTORY + sections * 8) / 8) * 8;
}

/**
 * The plan's bytes. The same plan and revision always give the same bytes.
 * @throws TypeError when it is no plan, or `revision` no whole number from 0
 * @example
 * ```ts
 * import { writeFile } from 'node:fs/promises';
 * import { type Plan, seal } from 'edgeplan/compiler';
 *
 * async function save(plan: Plan, revision: number): Promise<void> {
 *   await writeFile('example.com.edgeplan', seal(plan, { revision }));
 * }
 * ```
 */
export function seal(plan: Plan, options: SealOptions = {}): Uint8Array {
  checkPlan(plan);
  const revision = options.revision ?? 0;
  if (!Number.isSafeInteger(revision) || revision < 0) {
    throw new TypeError(`\`revision\` must be a whole number from 0, found ${quoteValue(revision)}`);
  }
  let size = SECTIONS_START;
  for (const { name, kind } of SECTIONS) size = align(size) + plan[name].length * WIDTHS[kind];
  const total = align(size);
  const bytes = new Uint8Array(total);
  const view = new DataView(bytes.buffer);
  let offset = SECTIONS_START;
  for (const [index, { name, kind }] of SECTIONS.entries()) {
    const section = plan[name];
    offset = align(offset);
    view.setUint32(DIRECTORY + index * 8, offset, true);
    view.setUint32(DIRECTORY + index * 8 + 4, section.length * WIDTHS[kind], true);
    bytes.set(new Uint8Array(section.buffer, section.byteOffset, section.byteLength), offset);
    offset += section.byteLength;
  }
  const header = [
    MAGIC,
    PLAN_VERSION,
    total,
    0,
    revision >>> 0,
    Math.floor(revision / 2 ** 32),
    SECTIONS.length,
  ];
  for (const [word, value] of header.entries()) view.setUint32(word * 4, value, true);
  view.setUint32(HEADER.checksum * 4, sealChecksum(bytes), true);
  return bytes;
}

/** @throws TypeError when plain JavaScript gives something else, such as the whole result of `compile` */
function checkPlan(plan: unknown): void {
  if (typeof plan === 'object' && plan !== null && SECTIONS.every(({ name }) => name in plan)) return;
  const found = `${describeArgument(plan)} without its sections`;
  throw new TypeError(`seal takes a plan, found ${found}; give the \`plan\` of what \`compile\` returned`);
}

/** The checksum over everything but the checksum's own word. */
export function sealChecksum(bytes: Uint8Array): number {
  const at = HEADER.checksum * 4;
  return xxhash32(bytes.subarray(at + 4), xxhash32(bytes.subarray(0, at)));
}

function align(offset: number): number {
  return (offset + 7) & ~7;
}

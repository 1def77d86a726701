/**
 * Seals a plan as one run of bytes with a version, a revision and a checksum, and opens such bytes: checks version and
 * checksum before anything else, then lays views over them.
 */
import { quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { describeArgument } from '../../base/diagnostics/options.ts';
import { ahoCorasickFault } from '../../base/octets/aho-corasick.ts';
import { xxhash32 } from '../../base/octets/xxhash32.ts';
import { dfaFault } from '../../base/regex/table.ts';
import {
  absentSections,
  DIRECTORY,
  HEADER,
  MAGIC,
  META,
  OLDEST_VERSION,
  PATTERN,
  PATTERN_KIND,
  PLAN_VERSION,
  type Plan,
  PlanFault,
  SECTIONS,
  sealedVersion,
  sectionsOf,
} from './layout.ts';

/** What the header has besides the plan. */
export interface SealOptions {
  /** The domain's revision this plan is published as; 0 for a plan that is not published. */
  readonly revision?: number;
}

const WIDTHS = { u8: 1, u16: 2, u32: 4 } as const;

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
  const version = sealedVersion(plan);
  const listed = sectionsOf(version);
  const start = startAfter(listed.length);
  let size = start;
  for (const { name, kind } of listed) size = align(size) + plan[name].length * WIDTHS[kind];
  const total = align(size);
  const bytes = new Uint8Array(total);
  const view = new DataView(bytes.buffer);
  let offset = start;
  for (const [index, { name, kind }] of listed.entries()) {
    const section = plan[name];
    offset = align(offset);
    view.setUint32(DIRECTORY + index * 8, offset, true);
    view.setUint32(DIRECTORY + index * 8 + 4, section.length * WIDTHS[kind], true);
    bytes.set(new Uint8Array(section.buffer, section.byteOffset, section.byteLength), offset);
    offset += section.byteLength;
  }
  const header = [MAGIC, version, total, 0, revision >>> 0, Math.floor(revision / 2 ** 32), listed.length];
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

/** A plan as views of its bytes, with the header's numbers. */
export interface OpenedPlan {
  readonly plan: Plan;
  readonly revision: number;
  /** The version it was sealed in. */
  readonly version: number;
}

/** What the caller knows about the bytes. */
export interface OpenPlanOptions {
  /**
   * Skip the checksum and the look at the automata for bytes this process has already checked, such as a plan that was evicted from a cache of
   * opened plans and is opened again.
   */
  readonly trusted?: boolean;
}

/**
 * Opens `bytes`. They must not change afterwards: the plan is a view of them (a copy is made only if the array
 * does not start on an 8-byte boundary).
 * @throws PlanFault naming what was found and what this build reads
 */
export function openPlan(bytes: Uint8Array, options: OpenPlanOptions = {}): OpenedPlan {
  const version = checkHeader(bytes);
  if (options.trusted !== true) checkSum(bytes);
  const aligned = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
  const view = new DataView(aligned.buffer, aligned.byteOffset, aligned.byteLength);
  const listed = sectionsOf(version);
  const first = startAfter(listed.length);
  const sections: Record<string, Uint8Array | Uint16Array | Uint32Array> = { ...absentSections(version) };
  for (const [index, { name, kind }] of listed.entries()) {
    const offset = view.getUint32(DIRECTORY + index * 8, true);
    const length = view.getUint32(DIRECTORY + index * 8 + 4, true);
    if (offset % 8 !== 0 || offset < first || offset + length > aligned.byteLength) {
      throw new PlanFault(
        'layout',
        `section \`${name}\` lies outside the plan; fetch or compile the plan again`,
      );
    }
    const start = aligned.byteOffset + offset;
    if (kind === 'u8') sections[name] = new Uint8Array(aligned.buffer, start, length);
    else if (kind === 'u16') sections[name] = new Uint16Array(aligned.buffer, start, length / 2);
    else sections[name] = new Uint32Array(aligned.buffer, start, length / 4);
  }
  const plan = asObject(sections as unknown as Plan);
  if (plan.meta.length < META.size) {
    throw new PlanFault('layout', 'the plan has no `meta` section; fetch or compile the plan again');
  }
  if (options.trusted !== true) checkMachines(plan);
  const low = view.getUint32(HEADER.revisionLow * 4, true);
  return { plan, revision: view.getUint32(HEADER.revisionHigh * 4, true) * 2 ** 32 + low, version };
}

/**
 * The sections as one object with all its properties from the start.
 * PERF: V8 makes a hash table of an object that grows name by name, and every look into the plan a search in it.
 */
function asObject(plan: Plan): Plan {
  return {
    meta: plan.meta,
    slots: plan.slots,
    words: plan.words,
    patterns: plan.patterns,
    strings: plan.strings,
    postings: plan.postings,
    postingSlots: plan.postingSlots,
    nodes: plan.nodes,
    literals: plan.literals,
    names: plan.names,
    cidr4: plan.cidr4,
    cidr6: plan.cidr6,
    dfas: plan.dfas,
    labels: plan.labels,
    text16: plan.text16,
    text8: plan.text8,
    ruleKeys: plan.ruleKeys,
    recordKeys: plan.recordKeys,
    conditions: plan.conditions,
    valueSources: plan.valueSources,
    valueTests: plan.valueTests,
    lists: plan.lists,
    listData: plan.listData,
  };
}

/** The version of the plan, one that this build reads. */
function checkHeader(bytes: Uint8Array): number {
  const least = startAfter(sectionsOf(OLDEST_VERSION).length);
  if (bytes.length < least) {
    throw new PlanFault('truncated', `a plan has at least ${least} octets, these are ${bytes.length}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== MAGIC) {
    throw new PlanFault('not_a_plan', 'these bytes are not a plan: they do not start with `EPLN`');
  }
  const version = view.getUint32(HEADER.version * 4, true);
  if (version > PLAN_VERSION || version < OLDEST_VERSION) {
    const advice = version > PLAN_VERSION ? 'upgrade this node' : 'compile the plan again';
    throw new PlanFault(
      'version',
      `the plan has version ${version}, this build reads ${OLDEST_VERSION} to ${PLAN_VERSION}; ${advice}`,
    );
  }
  const total = view.getUint32(HEADER.bytes * 4, true);
  if (total !== bytes.length) {
    throw new PlanFault('truncated', `the plan says it has ${total} octets, these are ${bytes.length}`);
  }
  return version;
}

function checkSum(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const expected = view.getUint32(HEADER.checksum * 4, true);
  const found = sealChecksum(bytes);
  if (expected !== found) {
    const hex = (value: number): string => value.toString(16).padStart(8, '0');
    const sums = `its checksum is ${hex(found)} where the header says ${hex(expected)}`;
    throw new PlanFault('checksum', `the plan is damaged: ${sums}; fetch or compile it again`);
  }
}

/** Checks the tables that texts are run through: no reference may lead out of its section or into a cycle. */
function checkMachines({ dfas, literals, meta, patterns }: Plan): void {
  const fault = meta[META.inner] === 1 ? ahoCorasickFault(literals) : null;
  if (fault !== null) throw machineFault(`the machine of literals ${fault}`);
  for (let row = 0; row + PATTERN.size <= patterns.length; row += PATTERN.size) {
    if (patterns[row + PATTERN.kind] !== PATTERN_KIND.dfa) continue;
    const wrong = dfaFault(dfas, patterns[row + PATTERN.data]!);
    if (wrong !== null) throw machineFault(`the automaton of pattern ${row / PATTERN.size} ${wrong}`);
  }
}

function machineFault(what: string): PlanFault {
  return new PlanFault('layout', `the plan is damaged: ${what}; fetch or compile it again`);
}

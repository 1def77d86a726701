/** Opens a sealed plan: checks version and checksum before anything else, then lays views over the bytes. */
import { ahoCorasickFault } from '../../base/octets/aho-corasick.ts';
import { dfaFault } from '../../base/regex/check-table.ts';
import { PlanFault } from './fault.ts';
import {
  DIRECTORY,
  HEADER,
  MAGIC,
  META,
  PATTERN,
  PATTERN_KIND,
  PLAN_VERSION,
  type Plan,
  SECTIONS,
} from './layout.ts';
import { sealChecksum, startAfter } from './seal.ts';

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
  const plan = sections as unknown as Plan;
  if (plan.meta.length < META.size) {
    throw new PlanFault('layout', 'the plan has no `meta` section; fetch or compile the plan again');
  }
  if (options.trusted !== true) checkMachines(plan);
  const low = view.getUint32(HEADER.revisionLow * 4, true);
  return { plan, revision: view.getUint32(HEADER.revisionHigh * 4, true) * 2 ** 32 + low, version };
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
      `the plan has version ${version}, this build reads ${OLDEST_VERSION} and ${PLAN_VERSION}; ${advice}`,
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

// Reading plans of the version before this one, so that a node that was upgraded serves what it has on its disk. At the
// next raise of PLAN_VERSION this file is rewritten for what that one changes.
//
// Version 2 has no `ruleKeys` and no `recordKeys`: every rule and record goes by its id.

/** The oldest version this build reads. */
export const OLDEST_VERSION = PLAN_VERSION - 1;

const ADDED: readonly string[] = ['ruleKeys', 'recordKeys'];

/** The sections that a plan of `version` has, in their order. */
export function sectionsOf(version: number): readonly (typeof SECTIONS)[number][] {
  return version === PLAN_VERSION ? SECTIONS : SECTIONS.filter(({ name }) => !ADDED.includes(name));
}

/** What a plan of `version` lacks, as it means it: empty. */
function absentSections(version: number): Readonly<Record<string, Uint32Array>> {
  const names = version === PLAN_VERSION ? [] : ADDED;
  return Object.fromEntries(names.map((name) => [name, new Uint32Array(0)]));
}

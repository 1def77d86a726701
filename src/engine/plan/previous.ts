/**
 * Reading plans of the version before this one, so that a node that was upgraded serves what it has on its disk. At the
 * next raise of PLAN_VERSION this file is rewritten for what that one changes.
 *
 * Version 2 has no `ruleKeys` and no `recordKeys`: every rule and record goes by its id.
 */
import { PLAN_VERSION, SECTIONS } from './layout.ts';

/** The oldest version this build reads. */
export const OLDEST_VERSION = PLAN_VERSION - 1;

const ADDED: readonly string[] = ['ruleKeys', 'recordKeys'];

/** The sections that a plan of `version` has, in their order. */
export function sectionsOf(version: number): readonly (typeof SECTIONS)[number][] {
  return version === PLAN_VERSION ? SECTIONS : SECTIONS.filter(({ name }) => !ADDED.includes(name));
}

/** What a plan of `version` lacks, as it means it: empty. */
export function absentSections(version: number): Readonly<Record<string, Uint32Array>> {
  const names = version === PLAN_VERSION ? [] : ADDED;
  return Object.fromEntries(names.map((name) => [name, new Uint32Array(0)]));
}

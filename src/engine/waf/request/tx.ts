/**
 * The TX collection of one inspection: the level's initial variables, overlaid with those that rules have written. Names
 * are in lower case.
 */
import type { NamedValue } from './bodies/parsed-body.ts';

/** Maximum number of names in one cache of classes or of selected TX variables; a full cache is cleared. */
export const MAX_CACHED_NAMES = 4_096;
/**
 * Maximum number of TX variables that rules write in an ordinary request: some are named after its headers and
 * arguments.
 */
const MAX_ORDINARY_NAMES = 512;

/** TX.0, the whole match, to TX.9. */
export const CAPTURE_NAMES: readonly string[] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'];

/** The variable that the settings' threshold goes to. */
export const THRESHOLD_NAME = 'inbound_anomaly_score_threshold';

/** The initial variables of a level, shared by its inspections. */
export interface TxStart {
  readonly values: ReadonlyMap<string, string>;
  /** By number of a pattern, a cache of the names that it selects. */
  readonly selected: Map<number, Selected>;
}

/** The names that one pattern selects. */
interface Selected {
  /** Of the initial variables. */
  readonly names: readonly string[];
  /** By name that rules wrote in any inspection, whether the pattern selects it. */
  readonly written: Map<string, boolean>;
}

/** The variables of one inspection. */
export interface Tx {
  readonly start: TxStart;
  /** By name, the value that rules have written; `null`: unset. */
  readonly written: Map<string, string | null>;
}

/** Creates the variables of a new inspection. */
export function createTx(start: TxStart): Tx {
  return { start, written: new Map() };
}

/** Returns the value of a variable; `null`: it is not set. */
export function readTx(tx: Tx, name: string): string | null {
  const written = tx.written.get(name);
  return written !== undefined ? written : (tx.start.values.get(name) ?? null);
}

/** Writes a variable; `null` unsets it. */
export function writeTx(tx: Tx, name: string, value: string | null): void {
  tx.written.set(name, value);
}

/** All variables that are set. */
export function allTx(tx: Tx): readonly NamedValue[] {
  const all = new Map(tx.start.values);
  for (const [name, value] of tx.written) {
    if (value === null) all.delete(name);
    else all.set(name, value);
  }
  return Array.from(all, ([name, value]) => ({ name, value }));
}

/** The variables whose names a pattern (by its number) selects; `selects` matches one name. */
export function selectedTx(
  tx: Tx,
  pattern: number,
  selects: (name: string) => boolean,
): readonly NamedValue[] {
  let known = tx.start.selected.get(pattern);
  if (known === undefined) {
    known = { names: [...tx.start.values.keys()].filter(selects), written: new Map() };
    tx.start.selected.set(pattern, known);
  }
  const found: NamedValue[] = [];
  for (const name of known.names) {
    if (!tx.written.has(name)) found.push({ name, value: tx.start.values.get(name)! });
  }
  if (known.written.size > MAX_CACHED_NAMES) known.written.clear();
  // PERF: a request that writes thousands of names hardly shares them with any other; caching them costs more.
  const caches = tx.written.size <= MAX_ORDINARY_NAMES;
  for (const [name, value] of tx.written) {
    if (value === null) continue;
    let isSelected = caches ? known.written.get(name) : selects(name);
    if (isSelected === undefined) {
      isSelected = selects(name);
      known.written.set(name, isSelected);
    }
    if (isSelected) found.push({ name, value });
  }
  return found;
}

/** The TX collection of one inspection: what the level starts with, and what its rules have written since. */
import { MAX_CACHED_NAMES, MAX_ORDINARY_NAMES } from './limits.ts';
import type { NamedValue } from './variables/headers.ts';

/** TX.0, the whole match, to TX.9. */
export const CAPTURE_NAMES: readonly string[] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'];

/** The variable that the settings' threshold goes to. */
export const THRESHOLD_NAME = 'inbound_anomaly_score_threshold';

/** What a level's inspections start with. Names are in lower case. */
export interface TxStart {
  readonly values: ReadonlyMap<string, string>;
  /** By pattern, what is known of the names it selects. */
  readonly selected: Map<number, Selected>;
}

interface Selected {
  /** Those of `values`. */
  readonly names: readonly string[];
  /** Names that rules wrote, and whether they are selected. */
  readonly written: Map<string, boolean>;
}

export interface Tx {
  readonly start: TxStart;
  /** `null`: unset. */
  readonly written: Map<string, string | null>;
}

export function createTx(start: TxStart): Tx {
  return { start, written: new Map() };
}

/** The value of a variable by its name in lower case; `null`: there is none. */
export function readTx(tx: Tx, name: string): string | null {
  const written = tx.written.get(name);
  return written !== undefined ? written : (tx.start.values.get(name) ?? null);
}

/** Writes a variable by its name in lower case; `null` unsets it. */
export function writeTx(tx: Tx, name: string, value: string | null): void {
  tx.written.set(name, value);
}

/** Every variable. */
export function allTx(tx: Tx): readonly NamedValue[] {
  const all = new Map(tx.start.values);
  for (const [name, value] of tx.written) {
    if (value === null) all.delete(name);
    else all.set(name, value);
  }
  return Array.from(all, ([name, value]) => ({ name, value }));
}

/** The variables whose names a pattern selects; `selects` judges a name. */
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
  // PERF: the names that a list of thousands brings are hardly any other request's, and keeping them costs more.
  const keeps = tx.written.size <= MAX_ORDINARY_NAMES;
  for (const [name, value] of tx.written) {
    if (value === null) continue;
    let isSelected = keeps ? known.written.get(name) : selects(name);
    if (isSelected === undefined) {
      isSelected = selects(name);
      known.written.set(name, isSelected);
    }
    if (isSelected) found.push({ name, value });
  }
  return found;
}

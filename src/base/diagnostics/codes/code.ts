/** The type of an entry in the lists of codes beside this file. */
import type { Severity } from '../severity.ts';

/** What a code means and what to do about it; sentences in lower case without a full stop. */
export interface CodeEntry {
  /** The severity, where it is always the same; `null`: it depends on the place. */
  readonly severity: Severity | null;
  /** What is wrong, and why that is refused or reported. */
  readonly meaning: string;
  /** What to write instead, or how to find out. */
  readonly remedy: string;
}

/** The codes of one area by name, in alphabetical order. */
export type CodeList = Readonly<Record<string, CodeEntry>>;

/**
 * Every code that a user can see: of diagnostics, and of plans that cannot be opened. A code that is not listed here does
 * not compile as the code of a diagnostic. The reasons of a trace and the faults of a decision log are not codes.
 */
import type { CodeEntry, CodeList } from './code.ts';
import { FILE_CODES, TEST_CODES } from './files.ts';
import { LINT_CODES } from './lint.ts';
import { PLAN_CODES } from './plans.ts';
import { RULE_CODES } from './rules.ts';
import { SECLANG_CODES } from './seclang.ts';
import { VALUE_CODES } from './values.ts';
import { ZONE_FILE_CODES } from './zone-files.ts';

/** The code of a diagnostic. */
export type DiagnosticCode = keyof (typeof VALUE_CODES &
  typeof RULE_CODES &
  typeof FILE_CODES &
  typeof TEST_CODES &
  typeof ZONE_FILE_CODES &
  typeof LINT_CODES &
  typeof SECLANG_CODES);

/** The codes of one area. */
export interface CodeArea {
  readonly title: string;
  readonly codes: CodeList;
}

/** All areas, in the order of the lists; no code is in two. */
export const CODE_AREAS: readonly CodeArea[] = [
  { title: 'Values', codes: VALUE_CODES },
  { title: 'Rules and records', codes: RULE_CODES },
  { title: 'Files', codes: FILE_CODES },
  { title: 'Test files', codes: TEST_CODES },
  { title: 'Zone files', codes: ZONE_FILE_CODES },
  { title: 'Lint', codes: LINT_CODES },
  { title: 'SecLang', codes: SECLANG_CODES },
  { title: 'Plans', codes: PLAN_CODES },
];

/** A code with its name and area. */
export interface ListedCode extends CodeEntry {
  readonly code: string;
  readonly area: string;
}

/** All codes in the order of the lists. */
export function listedCodes(): readonly ListedCode[] {
  return CODE_AREAS.flatMap(({ title, codes }) =>
    Object.entries(codes).map(([code, entry]) => ({ code, area: title, ...entry })),
  );
}

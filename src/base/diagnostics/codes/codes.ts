/**
 * Every code that a user can see: of diagnostics, of plans that cannot be opened, of faults. A code that is not listed here
 * does not compile. The reasons of a trace are not codes.
 */
import { BILLING_CODES } from './billing.ts';
import { CERTIFICATE_CODES } from './certificates.ts';
import type { CodeEntry, CodeList } from './code.ts';
import {
  COMPUTE_FAULT_CODES,
  CONTROL_FAULT_CODES,
  DNS_FAULT_CODES,
  PUBLISH_FAULT_CODES,
  RESPONSE_FAULT_CODES,
  STORE_FAULT_CODES,
} from './faults.ts';
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
  typeof BILLING_CODES &
  typeof CERTIFICATE_CODES &
  typeof LINT_CODES &
  typeof SECLANG_CODES);

/** The codes of one area. */
export interface CodeArea {
  readonly title: string;
  /** What precedes the codes of the area in anchors; empty where they are unique. */
  readonly prefix: string;
  readonly codes: CodeList;
}

/** All areas, in the order of the lists. Only codes of faults are in more than one. */
export const CODE_AREAS: readonly CodeArea[] = [
  { title: 'Values', prefix: '', codes: VALUE_CODES },
  { title: 'Rules and records', prefix: '', codes: RULE_CODES },
  { title: 'Files', prefix: '', codes: FILE_CODES },
  { title: 'Test files', prefix: '', codes: TEST_CODES },
  { title: 'Zone files', prefix: '', codes: ZONE_FILE_CODES },
  { title: 'Billing lines', prefix: '', codes: BILLING_CODES },
  { title: 'Certificates', prefix: '', codes: CERTIFICATE_CODES },
  { title: 'Lint', prefix: '', codes: LINT_CODES },
  { title: 'SecLang', prefix: '', codes: SECLANG_CODES },
  { title: 'Plans', prefix: '', codes: PLAN_CODES },
  { title: 'Faults of responses', prefix: 'response-', codes: RESPONSE_FAULT_CODES },
  { title: 'Faults of the control plane', prefix: 'control-', codes: CONTROL_FAULT_CODES },
  { title: 'Faults of publications', prefix: 'publication-', codes: PUBLISH_FAULT_CODES },
  { title: 'Faults of the store', prefix: 'store-', codes: STORE_FAULT_CODES },
  { title: 'Faults of DNS queries', prefix: 'dns-', codes: DNS_FAULT_CODES },
  { title: 'Faults of computations', prefix: 'computation-', codes: COMPUTE_FAULT_CODES },
];

/** The anchor of a code in lists. */
export function codeAnchor({ prefix }: CodeArea, code: string): string {
  return `${prefix}${code}`;
}

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

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
import { OPENAPI_CODES } from './openapi.ts';
import { PLAN_CODES } from './plans.ts';
import { REGISTRY_CODES } from './registries.ts';
import { SECLANG_CODES } from './seclang.ts';
import { VALUE_CODES } from './values.ts';
import { ZONE_FILE_CODES } from './zone-files.ts';

// Codes of rules and records that have valid fields and no sensible meaning together.

const RULE_CODES = {
  address_budget: {
    severity: 'error',
    meaning: 'the rules of the domain list more addresses together than one domain may have',
    remedy: 'use prefixes or ranges in place of single addresses',
  },
  all_drained: {
    severity: 'error',
    meaning: 'every origin of the pool has the weight 0, so no request could be sent',
    remedy: 'give one origin a weight above 0, or disable the rule',
  },
  capture_budget: {
    severity: 'error',
    meaning: 'the pattern needs too much work to find its groups for the target',
    remedy: 'simplify the pattern, or use fewer groups',
  },
  changes_nothing: {
    severity: null,
    meaning:
      'the rule changes nothing: a rewrite without `path_target` that preserves the query, a headers rule without names',
    remedy: 'set `path_target`, or `query_mode` to `strip` or `replace`; name a header',
  },
  dot_segment: {
    severity: null,
    meaning: 'the target has a segment `.` or `..`, which clients and origins resolve differently',
    remedy: 'write the resolved path',
  },
  doubled_header: {
    severity: 'error',
    meaning: 'the rule names a header twice for one message, so what it does would depend on the order',
    remedy: 'name it once in `set`, `add` or `remove`',
  },
  doubled_mark: {
    severity: 'warning',
    meaning: '`query_target` starts with `?`, and the rewrite adds one of its own',
    remedy: 'leave out the `?`',
  },
  drops_everything: {
    severity: 'error',
    meaning: 'the enforced drop rule has no filter, so it would refuse every request of the domain',
    remedy: 'add a path, an address or a country; list `0.0.0.0/0` and `::/0` to mean everybody',
  },
  empty_allowlist: {
    severity: 'error',
    meaning: '`ip_match_type` is `exclude` and `ips` is empty, so every address would be dropped',
    remedy: 'list the addresses to let through, or use `include`',
  },
  empty_record_ids: {
    severity: 'error',
    meaning: '`record_ids` is empty beside a `record_id`, so the two contradict each other',
    remedy: 'leave one of the two out; `record_ids` is the newer one',
  },
  exclusion_subject: {
    severity: 'error',
    meaning: 'an exclusion names neither a signature by `id` nor a group by `tag`, or names both',
    remedy: 'write either `id` or `tag`',
  },
  host_bits: {
    severity: 'warning',
    meaning: 'an address prefix has bits set beyond its length, so it is the whole network',
    remedy: 'write the network, or the one address without a prefix length',
  },
  host_match_type: {
    severity: 'error',
    meaning: '`host_match_type` does not fit the listed hosts',
    remedy: 'write `exact`, `wildcard` or `regex` where hosts are listed, and leave it empty otherwise',
  },
  invalid_reference: {
    severity: 'error',
    meaning:
      'a `$` is followed by nothing that the field inserts: a group in `path_target`, a variable in braces in values of headers',
    remedy: 'write `$1` or `${name}` for a group, `${client_ip}` for a variable, and `$$` for the character',
  },
  invalid_target: {
    severity: 'error',
    meaning:
      'the target is neither a path nor an address `https://host/path`, or names no part of a request (WAF exclusions)',
    remedy: 'write what the message asks for',
  },
  literal_dollar: {
    severity: 'warning',
    meaning: '`path_target` has `$1` and `path_match_type` is `wildcard`, where nothing is captured',
    remedy: 'set `path_match_type` to `regex`',
  },
  literal_star: {
    severity: null,
    meaning: 'the host has a `*` and `host_match_type` is `exact`, where it is an ordinary character',
    remedy: 'set `host_match_type` to `wildcard`',
  },
  misplaced_star: {
    severity: 'error',
    meaning: 'the fingerprint has a `*` before its end',
    remedy: 'write the start of the fingerprint and one `*` after it',
  },
  no_fingerprint: {
    severity: 'error',
    meaning: 'the fingerprint rule lists no fingerprint, so it would match no client',
    remedy: 'list one in `match_ja4` or `match_ja4h`',
  },
  no_page: {
    severity: 'warning',
    meaning: 'a status in `codes` has no page in `content`, and there is no fallback under `0`',
    remedy: 'add the page, or a fallback under `0`',
  },
  no_params: {
    severity: 'warning',
    meaning:
      '`query_mode` is `include` and `query_params` is empty, so no parameter of the query distinguishes cached responses',
    remedy: 'list parameters, or write `none`',
  },
  not_proxiable: {
    severity: 'error',
    meaning: 'the edge can serve only `A`, `AAAA`, `CNAME` and `ALIAS` records of hosts',
    remedy: 'leave out `proxied`; the record is then answered by the DNS alone',
  },
  not_proxied: {
    severity: 'error',
    meaning:
      'the record has no `destination` and `proxied: false`; the application answers only what the edge gets',
    remedy: 'leave `proxied` out, or give `type` and `destination`',
  },
  not_serving: {
    severity: 'warning',
    meaning: 'a domain with this status is not served: every request is refused with 421',
    remedy: 'set the status to `active`, or nothing if that is intended',
  },
  pattern_budget: {
    severity: 'error',
    meaning: 'the pattern, or all patterns of the domain together, would take too much work or memory',
    remedy: 'use a wildcard, a shorter repetition, or fewer patterns',
  },
  query_in_path: {
    severity: null,
    meaning: 'the entry has a `?`, and paths are compared without the query: it never matches',
    remedy: 'end the entry before the `?`',
  },
  regex_in_wildcard: {
    severity: null,
    meaning: 'the entry looks like a regular expression, and under `wildcard` everything but `*` is literal',
    remedy: 'set `path_match_type` to `regex`, or write a wildcard',
  },
  relative_path: {
    severity: null,
    meaning: 'the entry does not start with `/` or `*`, and every path starts with `/`: it never matches',
    remedy: 'write `/` or `*` in front of it',
  },
  reserved_header: {
    severity: 'error',
    meaning:
      'a headers rule names a header that frames or routes messages, or that the edge sets itself; or credentials are read from such a header, or from one whose values are logged',
    remedy: 'use a name of your own',
  },
  target_mode: {
    severity: 'error',
    meaning:
      '`target_mode: captures` is set beside wildcards, which have no groups, or beside `preserve_path`',
    remedy: 'set `path_match_type` to `regex`, and `preserve_path` to false',
  },
  uncovered_header: {
    severity: 'warning',
    meaning:
      '`*` in `allow_headers` stands for every header but `Authorization`, which has the credentials of the gateway',
    remedy: 'list `Authorization` beside the star',
  },
  unknown_group: {
    severity: 'error',
    meaning: 'the target refers to a group that the pattern does not have',
    remedy: 'count the opening parentheses of the pattern; `$0` is the whole match',
  },
  unused_field: {
    severity: 'warning',
    meaning: 'the field has no effect, because another field of the rule turns it off',
    remedy: 'remove it, or change the field that the message names',
  },
} as const satisfies CodeList;

/** The code of a diagnostic. */
export type DiagnosticCode = keyof (typeof VALUE_CODES &
  typeof RULE_CODES &
  typeof REGISTRY_CODES &
  typeof FILE_CODES &
  typeof TEST_CODES &
  typeof ZONE_FILE_CODES &
  typeof BILLING_CODES &
  typeof CERTIFICATE_CODES &
  typeof OPENAPI_CODES &
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
  { title: 'Registries', prefix: '', codes: REGISTRY_CODES },
  { title: 'Files', prefix: '', codes: FILE_CODES },
  { title: 'Test files', prefix: '', codes: TEST_CODES },
  { title: 'Zone files', prefix: '', codes: ZONE_FILE_CODES },
  { title: 'Billing lines', prefix: '', codes: BILLING_CODES },
  { title: 'Certificates', prefix: '', codes: CERTIFICATE_CODES },
  { title: 'OpenAPI documents', prefix: '', codes: OPENAPI_CODES },
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

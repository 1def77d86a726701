/** The detectors by their operators: each reads a value by a grammar and names the construct that it found. */
import { KIND } from '../../../base/octets/octet-kinds.ts';
import type { WafDetector } from '../../plan/signature-program.ts';
import { CODE_TRIGGERS } from './code/vocabulary.ts';
import { CODE_KINDS, detectCode, detectCodeLine, SHORTEST_CODE } from './code.ts';
import { detectEntities, ENTITY_KINDS, ENTITY_TRIGGERS, SHORTEST_ENTITIES } from './entities.ts';
import { detectInclude, INCLUDE_KINDS, INCLUDE_TRIGGERS, SHORTEST_INCLUDE } from './include.ts';
import { detectInternalUrl, SHORTEST_URL, URL_KINDS, URL_TRIGGERS } from './internal-url.ts';
import { detectLdap, LDAP_KINDS, SHORTEST_LDAP } from './ldap.ts';
import { detectLookup, LOOKUP_KINDS, SHORTEST_LOOKUP } from './lookup.ts';
import { detectNoSql, NOSQL_KINDS, NOSQL_TRIGGERS, SHORTEST_NOSQL } from './nosql.ts';
import { detectObject, OBJECT_KINDS, OBJECT_TRIGGERS, SHORTEST_OBJECT } from './object.ts';
import { detectPath, PATH_KINDS, PATH_TRIGGERS, SHORTEST_PATH } from './path.ts';
import { detectScript, SCRIPT_KINDS, SCRIPT_TRIGGERS, SHORTEST_SCRIPT } from './script.ts';
import {
  COMMAND_LINE_KINDS,
  detectCommand,
  detectCommandLine,
  detectShell,
  SHELL_KINDS,
  SHORTEST_SHELL,
} from './shell.ts';
import {
  detectSqlStatement,
  SHORTEST_STATEMENT,
  STATEMENT_KINDS,
  STATEMENT_TRIGGERS,
} from './sql-statement.ts';
import { detectSqli, PREFILTER_KINDS, SHORTEST_SQLI } from './sqli.ts';
import { detectTemplate, SHORTEST_TEMPLATE, TEMPLATE_KINDS, TEMPLATE_TRIGGERS } from './template.ts';
import { detectXPath, SHORTEST_XPATH, XPATH_KINDS, XPATH_TRIGGERS } from './xpath.ts';
import { detectXss, SHORTEST_XSS } from './xss.ts';

/** A detector. */
export interface Detector {
  /**
   * Returns the construct found, a short noun phrase without any text of the value, or `null`. `value` is Latin-1: one
   * character an octet. Takes linear time; never throws.
   */
  readonly find: (value: string) => string | null;
  /** The length in octets of the shortest value that is detected. */
  readonly shortest: number;
  /** Kinds of octets (`base/octets/octet-kinds.ts`) of which every detected value has at least one. */
  readonly kinds: number;
  /**
   * Texts in lower case of which every detected value has at least one, without case; absent: no such list is known. The
   * literal index searches them together with those of all patterns, so that the detector runs on few values.
   */
  readonly triggers?: readonly string[];
  /**
   * Of detectors that share a search, how much it reports: a value in which one finds nothing has nothing for those that
   * report less, so that the one that reports most runs first. Absent: 0.
   */
  readonly breadth?: number;
}

/** By operator, its detector. */
export const DETECTORS: Readonly<Record<WafDetector, Detector>> = {
  detectSQLi: { find: sqlConstruct, shortest: SHORTEST_SQLI, kinds: PREFILTER_KINDS },
  detectSQLStatement: {
    find: detectSqlStatement,
    shortest: SHORTEST_STATEMENT,
    kinds: STATEMENT_KINDS,
    triggers: STATEMENT_TRIGGERS,
  },
  detectScript: {
    find: detectScript,
    shortest: SHORTEST_SCRIPT,
    kinds: SCRIPT_KINDS,
    triggers: SCRIPT_TRIGGERS,
  },
  detectLookup: { find: detectLookup, shortest: SHORTEST_LOOKUP, kinds: LOOKUP_KINDS, triggers: ['${'] },
  detectEntities: {
    find: detectEntities,
    shortest: SHORTEST_ENTITIES,
    kinds: ENTITY_KINDS,
    triggers: ENTITY_TRIGGERS,
  },
  // A tag, or an attribute with a value.
  detectXSS: { find: detectXss, shortest: SHORTEST_XSS, kinds: KIND.angle | KIND.equals },
  detectShell: { find: detectShell, shortest: SHORTEST_SHELL, kinds: SHELL_KINDS, breadth: 1 },
  detectCommandLine: {
    find: detectCommandLine,
    shortest: SHORTEST_SHELL,
    kinds: COMMAND_LINE_KINDS,
    breadth: 2,
  },
  detectCommand: { find: detectCommand, shortest: SHORTEST_SHELL, kinds: COMMAND_LINE_KINDS, breadth: 3 },
  detectCode: { find: detectCode, shortest: SHORTEST_CODE, kinds: CODE_KINDS, triggers: CODE_TRIGGERS },
  detectCodeLine: {
    find: detectCodeLine,
    shortest: SHORTEST_CODE,
    kinds: CODE_KINDS,
    triggers: CODE_TRIGGERS,
  },
  detectPath: { find: detectPath, shortest: SHORTEST_PATH, kinds: PATH_KINDS, triggers: PATH_TRIGGERS },
  detectTemplate: {
    find: detectTemplate,
    shortest: SHORTEST_TEMPLATE,
    kinds: TEMPLATE_KINDS,
    triggers: TEMPLATE_TRIGGERS,
  },
  detectLdap: { find: detectLdap, shortest: SHORTEST_LDAP, kinds: LDAP_KINDS },
  detectXPath: { find: detectXPath, shortest: SHORTEST_XPATH, kinds: XPATH_KINDS, triggers: XPATH_TRIGGERS },
  detectInclude: {
    find: detectInclude,
    shortest: SHORTEST_INCLUDE,
    kinds: INCLUDE_KINDS,
    triggers: INCLUDE_TRIGGERS,
  },
  detectNoSql: { find: detectNoSql, shortest: SHORTEST_NOSQL, kinds: NOSQL_KINDS, triggers: NOSQL_TRIGGERS },
  detectObject: {
    find: detectObject,
    shortest: SHORTEST_OBJECT,
    kinds: OBJECT_KINDS,
    triggers: OBJECT_TRIGGERS,
  },
  detectInternalUrl: {
    find: detectInternalUrl,
    shortest: SHORTEST_URL,
    kinds: URL_KINDS,
    triggers: URL_TRIGGERS,
  },
};

/** Whether an operator is a detector. */
export function isDetector(kind: string): kind is WafDetector {
  return kind in DETECTORS;
}

/** By letter of a fingerprint, what makes it an injection; the first letter that occurs decides. */
const SQL_CONSTRUCTS: readonly (readonly [string, string])[] = [
  ['U', 'UNION of queries'],
  [';', 'second statement'],
  ['E', 'statement of SQL'],
  ['T', 'statement of SQL'],
  ['X', 'comment of MySQL that is run'],
  ['B', 'GROUP BY or ORDER BY behind a value'],
  ['&', 'condition behind a value'],
  ['f', 'call of a function'],
  ['c', 'comment that cuts off the statement'],
];

/** Names the construct of an SQL injection by its fingerprint. */
function sqlConstruct(value: string): string | null {
  const fingerprint = detectSqli(value);
  if (fingerprint === null) return null;
  return SQL_CONSTRUCTS.find(([letter]) => fingerprint.includes(letter))?.[1] ?? 'expression of SQL';
}

/** The variables of SecLang: supported ones, those that are always empty, and those that are not supported. */
import { WAF_COLLECTIONS, WAF_SCALARS, type WafVariable } from '../../plan/signature-program.ts';
import { RESPONSE, STATEFUL_COLLECTIONS, STATELESS } from './ignored.ts';

/** The result of a lookup. */
export type FoundVariable =
  | { readonly kind: 'supported'; readonly name: WafVariable; readonly collection: boolean }
  /** `why` continues the sentence "it is always empty:". */
  | { readonly kind: 'empty'; readonly why: string }
  | { readonly kind: 'unsupported' }
  | { readonly kind: 'unknown' };

/** Variables with members, as opposed to scalars. */
const COLLECTIONS: ReadonlySet<string> = new Set(WAF_COLLECTIONS);
/** The variables that a program can inspect. */
const SUPPORTED: ReadonlySet<string> = new Set<string>([...WAF_SCALARS, ...WAF_COLLECTIONS]);

/** By variable that is empty for every request, the reason. */
const EMPTY: Readonly<Record<string, string>> = {
  ...Object.fromEntries(STATEFUL_COLLECTIONS.map((name) => [name, STATELESS])),
  RESPONSE_BODY: RESPONSE,
  RESPONSE_CONTENT_LENGTH: RESPONSE,
  RESPONSE_CONTENT_TYPE: RESPONSE,
  RESPONSE_HEADERS: RESPONSE,
  RESPONSE_HEADERS_NAMES: RESPONSE,
  RESPONSE_PROTOCOL: RESPONSE,
  RESPONSE_STATUS: RESPONSE,
  STATUS_LINE: RESPONSE,
};

/** ModSecurity's other variables (reference manual v3, "Variables"). */
const UNSUPPORTED: ReadonlySet<string> = new Set([
  'DURATION',
  'ENV',
  'FILES_TMPNAMES',
  'FILES_TMP_CONTENT',
  'GEO',
  'HIGHEST_SEVERITY',
  'INBOUND_DATA_ERROR',
  'MODSEC_BUILD',
  'MSC_PCRE_ERROR',
  'MSC_PCRE_LIMITS_EXCEEDED',
  'OUTBOUND_DATA_ERROR',
  'PATH_INFO',
  'REMOTE_HOST',
  'REMOTE_PORT',
  'REMOTE_USER',
  'RULE',
  'SCRIPT_BASENAME',
  'SCRIPT_FILENAME',
  'SCRIPT_GID',
  'SCRIPT_GROUPNAME',
  'SCRIPT_MODE',
  'SCRIPT_UID',
  'SCRIPT_USERNAME',
  'SDBM_DELETE_ERROR',
  'SERVER_ADDR',
  'SESSIONID',
  'TIME',
  'TIME_DAY',
  'TIME_EPOCH',
  'TIME_HOUR',
  'TIME_MIN',
  'TIME_MON',
  'TIME_SEC',
  'TIME_WDAY',
  'TIME_YEAR',
  'URLENCODED_ERROR',
  'USERAGENT_IP',
  'USERID',
  'WEBAPPID',
  'WEBSERVER_ERROR_LOG',
]);

/** Looks up a variable by its name, without case. */
export function findVariable(written: string): FoundVariable {
  const name = written.toUpperCase();
  if (SUPPORTED.has(name))
    return { kind: 'supported', name: name as WafVariable, collection: COLLECTIONS.has(name) };
  const why = EMPTY[name];
  if (why !== undefined) return { kind: 'empty', why };
  return { kind: UNSUPPORTED.has(name) ? 'unsupported' : 'unknown' };
}

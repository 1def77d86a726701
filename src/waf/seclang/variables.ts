/** SecLang's variables: those a program looks at, those that are always empty, those it cannot have. */
import { WAF_COLLECTIONS, WAF_SCALARS, type WafVariable } from '../../plan/signature-program.ts';

export type FoundVariable =
  | { readonly kind: 'kept'; readonly name: WafVariable; readonly collection: boolean }
  /** `why` continues the sentence "it is always empty:". */
  | { readonly kind: 'empty'; readonly why: string }
  | { readonly kind: 'unsupported' }
  | { readonly kind: 'unknown' };

const COLLECTIONS: ReadonlySet<string> = new Set(WAF_COLLECTIONS);
const KEPT: ReadonlySet<string> = new Set<string>([...WAF_SCALARS, ...WAF_COLLECTIONS]);

const STATELESS = 'nothing is kept from one request to the next';
const RESPONSE = 'signatures look at requests, before there is a response';

/** Variables that hold nothing for any request. */
const EMPTY: Readonly<Record<string, string>> = {
  GLOBAL: STATELESS,
  IP: STATELESS,
  RESOURCE: STATELESS,
  SESSION: STATELESS,
  USER: STATELESS,
  RESPONSE_BODY: RESPONSE,
  RESPONSE_CONTENT_LENGTH: RESPONSE,
  RESPONSE_CONTENT_TYPE: RESPONSE,
  RESPONSE_HEADERS: RESPONSE,
  RESPONSE_HEADERS_NAMES: RESPONSE,
  RESPONSE_PROTOCOL: RESPONSE,
  RESPONSE_STATUS: RESPONSE,
  STATUS_LINE: RESPONSE,
};

/** ModSecurity's other variables (Reference Manual v3, "Variables"). */
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

/** Finds a variable by its name in any case. */
export function findVariable(written: string): FoundVariable {
  const name = written.toUpperCase();
  if (KEPT.has(name)) return { kind: 'kept', name: name as WafVariable, collection: COLLECTIONS.has(name) };
  const why = EMPTY[name];
  if (why !== undefined) return { kind: 'empty', why };
  return { kind: UNSUPPORTED.has(name) ? 'unsupported' : 'unknown' };
}

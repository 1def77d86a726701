/**
 * Settings, actions and controls that are accepted and have no effect, each with the reason that its diagnostic
 * shows.
 */

/** The collections with state between requests; they are empty for every request. */
export const STATEFUL_COLLECTIONS = ['GLOBAL', 'IP', 'RESOURCE', 'SESSION', 'USER'] as const;

/** Reasons. */
const BODY = 'the waf rule’s `body_cap_kb` limits the inspected body';
export const RESPONSE = 'signatures inspect requests only';
const LOGS = 'the node decides what is logged';
const FILES = 'uploads are never written to a disk';
export const STATELESS = 'no state is stored between requests';
const PCRE = 'patterns run in linear time and need no limit';
const SPEED = 'it changes the speed of the engine and no decision';

/** By name of a `Sec…` setting in lower case, the reason. */
export const IGNORED_SETTINGS: Readonly<Record<string, string>> = {
  secargumentslimit: BODY,
  secauditlogdir: LOGS,
  secauditengine: LOGS,
  secauditlog: LOGS,
  secauditlog2: LOGS,
  secauditlogdirmode: LOGS,
  secauditlogfilemode: LOGS,
  secauditlogformat: LOGS,
  secauditlogparts: LOGS,
  secauditlogrelevantstatus: LOGS,
  secauditlogstoragedir: LOGS,
  secauditlogtype: LOGS,
  seccachetransformations: SPEED,
  secchrootdir: FILES,
  seccollectiongcfrequency: STATELESS,
  seccollectiontimeout: STATELESS,
  seccontentinjection: RESPONSE,
  seccookieformat: 'cookies are parsed as RFC 6265 defines',
  secdatadir: STATELESS,
  secdebuglog: LOGS,
  secdebugloglevel: LOGS,
  secdisablebackendcompression: RESPONSE,
  secgeolookupdb: 'the country of a request comes from the node',
  secguardianlog: LOGS,
  sechttpblkey: 'no DNS query is made during a request',
  secinterceptonerror: 'a rule that fails is recorded and ignored',
  secpcrematchlimit: PCRE,
  secpcrematchlimitrecursion: PCRE,
  secrequestbodyaccess: BODY,
  secrequestbodyinmemorylimit: BODY,
  secrequestbodyjsondepthlimit: BODY,
  secrequestbodylimit: BODY,
  secrequestbodylimitaction: BODY,
  secrequestbodynofileslimit: BODY,
  secresponsebodyaccess: RESPONSE,
  secresponsebodylimit: RESPONSE,
  secresponsebodylimitaction: RESPONSE,
  secresponsebodymimetype: RESPONSE,
  secresponsebodymimetypesclear: RESPONSE,
  secruleperftime: SPEED,
  secrxprefilter: SPEED,
  secsensorid: LOGS,
  secserversignature: 'the node writes its own headers',
  secstatusengine: 'no status is sent to anyone',
  secstreamoutbodyinspection: RESPONSE,
  sectmpdir: FILES,
  sectmpsaveuploadedfiles: FILES,
  secunicodemap: 'one table maps wide characters: that of code page 20127',
  secunicodemapfile: 'one table maps wide characters: that of code page 20127',
  secuploaddir: FILES,
  secuploadfilelimit: FILES,
  secuploadfilemode: FILES,
  secuploadkeepfiles: FILES,
  secwebappid: LOGS,
  secxmlexternalentity: 'external entities are never fetched',
};

/** By name of a setting in lower case, the only value that changes nothing, in lower case, and the reason. */
export const DEFAULT_SETTINGS: Readonly<Record<string, { readonly value: string; readonly reason: string }>> =
  {
    secargumentseparator: { value: '&', reason: 'arguments are separated by `&` in any case' },
    secparsexmlintoargs: { value: 'off', reason: 'elements of XML are never arguments' },
  };

/** Actions that change nothing in ModSecurity either, in lower case. */
export const DOCUMENTING_ACTIONS: ReadonlySet<string> = new Set(['accuracy', 'maturity', 'rev', 'ver']);

/** By name of an action in lower case, the reason. */
export const IGNORED_ACTIONS: Readonly<Record<string, string>> = {
  auditlog: LOGS,
  deprecatevar: STATELESS,
  expirevar: STATELESS,
  initcol: STATELESS,
  noauditlog: LOGS,
  sanitisearg: LOGS,
  sanitisematched: LOGS,
  sanitisematchedbytes: LOGS,
  sanitiserequestheader: LOGS,
  sanitiseresponseheader: LOGS,
  setrsc: STATELESS,
  setsid: STATELESS,
  setuid: STATELESS,
  status: 'a request that is blocked is answered with 403',
};

/** By name of a `ctl:` option in lower case, the reason. */
export const IGNORED_CONTROLS: Readonly<Record<string, string>> = {
  auditengine: LOGS,
  auditlogparts: LOGS,
  debugloglevel: LOGS,
  requestbodyaccess: BODY,
  requestbodylimit: BODY,
  responsebodyaccess: RESPONSE,
  responsebodylimit: RESPONSE,
  responsebodyprocessor: RESPONSE,
};

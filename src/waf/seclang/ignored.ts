/**
 * Settings, actions and controls that are accepted and have no effect, each with the reason that its diagnostic
 * shows.
 */

/** Reasons. */
const BODY = 'the waf rule’s `body_cap_kb` limits the inspected body';
const RESPONSE = 'signatures inspect requests only';
const LOGS = 'the node decides what is logged';
const FILES = 'uploads are never written to a disk';
const STATELESS = 'no state is stored between requests';
const PCRE = 'patterns run in linear time and need no limit';

/** By name of a `Sec…` setting in lower case, the reason. */
export const IGNORED_SETTINGS: Readonly<Record<string, string>> = {
  secargumentslimit: BODY,
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
  seccollectiontimeout: STATELESS,
  seccookieformat: 'cookies are parsed as RFC 6265 defines',
  secdatadir: STATELESS,
  secdebuglog: LOGS,
  secdebugloglevel: LOGS,
  secgeolookupdb: 'the country of a request comes from the node',
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
  secsensorid: LOGS,
  secserversignature: 'the node writes its own headers',
  secstatusengine: 'no status is sent to anyone',
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

/** By name of an action in lower case, the reason. */
export const IGNORED_ACTIONS: Readonly<Record<string, string>> = {
  accuracy: 'it only documents the rule',
  auditlog: LOGS,
  deprecatevar: STATELESS,
  expirevar: STATELESS,
  initcol: STATELESS,
  maturity: 'it only documents the rule',
  noauditlog: LOGS,
  rev: 'it only documents the rule',
  sanitisearg: LOGS,
  sanitisematched: LOGS,
  sanitisematchedbytes: LOGS,
  sanitiserequestheader: LOGS,
  sanitiseresponseheader: LOGS,
  setrsc: STATELESS,
  setsid: STATELESS,
  setuid: STATELESS,
  status: 'a request that is blocked is answered with 403',
  ver: 'it only documents the rule',
};

/** By name of a `ctl:` option in lower case, the reason. */
export const IGNORED_CONTROLS: Readonly<Record<string, string>> = {
  auditengine: LOGS,
  auditlogparts: LOGS,
  debugloglevel: LOGS,
  requestbodylimit: BODY,
  responsebodyaccess: RESPONSE,
  responsebodylimit: RESPONSE,
};

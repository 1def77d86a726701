/** Settings and actions that do nothing here, each with its reason: the list of what is knowingly passed over. */

const BODY = 'how much of a body is read is the waf rule’s `body_cap_kb`';
const RESPONSE = 'signatures look at requests only';
const LOGS = 'what is logged is the node’s to say';
const FILES = 'uploads are never written to a disk';
const STATELESS = 'nothing is kept from one request to the next';
const PCRE = 'patterns run in linear time and need no limit';

/** `Sec…` settings by their lower-case name. */
export const PASSED_SETTINGS: Readonly<Record<string, string>> = {
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
  seccookieformat: 'cookies are read as RFC 6265 has them',
  secdatadir: STATELESS,
  secdebuglog: LOGS,
  secdebugloglevel: LOGS,
  secgeolookupdb: 'the country of a request comes from the node',
  sechttpblkey: 'no name is looked up while a request waits',
  secinterceptonerror: 'a rule that fails is recorded and passed',
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
  secstatusengine: 'nothing is reported to anyone',
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

/** Actions by their lower-case name. */
export const PASSED_ACTIONS: Readonly<Record<string, string>> = {
  accuracy: 'a remark about the rule',
  auditlog: LOGS,
  deprecatevar: STATELESS,
  expirevar: STATELESS,
  initcol: STATELESS,
  maturity: 'a remark about the rule',
  noauditlog: LOGS,
  rev: 'a remark about the rule',
  sanitisearg: LOGS,
  sanitisematched: LOGS,
  sanitisematchedbytes: LOGS,
  sanitiserequestheader: LOGS,
  sanitiseresponseheader: LOGS,
  setrsc: STATELESS,
  setsid: STATELESS,
  setuid: STATELESS,
  status: 'a request that is blocked is answered with 403',
  ver: 'a remark about the rule',
};

/** `ctl:` options by their lower-case name. */
export const PASSED_CONTROLS: Readonly<Record<string, string>> = {
  auditengine: LOGS,
  auditlogparts: LOGS,
  debugloglevel: LOGS,
  requestbodylimit: BODY,
  responsebodyaccess: RESPONSE,
  responsebodylimit: RESPONSE,
};

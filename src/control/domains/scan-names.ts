/**
 * Names that zones commonly have. A zone cannot be listed from outside (zone transfers are closed, and a request for one
 * looks like an attack), so a scan tries known names: first those that the instructions of hosting panels, mail
 * providers and office suites make customers create.
 */
import type { QueryType } from '../dns/message.ts';

/** Types queried at the domain itself. HTTPS is omitted: the edge generates it for the names it serves. */
export const APEX_TYPES: readonly QueryType[] = ['A', 'AAAA', 'MX', 'TXT', 'CAA'];

/** Types queried at every host name that the first query shows to exist. */
export const HOST_TYPES: readonly QueryType[] = ['A', 'AAAA', 'MX', 'TXT'];

/** Host names, separated by white space. */
const HOSTS = `www mail smtp imap pop pop3 webmail autodiscover autoconfig mx mx1 mx2 email
  ftp sftp ssh vpn remote cpanel whm webdisk server host ns1 ns2 dns
  api app apps admin portal dashboard my account login auth sso id
  blog shop store cart pay billing docs help support status forum wiki news community
  cdn static assets img images media files download downloads video
  dev test testing stage staging demo beta preview qa uat sandbox
  m mobile web www2 old new go links track click
  git gitlab jenkins ci jira confluence grafana monitor
  sip lyncdiscover enterpriseregistration enterpriseenrollment msoid meet chat calendar drive
  db intranet cloud`;

/** Names with one type each: mail policy and signatures, verification, services. */
const SERVICES: readonly (readonly [QueryType, string])[] = [
  [
    'TXT',
    `_dmarc _mta-sts _smtp._tls default._bimi _github-challenge _domainkey
     default._domainkey google._domainkey selector1._domainkey selector2._domainkey k1._domainkey k2._domainkey
     k3._domainkey s1._domainkey s2._domainkey mail._domainkey dkim._domainkey mandrill._domainkey
     mxvault._domainkey fm1._domainkey fm2._domainkey fm3._domainkey protonmail._domainkey
     protonmail2._domainkey protonmail3._domainkey zoho._domainkey pm._domainkey smtp._domainkey`,
  ],
  [
    'SRV',
    `_sip._tls _sip._tcp _sip._udp _sipfederationtls._tcp _xmpp-client._tcp _xmpp-server._tcp _autodiscover._tcp
     _caldav._tcp _caldavs._tcp _carddav._tcp _carddavs._tcp _imap._tcp _imaps._tcp _pop3s._tcp
     _submission._tcp _submissions._tcp _matrix._tcp _minecraft._tcp _ldap._tcp`,
  ],
  ['TLSA', '_443._tcp _443._tcp.www _25._tcp _25._tcp.mail'],
];

/** A name below the domain and the types to query there; NXDOMAIN skips the types that remain. */
export interface ScanName {
  readonly name: string;
  readonly types: readonly QueryType[];
}

/** All names tried below the apex, the most common first. */
export const SCAN_NAMES: readonly ScanName[] = [
  ...words(HOSTS).map((name) => ({ name, types: HOST_TYPES })),
  ...SERVICES.flatMap(([type, names]) => words(names).map((name) => ({ name, types: [type] }))),
];

function words(text: string): readonly string[] {
  return text.split(/\s+/);
}

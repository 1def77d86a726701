/**
 * Finds the records of a domain at its current DNS host, so that a move to this service loses few of them. In: a domain
 * and a DNS client. Out: records to import. The scan queries the domain's authoritative servers, not caches, and never
 * tries a zone transfer. An answer for a random name comes from a wildcard record and is imported as one.
 */
import { randomBytes } from 'node:crypto';
import { withDeadline } from '../../base/platform/tasks.ts';
import { recordKind, type ZoneType } from '../../base/vocabulary/record-types.ts';
import { absoluteName } from '../../rules/model/record-name.ts';
import { type DnsAnswer, DnsFault, QUERY_TYPES, type QueryType, type Reply } from '../dns/message.ts';
import { answerData } from '../dns/record-data.ts';
import { type Dns, serverNames } from '../dns/resolver.ts';
import type { ServerAddress } from '../dns/server-address.ts';
import { storedName, type ZoneRecord } from '../dns/zone-file/parse.ts';
import { MAX_SCAN_MS, MAX_SCAN_QUESTIONS, MAX_SCAN_RECORDS, SCAN_CONCURRENCY } from './limits.ts';

export interface ScanResult {
  /** In the order of names tried; the apex and `www` are proxied if their type can be. */
  readonly records: readonly ZoneRecord[];
  /** Queries that were sent. */
  readonly questions: number;
  /** `false`: a bound was reached or servers failed, so there may be more. */
  readonly complete: boolean;
  /** Why the scan failed as a whole; `null`: it did not fail as a whole. */
  readonly fault: DnsFault | null;
}

export interface ScanOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds for the whole scan. Default: `MAX_SCAN_MS`. */
  readonly limitMs?: number;
}

interface Scan {
  readonly domain: string;
  readonly dns: Dns;
  readonly signal: AbortSignal;
  /** The servers, the last one that answered first. */
  readonly servers: ServerAddress[];
  readonly records: Map<string, ZoneRecord>;
  /** Fingerprint of the wildcard's data, by type; a name with the same data has no record of its own. */
  readonly wild: Map<string, string>;
  questions: number;
  /** At least one query was answered. */
  answered: boolean;
  complete: boolean;
}

/** Scans `domain` (canonical) within `MAX_SCAN_QUESTIONS`, `MAX_SCAN_RECORDS` and `limitMs`. Never throws. */
export function scanRecords(domain: string, dns: Dns, options: ScanOptions = {}): Promise<ScanResult> {
  const limitMs = options.limitMs ?? MAX_SCAN_MS;
  return withDeadline(limitMs, options.signal, (signal) => scanWithin(domain, dns, signal));
}

async function scanWithin(domain: string, dns: Dns, signal: AbortSignal): Promise<ScanResult> {
  const scan: Scan = {
    domain,
    dns,
    signal,
    servers: [],
    records: new Map(),
    wild: new Map(),
    questions: 0,
    answered: false,
    complete: true,
  };
  let fault: DnsFault | null = null;
  try {
    scan.servers.push(...(await findServers(domain, dns, signal)));
    if (scan.servers.length > 0) await scanZone(scan);
  } catch (error) {
    scan.complete = false;
    fault =
      error instanceof DnsFault ? error : new DnsFault('unanswered', 'the scan failed in itself', error);
  }
  return { records: [...scan.records.values()], questions: scan.questions, complete: scan.complete, fault };
}

/** Addresses of the domain's servers; empty: it is not delegated. @throws DnsFault */
async function findServers(domain: string, dns: Dns, signal: AbortSignal): Promise<readonly ServerAddress[]> {
  const names = await dns.zoneServers(domain, signal);
  const found = await Promise.allSettled(names.map((name) => dns.addresses(name, signal)));
  const servers = found.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  if (names.length === 0 || servers.length > 0) return servers;
  const failed = found.find((result) => result.status === 'rejected');
  throw new DnsFault(
    'unanswered',
    `no server of \`${domain}\` has an address that may be asked`,
    failed?.reason,
  );
}

/** Scans the apex, the wildcard, then the known names. @throws DnsFault when no server answers for the domain */
async function scanZone(scan: Scan): Promise<void> {
  await scanName(scan, scan.domain, APEX_TYPES);
  if (!scan.answered) throw new DnsFault('unanswered', `no server of \`${scan.domain}\` answers for it`);
  await scanWildcard(scan);
  const queue: ScanName[] = [...SCAN_NAMES];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      if (scan.signal.aborted || scan.records.size >= MAX_SCAN_RECORDS) {
        scan.complete = false;
        return;
      }
      await scanName(scan, `${next.name}.${scan.domain}`, next.types);
    }
  };
  await Promise.all(Array.from({ length: SCAN_CONCURRENCY }, work));
}

/** Detects a wildcard record: only a wildcard answers for a random name (RFC 4592). */
async function scanWildcard(scan: Scan): Promise<void> {
  const probe = `${randomBytes(12).toString('hex')}.${scan.domain}`;
  for (const type of HOST_TYPES) {
    const reply = await askZone(scan, probe, type);
    if (reply === null || reply.rcode !== 'NOERROR') return;
    const answers = reply.answers.filter(({ name }) => name === probe);
    if (answers.length === 0) continue;
    scan.wild.set(type, fingerprint(answers));
    for (const answer of answers) addRecord(scan, `*.${scan.domain}`, answer);
    if (answers.some((answer) => answer.type === 'CNAME')) {
      for (const other of QUERY_TYPES) scan.wild.set(other, fingerprint(answers));
      return;
    }
  }
}

async function scanName(scan: Scan, name: string, types: readonly QueryType[]): Promise<void> {
  for (const type of types) {
    const reply = await askZone(scan, name, type);
    if (reply === null) continue;
    if (reply.rcode !== 'NOERROR') return;
    const answers = reply.answers.filter((answer) => answer.name === name);
    if (answers.length === 0) {
      // The name is a zone cut: its records are in the child zone, and only the NS records are imported.
      const cut = serverNames(reply.authorities, name);
      if (cut.length === 0 || name === scan.domain || reply.authoritative) continue;
      for (const server of cut) addRecord(scan, name, { type: 'NS', data: server });
      return;
    }
    if (scan.wild.get(type) === fingerprint(answers)) continue;
    for (const answer of answers) addRecord(scan, name, answer);
    if (answers.some((answer) => answer.type === 'CNAME')) return;
  }
}

function fingerprint(answers: readonly DnsAnswer[]): string {
  return JSON.stringify(
    answers
      .map((answer) => answerData(answer))
      .map((data) => JSON.stringify(data))
      .sort(),
  );
}

/** Queries the domain's servers, the last one that answered first; `null`: none gave a usable answer. */
async function askZone(scan: Scan, name: string, type: QueryType): Promise<Reply | null> {
  for (const server of [...scan.servers]) {
    if (scan.signal.aborted || scan.questions >= MAX_SCAN_QUESTIONS) break;
    scan.questions++;
    try {
      const reply = await scan.dns.askAuthority(server, { name, type }, scan.signal);
      const counts = reply.rcode === 'NOERROR' || reply.rcode === 'NXDOMAIN';
      if (counts && (reply.authoritative || serverNames(reply.authorities, name).length > 0)) {
        scan.answered = true;
        return reply;
      }
    } catch (error) {
      if (!(error instanceof DnsFault)) throw error;
    }
    const at = scan.servers.indexOf(server);
    if (at >= 0) scan.servers.push(...scan.servers.splice(at, 1));
  }
  scan.complete = false;
  return null;
}

/** Whether an imported record is proxied: at the apex and `www`, whose traffic is most likely HTTP. */
function isProxied(scan: Scan, name: string, type: ZoneType): boolean {
  if (recordKind(type).proxiable !== true) return false;
  return name === scan.domain || name === `www.${scan.domain}`;
}

/** Adds the record of one answer, unless the model has no such type or the name is not inside the domain. */
function addRecord(scan: Scan, absolute: string, answer: Pick<DnsAnswer, 'type' | 'data'>): void {
  const read = answerData(answer);
  if (read === null) return;
  const { type, data } = read;
  if (type === 'NS' && absolute === scan.domain) return;
  const name = storedName(absolute, scan.domain);
  if (absoluteName(name, scan.domain) !== absolute || scan.records.size >= MAX_SCAN_RECORDS) return;
  const record: ZoneRecord = { name, type, ...data, proxied: isProxied(scan, absolute, type) };
  scan.records.set(JSON.stringify([name, type, data]), record);
}

// Names that zones commonly have. A zone cannot be listed from outside (zone transfers are closed, and a request for one
// looks like an attack), so a scan tries known names: first those that the instructions of hosting panels, mail
// providers and office suites make customers create.

/** Types queried at the domain itself. HTTPS is omitted: the edge generates it for the names it serves. */
const APEX_TYPES: readonly QueryType[] = ['A', 'AAAA', 'MX', 'TXT', 'CAA'];

/** Types queried at every host name that the first query shows to exist. */
const HOST_TYPES: readonly QueryType[] = ['A', 'AAAA', 'MX', 'TXT'];

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
interface ScanName {
  readonly name: string;
  readonly types: readonly QueryType[];
}

/** All names tried below the apex, the most common first. */
const SCAN_NAMES: readonly ScanName[] = [
  ...words(HOSTS).map((name) => ({ name, types: HOST_TYPES })),
  ...SERVICES.flatMap(([type, names]) => words(names).map((name) => ({ name, types: [type] }))),
];

function words(text: string): readonly string[] {
  return text.split(/\s+/);
}

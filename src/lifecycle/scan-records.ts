/**
 * Finds the records a domain has where it is served now, so that moving it here loses as little as can be. In: a
 * domain and the way into the DNS. Out: records to import. The domain's own servers are asked, not caches; a zone
 * transfer is never tried. What answers for a name that nobody made up comes from a wildcard and is imported as one.
 */
import { randomBytes } from 'node:crypto';
import { DnsFault } from '../dns/fault.ts';
import { type DnsAnswer, QUERY_TYPES, type QueryType, type Reply } from '../dns/message.ts';
import { answerData } from '../dns/record-data.ts';
import { type Dns, serverNames } from '../dns/resolver.ts';
import type { ServerAddress } from '../dns/server-address.ts';
import { storedName, type ZoneRecord } from '../dns/zone-file/parse.ts';
import { absoluteName } from '../model/record-name.ts';
import { withDeadline } from '../platform/deadline.ts';
import { MAX_SCAN_MS, MAX_SCAN_QUESTIONS, MAX_SCAN_RECORDS, SCAN_CONCURRENCY } from './limits.ts';
import { APEX_TYPES, HOST_TYPES, SCAN_NAMES, type ScanName } from './scan-names.ts';

export interface ScanResult {
  /** In the order of names tried; the apex and `www` are proxied where their type can be. */
  readonly records: readonly ZoneRecord[];
  /** Questions that went out. */
  readonly questions: number;
  /** `false`: a bound was reached or servers failed, so there may be more. */
  readonly complete: boolean;
  /** Why nothing could be found out, when that is so. */
  readonly fault: DnsFault | null;
}

export interface ScanOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds for the whole scan. */
  readonly limitMs?: number;
}

interface Scan {
  readonly domain: string;
  readonly dns: Dns;
  readonly signal: AbortSignal;
  /** The servers, the one that answered last in front. */
  readonly servers: ServerAddress[];
  readonly records: Map<string, ZoneRecord>;
  /** Data of the wildcard, by type; a name whose data is the same is not a name of its own. */
  readonly wild: Map<string, string>;
  questions: number;
  /** At least one question was answered. */
  answered: boolean;
  complete: boolean;
}

/** Scans `domain` (canonical). Bounded in questions, records and time. Never throws. */
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
    if (scan.servers.length > 0) await walk(scan);
  } catch (error) {
    scan.complete = false;
    fault =
      error instanceof DnsFault ? error : new DnsFault('unanswered', 'the scan failed in itself', error);
  }
  return { records: [...scan.records.values()], questions: scan.questions, complete: scan.complete, fault };
}

/** Addresses of the domain's servers; none: it is not delegated anywhere. */
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

async function walk(scan: Scan): Promise<void> {
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

/** A name nobody has made up shows what the wildcard answers. */
async function scanWildcard(scan: Scan): Promise<void> {
  const probe = `${randomBytes(12).toString('hex')}.${scan.domain}`;
  for (const type of HOST_TYPES) {
    const reply = await askZone(scan, probe, type);
    if (reply === null || reply.rcode !== 'NOERROR') return;
    const answers = reply.answers.filter(({ name }) => name === probe);
    if (answers.length === 0) continue;
    scan.wild.set(type, fingerprint(answers));
    for (const answer of answers) keep(scan, `*.${scan.domain}`, answer);
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
      // The name is delegated further: its records live elsewhere, the delegation stays here.
      const cut = serverNames(reply.authorities, name);
      if (cut.length === 0 || name === scan.domain || reply.authoritative) continue;
      for (const server of cut) keep(scan, name, { name, type: 'NS', data: server });
      return;
    }
    if (scan.wild.get(type) === fingerprint(answers)) continue;
    for (const answer of answers) keep(scan, name, answer);
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

/** Asks the domain's servers, the one that answered last first; `null`: none gave an answer that counts. */
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

/** Web traffic is what an edge is for; it is taken over at once where it most surely is web traffic. */
function isProxied(scan: Scan, name: string, type: string): boolean {
  if (type !== 'A' && type !== 'AAAA' && type !== 'CNAME') return false;
  return name === scan.domain || name === `www.${scan.domain}`;
}

function keep(scan: Scan, absolute: string, answer: DnsAnswer): void {
  const read = answerData(answer);
  if (read === null) return;
  const { type, data } = read;
  if (type === 'NS' && absolute === scan.domain) return;
  const name = storedName(absolute, scan.domain);
  if (absoluteName(name, scan.domain) !== absolute || scan.records.size >= MAX_SCAN_RECORDS) return;
  const record: ZoneRecord = { name, type, ...data, proxied: isProxied(scan, absolute, type) };
  scan.records.set(JSON.stringify([name, type, data]), record);
}

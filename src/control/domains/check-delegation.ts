/**
 * Checks a domain's delegation at the authoritative servers of its parent zone. Resolvers only find the parent zone;
 * their caches and the NS records of the domain's own servers are not used. A failure of the network or of the servers
 * is the state `unreachable` with its fault: an outage never makes a domain `moved`.
 */
import { normalizeName } from '../../base/addresses/host.ts';
import { withDeadline } from '../../base/platform/tasks.ts';
import { canonical, DnsFault, type Reply } from '../dns/message.ts';
import { type Dns, reason, serverNames } from '../dns/resolver.ts';
import { AGREEING_SERVERS, MAX_CHECK_MS } from './limits.ts';

/** Maximum number of referrals followed from the first parent zone: a name has few zone cuts, and a loop must end. */
const MAX_REFERRALS = 8;

/** The result of a delegation check. `found`: canonical names of the servers, sorted. */
export type Delegation =
  /** The delegation equals one whole nameserver set. */
  | { readonly state: 'delegated'; readonly set: readonly string[]; readonly found: readonly string[] }
  /** Delegated to other servers, to part of a set, or to servers of several sets. */
  | { readonly state: 'other'; readonly set: null; readonly found: readonly string[] }
  /** The parent zone has no delegation of the domain. */
  | { readonly state: 'none'; readonly set: null; readonly found: readonly [] }
  /** No agreeing answer came in time. */
  | {
      readonly state: 'unreachable';
      readonly set: null;
      readonly found: readonly [];
      readonly fault: DnsFault;
    };

export interface CheckOptions {
  readonly signal?: AbortSignal;
}

/** A zone and the names of its servers. */
interface Zone {
  readonly name: string;
  readonly servers: readonly string[];
}

/** The usable content of one parent server's reply. */
type Verdict =
  | { readonly kind: 'delegation'; readonly names: readonly string[] }
  | { readonly kind: 'none' }
  | { readonly kind: 'referral'; readonly zone: Zone };

/**
 * Compares the delegation of `domain` (canonical) with the nameserver sets. Order, case and trailing dots do not
 * matter; a mix of sets does not match. Takes at most `MAX_CHECK_MS`. Never throws.
 */
export async function checkDelegation(
  domain: string,
  sets: readonly (readonly string[])[],
  dns: Dns,
  options: CheckOptions = {},
): Promise<Delegation> {
  try {
    const found = await withDeadline(MAX_CHECK_MS, options.signal, (signal) =>
      findDelegation(domain, dns, signal),
    );
    if (found.length === 0) return { state: 'none', set: null, found: [] };
    const set = sets.find((candidate) => sameNames(candidate, found));
    return set === undefined ? { state: 'other', set: null, found } : { state: 'delegated', set, found };
  } catch (error) {
    const fault =
      error instanceof DnsFault ? error : new DnsFault('unanswered', 'the check failed in itself', error);
    return { state: 'unreachable', set: null, found: [], fault };
  }
}

function sameNames(set: readonly string[], found: readonly string[]): boolean {
  const names = new Set(set.map((name) => normalizeName(name) ?? name));
  return names.size === found.length && found.every((name) => names.has(name));
}

/** Canonical names of the servers that the parent delegates to, sorted; empty: no delegation. @throws DnsFault */
async function findDelegation(domain: string, dns: Dns, signal: AbortSignal): Promise<readonly string[]> {
  let zone = await findParent(domain, dns, signal);
  for (let step = 0; step < MAX_REFERRALS; step++) {
    const verdict = await askZone(zone, domain, dns, signal);
    if (verdict.kind !== 'referral') return verdict.kind === 'none' ? [] : verdict.names;
    zone = verdict.zone;
  }
  throw new DnsFault('unanswered', `the servers above \`${domain}\` refer to one another without end`);
}

/** The closest zone above the domain, by the NS records that the resolvers return. @throws DnsFault */
async function findParent(domain: string, dns: Dns, signal: AbortSignal): Promise<Zone> {
  for (let name = domain; name !== ''; ) {
    const dot = name.indexOf('.');
    name = dot < 0 ? '' : name.slice(dot + 1);
    const servers = await dns.zoneServers(name, signal);
    if (servers.length > 0) return { name, servers };
  }
  throw new DnsFault('unanswered', 'the resolvers do not know the servers of the root');
}

/** Queries servers of a zone, in random order, until `AGREEING_SERVERS` agree. @throws DnsFault */
async function askZone(zone: Zone, domain: string, dns: Dns, signal: AbortSignal): Promise<Verdict> {
  let agreed: Verdict | null = null;
  let votes = 0;
  let cause: unknown = null;
  for (const server of shuffled(zone.servers)) {
    let verdict: Verdict | null = null;
    try {
      verdict = await askServer(server, { zone, domain }, dns, signal);
    } catch (error) {
      if (signal.aborted) throw new DnsFault('timeout', 'the check took too long', error);
      cause = error;
    }
    if (verdict === null) continue;
    if (agreed !== null && JSON.stringify(agreed) !== JSON.stringify(verdict)) {
      const message = `the servers of \`${zone.name}\` do not agree about \`${domain}\` yet`;
      throw new DnsFault('disagreement', message);
    }
    agreed = verdict;
    votes++;
    if (votes === AGREEING_SERVERS) break;
  }
  if (agreed !== null) return agreed;
  const where = zone.name === '' ? 'the root' : `\`${zone.name}\``;
  throw new DnsFault('unanswered', `no server of ${where} has an answer${reason(cause)}`, cause);
}

/** Queries one server at its addresses in turn until one gives a usable reply. @throws the fault of the last address */
async function askServer(
  server: string,
  { zone, domain }: { readonly zone: Zone; readonly domain: string },
  dns: Dns,
  signal: AbortSignal,
): Promise<Verdict | null> {
  let fault: unknown = new DnsFault('network', `\`${server}\` has no address that may be asked`);
  for (const address of await dns.addresses(server, signal)) {
    try {
      const reply = await dns.askAuthority(address, { name: domain, type: 'NS' }, signal);
      const verdict = judge(reply, domain, zone.name);
      if (verdict !== null) return verdict;
      fault = new DnsFault('unanswered', `\`${server}\` does not answer for the zone (${reply.rcode})`);
    } catch (error) {
      fault = error;
      if (signal.aborted) break;
    }
  }
  throw fault;
}

/**
 * Interprets a parent server's reply. A delegation is a referral: NS records of the domain in the authority section
 * (RFC 1034 §4.3.2). A server that also serves the domain itself returns the domain's own NS records as the answer, and
 * they count as the delegation, since such a server returns no referral. `null`: not usable.
 */
function judge(reply: Reply, domain: string, zone: string): Verdict | null {
  const { rcode, authoritative, answers, authorities } = reply;
  if (rcode === 'NXDOMAIN') return authoritative ? { kind: 'none' } : null;
  if (rcode !== 'NOERROR') return null;
  const own = authoritative ? serverNames(answers, domain) : [];
  if (own.length > 0) return { kind: 'delegation', names: own };
  if (answers.length === 0) {
    const referred = serverNames(authorities, domain);
    if (referred.length > 0) return { kind: 'delegation', names: referred };
    const cut = authorities.find(({ name, type }) => type === 'NS' && isBetween(name, domain, zone));
    if (cut !== undefined) {
      return { kind: 'referral', zone: { name: cut.name, servers: serverNames(authorities, cut.name) } };
    }
  }
  return authoritative ? { kind: 'none' } : null;
}

/** Whether a zone cut is below the queried zone and above the domain; upward referrals are lame (RFC 1912 §2.8). */
function isBetween(cut: string, domain: string, zone: string): boolean {
  const name = canonical(cut);
  return name !== '' && domain.endsWith(`.${name}`) && (zone === '' || name.endsWith(`.${zone}`));
}

function shuffled(names: readonly string[]): readonly string[] {
  return names
    .map((name) => ({ name, at: Math.random() }))
    .sort((left, right) => left.at - right.at)
    .map(({ name }) => name);
}

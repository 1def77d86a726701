/** What the API answers about zones: versions, what is missing, what waits for secondaries, and checks of them. */
import { queryServer } from '../dns/ask.ts';
import { DnsFault } from '../dns/fault.ts';
import type { ServerAddress } from '../dns/server-address.ts';
import type { Store } from '../store/store.ts';
import type { ZoneHeadRow } from '../store/zone-repositories.ts';
import { checkSecondary, expectedSets, type SecondaryCheck } from './check-zone.ts';
import { CHECKED_SETS, CHECKS_AT_ONCE } from './limits.ts';
import type { ContentProblem } from './own-names.ts';

/** A secondary, and what it has not accepted yet. */
export interface SecondaryState {
  /** Address and port. */
  readonly address: string;
  /** Whether a NOTIFY of the zone's current version waits for an answer. */
  readonly notifying: boolean;
}

/** A zone as the API shows it. */
export interface ShownZone {
  readonly serial: number;
  /** Records without the SOA. */
  readonly records: number;
  readonly primary: string;
  readonly updated_at: number;
  /** Changes are not in this version yet. */
  readonly changing: boolean;
  readonly problems: number;
  /** The first ones. */
  readonly problem_list: readonly ContentProblem[];
  readonly secondaries: readonly SecondaryState[];
}

/** The result of a check. */
export interface ZoneCheck {
  readonly serial: number;
  /** Record sets of the zone, and those that were compared. */
  readonly sets: number;
  readonly compared: number;
  readonly secondaries: readonly (SecondaryCheck & { readonly address: string })[];
}

/** Zones, for the API. */
export interface ZoneService {
  /** `null`: the domain has no zone. @throws StoreFault */
  show(name: string): Promise<ShownZone | null>;
  /**
   * Asks every secondary for the record sets of the zone; `null`: the domain has no zone; `busy`: the account has a check
   * under way, or too many accounts have.
   */
  check(name: string, accountId: number): Promise<ZoneCheck | 'busy' | null>;
  /** The DS records that the parent zone needs. Never rejects. */
  dnssec(name: string): Promise<SignedState>;
}

/** A secondary with what it has not answered. */
export interface NotifiedSecondary {
  readonly server: ServerAddress;
  /** Whether a NOTIFY of the zone waits for an answer. */
  waits(zone: string): boolean;
}

export interface ZoneServiceOptions {
  readonly store: Store;
  readonly secondaries: readonly NotifiedSecondary[];
}

export function createZoneService({ store, secondaries }: ZoneServiceOptions): ZoneService {
  const checking = new Set<number>();
  return {
    async show(name) {
      const head = await store.latest.zones.head(name);
      if (head === null) return null;
      const changing = (await store.latest.zones.change(name)) !== null;
      return { ...shownHead(head), changing, secondaries: secondaries.map((one) => stateOf(one, name)) };
    },
    async check(name, accountId) {
      if (checking.has(accountId) || checking.size >= CHECKS_AT_ONCE) return 'busy';
      checking.add(accountId);
      try {
        const zone = await store.latest.zones.get(name);
        if (zone === null) return null;
        const sets = expectedSets(zone);
        const checks = secondaries.map(async ({ server }) => ({
          address: addressText(server),
          ...(await checkSecondary(zone, server, sets)),
        }));
        const compared = Math.min(sets.length, CHECKED_SETS);
        return { serial: zone.serial, sets: sets.length, compared, secondaries: await Promise.all(checks) };
      } finally {
        checking.delete(accountId);
      }
    },
    dnssec: (name) =>
      readDnssec(
        name,
        secondaries.map(({ server }) => server),
      ),
  };
}

function shownHead(head: ZoneHeadRow) {
  const { count, first } = JSON.parse(head.problems_json) as {
    readonly count: number;
    readonly first: readonly ContentProblem[];
  };
  return {
    serial: head.serial,
    records: head.records,
    primary: head.primary_name,
    updated_at: head.updated_at,
    problems: count,
    problem_list: first,
  };
}

function stateOf({ server, waits }: NotifiedSecondary, name: string): SecondaryState {
  return { address: addressText(server), notifying: waits(name) };
}

/** `192.0.2.1:53`, IPv6 in brackets. */
export function addressText({ address, port }: ServerAddress): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

// The DS records that a domain's parent zone needs, from the CDS records that the signing engine publishes (RFC 7344). The
// server signs nothing itself.

/** A DS record (RFC 4034 §5). */
export interface DsRecord {
  readonly key_tag: number;
  readonly algorithm: number;
  readonly digest_type: number;
  /** Hexadecimal, lower case. */
  readonly digest: string;
}

/** What a secondary says about the signatures of a zone. */
type SignedState =
  | { readonly status: 'signed'; readonly ds: readonly DsRecord[] }
  /** The engine publishes no CDS; or the one that asks for the removal of DS records (RFC 8078 §4). */
  | { readonly status: 'unsigned'; readonly ds: readonly [] }
  | { readonly status: 'unknown'; readonly ds: readonly []; readonly fault: string };

/** Asks the secondaries in turn until one answers with CDS records. Never rejects. */
async function readDnssec(zone: string, servers: readonly ServerAddress[]): Promise<SignedState> {
  let fault: string | null = servers.length === 0 ? 'no secondary is configured' : null;
  for (const server of servers) {
    try {
      const reply = await queryServer(server, { name: zone, type: 'CDS' }, { recursive: false });
      if (reply.rcode !== 'NOERROR')
        throw new DnsFault('unanswered', `\`${server.address}\` answered ${reply.rcode}`);
      const ds = reply.answers.flatMap(({ type, data }) =>
        type === 'CDS' && Buffer.isBuffer(data) ? [readDs(data)] : [],
      );
      const wanted = ds.filter((one): one is DsRecord => one !== null && one.algorithm !== 0);
      if (wanted.length > 0) return { status: 'signed', ds: wanted };
    } catch (error) {
      fault = error instanceof DnsFault ? error.message : String(error);
    }
  }
  return fault === null ? { status: 'unsigned', ds: [] } : { status: 'unknown', ds: [], fault };
}

/** CDS data: key tag, algorithm, digest type, digest; `null`: too short. */
function readDs(data: Buffer): DsRecord | null {
  if (data.length < 5) return null;
  return {
    key_tag: data.readUInt16BE(0),
    algorithm: data[2]!,
    digest_type: data[3]!,
    digest: data.subarray(4).toString('hex'),
  };
}

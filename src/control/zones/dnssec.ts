/**
 * The DS records that a domain's parent zone needs, from the CDS records that the signing engine publishes (RFC 7344). The
 * server signs nothing itself.
 */
import { queryServer } from '../dns/ask.ts';
import { DnsFault } from '../dns/fault.ts';
import type { ServerAddress } from '../dns/server-address.ts';

/** A DS record (RFC 4034 §5). */
export interface DsRecord {
  readonly key_tag: number;
  readonly algorithm: number;
  readonly digest_type: number;
  /** Hexadecimal, lower case. */
  readonly digest: string;
}

/** What a secondary says about the signatures of a zone. */
export type SignedState =
  | { readonly status: 'signed'; readonly ds: readonly DsRecord[] }
  /** The engine publishes no CDS; or the one that asks for the removal of DS records (RFC 8078 §4). */
  | { readonly status: 'unsigned'; readonly ds: readonly [] }
  | { readonly status: 'unknown'; readonly ds: readonly []; readonly fault: string };

/** Asks the secondaries in turn until one answers with CDS records. Never rejects. */
export async function readDnssec(zone: string, servers: readonly ServerAddress[]): Promise<SignedState> {
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

/** What of a zone comes from the server's options: all processes on one database need the same. */
import { createHash } from 'node:crypto';

/** The settings of every zone. */
export interface ZoneSettings {
  /** The nameserver set: NS records of the apex, the first one MNAME of the SOA. */
  readonly nameservers: readonly string[];
  /** Addresses that proxied names answer with. */
  readonly edgeAddresses: readonly string[];
  /** Names of certificate authorities that are added to a customer's CAA records. */
  readonly caaIssuers: readonly string[];
  /** The name of the catalog zone. */
  readonly catalog: string;
}

/** Version of how records become a zone; a higher one makes every zone anew. */
const RULES = 1;

/** Identifies the settings that zones were made with. */
export function settingsId({ nameservers, edgeAddresses, caaIssuers }: ZoneSettings): string {
  const text = JSON.stringify([RULES, nameservers, edgeAddresses, caaIssuers]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

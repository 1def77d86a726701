/** What `edgeplan serve` starts a server with. */
import type { Logger } from 'pino';
import type { AllowedOrigins } from '../base/addresses/special-addresses.ts';
import type { CollectorOptions } from '../base/telemetry/spans.ts';
import type { TierSlug } from '../control/accounts/tiers.ts';
import type { OverQuota } from '../control/billing/quota.ts';
import type { KeyRing } from '../control/certificates/key-ring.ts';
import type { SmsGatewayOptions, SmtpOptions } from '../control/notices/outlet-options.ts';
import type { Store } from '../control/store/store.ts';
import type { Retention } from '../control/traffic/retention.ts';
import type { IssuerSettings } from './issuer-options.ts';
import type { DecisionLogTarget } from './open-decision-logs.ts';
import type { ZoneOptions } from './zone-options.ts';

/** Options of a server. */
export interface ServerOptions {
  /** Closed when the server stops. */
  readonly store: Store;
  /** The address that the API listens on. */
  readonly host: string;
  /** The port of the API; 0 is any free port, here and below. */
  readonly port: number;
  /** The port of the health and metrics listener, always on 127.0.0.1. */
  readonly operationsPort: number;
  /** The tier of domains without a subscription. */
  readonly tier: TierSlug;
  /** What happens to traffic over a quota. */
  readonly overQuota: OverQuota;
  /** Delegations that a managed domain may have. */
  readonly nameserverSets: readonly (readonly string[])[];
  /** Addresses of recursive resolvers; empty: the system's. */
  readonly resolvers: readonly string[];
  /** Special addresses that name servers of zones may have, and the port of all of them; absent: none, 53. */
  readonly nameservers?: { readonly prefixes: readonly string[]; readonly port: number };
  /** Serves the zones of managed domains; absent: it does not. */
  readonly zones?: ZoneOptions;
  /** Obtains certificates by ACME; absent: it does not. */
  readonly issuer?: IssuerSettings;
  /** Treats every domain as verified without DNS queries, for trials. */
  readonly trustNames: boolean;
  /** As `Services.privateNames`. */
  readonly privateNames: boolean;
  /** Special addresses that a write may name as origins. */
  readonly allowedOrigins: AllowedOrigins;
  /** Requests per minute and API key. */
  readonly requestsPerMinute: number;
  /** Milliseconds for which traffic is stored by minute, hour and day; absent: `USUAL_RETENTION`. */
  readonly trafficRetention?: Retention;
  /** The path of a country database in MaxMind's format; absent: none. */
  readonly countries?: string;
  /** What private keys of certificates are encrypted with; absent or `null`: certificates cannot be uploaded. */
  readonly secretsKey?: KeyRing | null;
  /** The mail relay; absent: no e-mail is sent. */
  readonly smtp?: SmtpOptions;
  /** The SMS gateway; absent: no SMS is sent. */
  readonly sms?: SmsGatewayOptions;
  /** Where customers read more, as `linkTo` takes it; absent: nowhere. */
  readonly publicUrl?: string;
  /** Where spans and metrics go by OTLP; absent: nowhere. */
  readonly collector?: CollectorOptions;
  /** Where entries of nodes' decision logs go. Default: the store, for `DEFAULT_DAYS`. */
  readonly decisionLogs?: DecisionLogTarget;
  readonly log: Logger;
}

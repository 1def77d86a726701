/** Options of `edgeplan serve`: the ones that a server starts with, and those of the command line for ACME and for zones. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { InvalidArgumentError, Option } from 'commander';
import type { Logger } from 'pino';
import { normalizeName } from '../base/addresses/host.ts';
import type { AllowedOrigins } from '../base/addresses/special-addresses.ts';
import type { CollectorOptions } from '../base/telemetry/spans.ts';
import type { TierSlug } from '../control/accounts/tiers.ts';
import type { OverQuota } from '../control/billing/quota.ts';
import type { KeyRing } from '../control/certificates/key-ring.ts';
import { USUAL_ORDERS } from '../control/certificates/limits.ts';
import { parseServerAddress, type ServerAddress } from '../control/dns/server-address.ts';
import type { SmsGatewayOptions, SmtpOptions } from '../control/notices/outlet-options.ts';
import type { Store } from '../control/store/store.ts';
import type { Retention } from '../control/traffic/retention.ts';
import { readSecondary, readTsigKeys, type Secondary, type ZoneSettings } from '../control/zones/settings.ts';
import type { TsigKeys } from '../control/zones/wire/tsig.ts';
import { inputFault, readFault, usageFault } from './exit.ts';
import { isHttpUrl } from './node-settings.ts';
import type { DecisionLogTarget } from './open-decision-logs.ts';
import { gather, requirePackages } from './options.ts';

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

// The options of `edgeplan serve` for certificates that it obtains by ACME.

/** The flags, as commander parses them. */
export interface IssuerFlags {
  readonly acme?: string;
  readonly acmeEmail?: string;
  readonly acmeOrders?: number;
}

/** The CA of a server. */
interface IssuerSettings {
  /** The address of the directory (RFC 8555 §7.1.1). */
  readonly directory: string;
  /** The account's address for mail of the CA; `null`: none. */
  readonly email: string | null;
  /** Orders in three hours, at most. */
  readonly orders: number;
}

/** Orders in three hours, at most, that the option takes. */
const MOST_ORDERS = 1_000_000;

/** The options, for the help's heading `Certificates:`. */
export function issuerOptions(): readonly Option[] {
  return [
    new Option(
      '--acme <url>',
      'obtain certificates for proxied names by ACME from this directory; accepts the terms of its CA',
    ).env('EDGEPLAN_ACME'),
    new Option('--acme-email <address>', 'contact address for the CA').env('EDGEPLAN_ACME_EMAIL'),
    new Option('--acme-orders <number>', `orders in three hours, at most (default: ${USUAL_ORDERS})`)
      .argParser(readOrders)
      .env('EDGEPLAN_ACME_ORDERS'),
  ];
}

/** The CA that the flags name; `undefined`: none. @throws CommandFault for flags that do not go together */
export function readIssuer({ acme, acmeEmail, acmeOrders }: IssuerFlags): IssuerSettings | undefined {
  if (acme === undefined) {
    if (acmeEmail === undefined && acmeOrders === undefined) return undefined;
    const flag = acmeEmail === undefined ? '--acme-orders' : '--acme-email';
    throw usageFault(`${flag} has no effect without --acme`, 'name the directory of the CA');
  }
  if (!isHttpUrl(acme)) throw usageFault(`--acme: a directory is an address of http(s), found \`${acme}\``);
  requirePackages('acme', '--acme');
  return { directory: acme, email: acmeEmail ?? null, orders: acmeOrders ?? USUAL_ORDERS };
}

function readOrders(text: string): number {
  const orders = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (orders >= 1 && orders <= MOST_ORDERS) return orders;
  throw new InvalidArgumentError(`a whole number from 1 to ${MOST_ORDERS}.`);
}

// The options of `edgeplan serve` for zones: the listener, its keys, the name servers, and the addresses of the edge.

/** The flags, as commander parses them. */
export interface ZoneFlags {
  readonly zones?: ServerAddress;
  readonly secondaries?: string;
  readonly tsigKeys?: string;
  readonly edgeAddresses?: readonly string[];
  readonly catalogZone: string;
  readonly caaIssuer?: readonly string[];
  readonly nsSet?: readonly string[];
}

/** The zones of a server. */
export interface ZoneOptions {
  /** Where transfers are answered. */
  readonly listen: ServerAddress;
  readonly settings: ZoneSettings;
  readonly keys: TsigKeys;
  readonly secondaries: readonly Secondary[];
}

/** The catalog's usual name: below a domain that nobody can register (RFC 9432 §4.1, RFC 6761 §6.4). */
const CATALOG = 'catalog.edgeplan.invalid';
/** Addresses of the edge, at most: an answer with more does not fit one datagram beside the rest. */
const MAX_EDGE_ADDRESSES = 16;

/** The options, for the help's heading `Zones:`. */
export function zoneOptions(): readonly Option[] {
  return [
    new Option(
      '--zones <address>',
      'serve the zones of managed domains to name servers, such as 127.0.0.1:5300',
    )
      .argParser(readListen)
      .env('EDGEPLAN_ZONES'),
    new Option(
      '--secondaries <list>',
      'the name servers that are notified, address:port#key with commas',
    ).env('EDGEPLAN_SECONDARIES'),
    new Option('--tsig-keys <file>', 'keys of the name servers, one a line: hmac-sha256:name:base64').env(
      'EDGEPLAN_TSIG_KEYS',
    ),
    new Option(
      '--edge-addresses <list>',
      'addresses that proxied names answer with, IPv4 and IPv6 with commas',
    )
      .argParser(readAddresses)
      .env('EDGEPLAN_EDGE_ADDRESSES'),
    new Option('--catalog-zone <name>', 'the catalog zone that lists all zones')
      .argParser(readZoneName)
      .default(CATALOG)
      .env('EDGEPLAN_CATALOG_ZONE'),
    new Option(
      '--caa-issuer <name>',
      "an authority that is added to customers' CAA records, such as letsencrypt.org; may be repeated",
    ).argParser(gather),
  ];
}

/** The zones that the flags ask for; `undefined`: none. @throws CommandFault for flags that do not go together */
export function readZoneOptions(
  flags: ZoneFlags,
  [nameservers]: readonly (readonly string[])[],
): ZoneOptions | undefined {
  const { zones: listen, tsigKeys: file, edgeAddresses, catalogZone: catalog, caaIssuer = [] } = flags;
  if (listen === undefined) {
    const [alone] = (['secondaries', 'tsigKeys', 'edgeAddresses', 'caaIssuer'] as const).filter(
      (name) => flags[name] !== undefined,
    );
    if (alone === undefined) return undefined;
    const flag = alone.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw usageFault(`--${flag} has no effect without --zones`, 'name the address to serve zones on');
  }
  if (nameservers === undefined)
    throw usageFault('--zones needs --ns-set', 'name the name servers that answer for the zones');
  if (edgeAddresses === undefined)
    throw usageFault('--zones needs --edge-addresses', 'name the addresses that proxied names answer with');
  if (file === undefined)
    throw usageFault('--zones needs --tsig-keys', 'name the file with the keys of the name servers');
  const keys = readKeysFile(file);
  const settings: ZoneSettings = { nameservers, edgeAddresses, caaIssuers: caaIssuer, catalog };
  return { listen, settings, keys, secondaries: readSecondaries(flags.secondaries, keys) };
}

function readKeysFile(file: string): TsigKeys {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw readFault(file, error);
  }
  const { keys, problems } = readTsigKeys(text);
  if (problems.length > 0) throw inputFault(`--tsig-keys: \`${file}\`: ${problems.join('; ')}`);
  if (keys.size === 0) throw inputFault(`--tsig-keys: \`${file}\` has no key`);
  return keys;
}

/** An empty list: transfers are answered, and no name server is notified. */
function readSecondaries(list: string | undefined, keys: TsigKeys): readonly Secondary[] {
  const texts = (list ?? '').split(',').map((text) => text.trim());
  return texts.filter(Boolean).map((text) => {
    const read = readSecondary(text, keys);
    if ('problem' in read) throw usageFault(`--secondaries: ${read.problem}`);
    return read.secondary;
  });
}

function readListen(text: string): ServerAddress {
  // A port of 0 is any free one, which no name server has.
  const free = /^(.*):0$/.exec(text);
  const address = parseServerAddress(free === null ? text : `${free[1]}:1`);
  if (address !== null) return free === null ? address : { ...address, port: 0 };
  throw new InvalidArgumentError('an address with an optional port, like 127.0.0.1:5300.');
}

function readAddresses(text: string): readonly string[] {
  const addresses = text.split(',').map((one) => one.trim());
  const wrong = addresses.find((one) => isIP(one) === 0);
  if (wrong !== undefined)
    throw new InvalidArgumentError(`\`${wrong}\` is no address; write 192.0.2.1,2001:db8::1.`);
  if (addresses.length <= MAX_EDGE_ADDRESSES) return [...new Set(addresses)];
  throw new InvalidArgumentError(`at most ${MAX_EDGE_ADDRESSES} addresses, found ${addresses.length}.`);
}

function readZoneName(text: string): string {
  const name = normalizeName(text);
  if (name?.includes('.') === true) return name;
  throw new InvalidArgumentError(`a name such as ${CATALOG}.`);
}

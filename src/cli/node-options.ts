/**
 * The options of `edgeplan node` in the order of its help text, and the flags that commander makes of them. In: nothing.
 * Out: a list of options with their defaults, environment variables and checks.
 */
import { isIP } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { parseIpEntry } from '../base/addresses/ip.ts';
import { BODY_OCTETS, DISK_OCTETS, RATE } from '../base/buffers/limits.ts';
import {
  MAX_ADDRESS_CONNECTIONS,
  MAX_CONNECTIONS,
  MAX_SHIPPED_PER_SEC,
  MAX_WEBSOCKETS,
  SHIPPED_PER_SEC,
  STALL_MS,
} from '../edge/proxy/limits.ts';
import {
  allowOriginsOption,
  type CollectorFlags,
  collectorOptions,
  colourOption,
  gather,
  inGroup,
  logLevelOption,
  readNodeId,
  readPort,
  readShare,
  resolverOption,
} from './options.ts';
import type { ColourChoice } from './output.ts';
import { readWorkers } from './worker-events.ts';

/**
 * Seconds that a node serves after SIGTERM while it reports itself not ready: a load balancer that probes every second
 * and needs three failures has moved its traffic by then.
 */
const DRAIN_SECONDS = 5;
/** Seconds for a new process to load, and again to become ready: the first probes of pools take up to 10. */
const UPGRADE_WAIT_SECONDS = 60;

/** The flags of one call, with defaults applied. Names are those of the options in camel case; units are theirs too. */
export interface NodeFlags extends CollectorFlags {
  readonly file?: string;
  readonly control?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly trust?: string;
  readonly data: string;
  readonly host: string;
  readonly port: number;
  readonly tlsPort?: number;
  readonly certificates?: string;
  readonly defaultCertificate?: string;
  readonly acme?: string;
  readonly acmeEmail?: string;
  readonly acmeName?: readonly string[];
  readonly countries?: string;
  readonly asns?: string;
  readonly log?: string;
  readonly logRate: number;
  readonly shipLogs: boolean;
  readonly shipLines: number;
  readonly opsPort?: number;
  readonly opsAddress: string;
  readonly botRanges?: string;
  readonly publicPort?: number;
  readonly publicTlsPort?: number;
  readonly trustProxy?: readonly string[];
  readonly proxyProtocol?: readonly string[];
  readonly cacheMemory: number;
  readonly diskCache: boolean;
  readonly signatures?: string;
  readonly nodeId?: number;
  readonly workers: number;
  readonly originConnections: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  readonly maxWebsockets: number;
  readonly anyCertificate?: boolean;
  readonly allowOrigins?: readonly string[];
  readonly resolver?: readonly string[];
  readonly idle: number;
  readonly websocketIdle: number;
  readonly keepUnderscores?: boolean;
  readonly bodyBuffer: number;
  readonly bufferDisk: number;
  readonly minRate: number;
  readonly drain: number;
  readonly upgrade?: boolean;
  readonly upgradeWait: number;
  readonly logLevel: string;
  readonly color: ColourChoice;
}

const WORKERS_HELP =
  'processes that serve, or `auto` for one per core; cache memory and disk, --buffer-disk, --origin-connections, --max-connections and --max-websockets are divided among them';

/** Upper bound of connection counts: no machine has ports and memory for more. */
const MOST_CONNECTIONS = 10_000_000;
/** A gigabyte in kilobytes: a buffered upload occupies this much of the disk. */
const MOST_BODY_KB = 1_048_576;
/** A terabyte in megabytes. */
const MOST_MB = 1_048_576;
/** A day in seconds. */
const LONGEST_IDLE_SEC = 86_400;
/** An hour in seconds: rollouts of orchestrators time out earlier. */
const LONGEST_DRAIN_SEC = 3_600;

/** All options, in the groups and the order of the help text. */
export function nodeOptions(): readonly Option[] {
  return [
    ...inGroup('Plans:', planOptions('edgeplan-node')),
    ...inGroup('Listening:', listenerOptions()),
    ...inGroup('TLS:', tlsOptions()),
    ...inGroup('Clients and limits:', clientOptions()),
    ...inGroup('What rules read of a visitor:', factOptions()),
    ...inGroup('Cache:', cacheOptions()),
    ...inGroup('Origins:', originOptions()),
    ...inGroup('Observability:', observabilityOptions()),
    ...inGroup('Processes:', processOptions()),
  ];
}

/** Where plans come from and where they are stored. @param folder the name of the default folder */
export function planOptions(folder: string): readonly Option[] {
  return [
    new Option('-f, --file <file>', 'serve this edge file and its changes'),
    ...controlOptions(),
    new Option('--data <folder>', 'the folder of plans and the cache')
      .default(defaultData(folder))
      .env('EDGEPLAN_NODE_DATA'),
  ];
}

/** The control plane, and how both prove who they are; `edgeplan doctor` tries them. */
export function controlOptions(): readonly Option[] {
  return [
    new Option('--control <url>', 'follow this control plane').env('EDGEPLAN_CONTROL'),
    new Option('--token <token>', 'the node token for --control').env('EDGEPLAN_NODE_TOKEN'),
    new Option('--token-file <file>', 'a file with the token, read again when it changes')
      .env('EDGEPLAN_NODE_TOKEN_FILE')
      .conflicts('token'),
    new Option('--trust <key>', "the control plane's public key (default: trust on first use)").env(
      'EDGEPLAN_NODE_TRUST',
    ),
  ];
}

/** Addresses and ports of the listeners, and what is in front of them. */
function listenerOptions(): readonly Option[] {
  return [
    new Option('--host <address>', 'the address to listen on').default('127.0.0.1').env('EDGEPLAN_HOST'),
    new Option('--port <number>', 'the port for HTTP').argParser(readPort).default(8080),
    new Option(
      '--public-port <number>',
      'the port for HTTP as visitors know it, behind a load balancer',
    ).argParser(readCount(1, 65_535)),
    new Option('--public-tls-port <number>', 'the same for HTTPS').argParser(readCount(1, 65_535)),
    new Option(
      '--trust-proxy <prefix>',
      'accept X-Forwarded-* from these addresses; may be repeated',
    ).argParser(gatherPrefix),
    new Option(
      '--proxy-protocol <prefix>',
      'these addresses send the PROXY protocol; may be repeated',
    ).argParser(gatherPrefix),
  ];
}

/** HTTPS and certificates. */
function tlsOptions(): readonly Option[] {
  return [
    new Option(
      '--tls-port <number>',
      'the port for HTTPS; with --control the server sends certificates (default: 8443 where --certificates is given)',
    ).argParser(readPort),
    certificatesOption(),
    new Option(
      '--default-certificate <name>',
      'the certificate for hosts without one, and for clients that send no host name',
    ),
    new Option('--acme <url>', 'obtain certificates by ACME (HTTP-01) from this directory'),
    new Option('--acme-email <address>', 'contact address for the certificate authority'),
    new Option('--acme-name <host>', 'a host to order a certificate for; may be repeated').argParser(gather),
  ];
}

/** Connections, bodies, slow clients, header fields. */
function clientOptions(): readonly Option[] {
  return [
    maxConnectionsOption(),
    new Option('--max-connections-per-address <number>', 'the same for one address, or one IPv6 /64')
      .argParser(readCount(1, MOST_CONNECTIONS))
      .default(MAX_ADDRESS_CONNECTIONS),
    new Option('--max-websockets <number>', 'most WebSockets; one more gets 503')
      .argParser(readCount(1, MOST_CONNECTIONS))
      .default(MAX_WEBSOCKETS),
    new Option(
      '--idle <seconds>',
      "end a request without an octet either way for so long; a record's `timeout` is the limit of its origin",
    )
      .argParser(readCount(1, LONGEST_IDLE_SEC))
      .default(STALL_MS / 1_000),
    new Option('--websocket-idle <seconds>', 'close a WebSocket after so long without a frame')
      .argParser(readCount(1, LONGEST_IDLE_SEC))
      .default(60),
    new Option(
      '--body-buffer <kilobytes>',
      'read a request body of up to so much before a connection to its origin is taken; longer ones stream',
    )
      .argParser(readCount(0, MOST_BODY_KB))
      .default(BODY_OCTETS / 1024),
    new Option(
      '--buffer-disk <megabytes>',
      'disk under --data for bodies of slow clients; 0: none, their origins wait',
    )
      .argParser(readCount(0, MOST_MB))
      .default(DISK_OCTETS / 1024 / 1024),
    new Option(
      '--min-rate <octets>',
      'disconnect clients that send or receive fewer octets a second over 10 s, after the first 5 s; 0: never',
    )
      .argParser(readCount(0, 1_000_000_000))
      .default(RATE.minRate),
    new Option(
      '--keep-underscores',
      'forward headers with `_` in their names to origins, which may read it as `-`',
    ),
  ];
}

/** What rules know of a visitor and of the node: country, autonomous system, bot, signatures, the node's id. */
export function factOptions(): readonly Option[] {
  return [
    new Option('--countries <file>', "a country database in MaxMind's format"),
    new Option(
      '--asns <file>',
      'a database of autonomous systems in the same format (default: that of --countries, if it has them)',
    ),
    new Option('--bot-ranges <folder>', 'address ranges that bots publish, `googlebot.json` and the like'),
    new Option(
      '--signatures <path>',
      'signatures of waf rules: sealed, a directory, or `none` (default: the starter set)',
    ).env('EDGEPLAN_SIGNATURES'),
    new Option('--node-id <number>', 'this node in geo pools').argParser(readNodeId),
  ];
}

/** Cached responses. */
function cacheOptions(): readonly Option[] {
  return [
    new Option('--cache-memory <megabytes>', 'memory for cached responses; 0: no cache')
      .argParser(readCount(0, MOST_MB))
      .default(256),
    new Option('--no-disk-cache', 'cache responses in memory only'),
  ];
}

/** Connections to origins. */
function originOptions(): readonly Option[] {
  return [
    new Option('--origin-connections <number>', 'most connections to one origin')
      .argParser(readCount(1, 65_535))
      .default(256),
    new Option('--any-certificate', 'accept any certificate of an origin'),
    allowOriginsOption(),
    resolverOption('a DNS resolver for origins and bots'),
  ];
}

/** Logs, metrics, and the colour of messages. */
export function observabilityOptions(): readonly Option[] {
  return [
    new Option(
      '--log <file>',
      'the decision log, one JSON object a line; `-` is stdout, and the lines of the start go to stderr',
    ),
    new Option('--log-rate <share>', 'the share of plain responses that is logged; all others are')
      .argParser(readShare)
      .default(0.01),
    new Option(
      '--no-ship-logs',
      'ship no decisions to the control plane, whose API and `edgeplan logs` then have none of this node',
    ),
    new Option(
      '--ship-lines <number>',
      'most lines of one domain shipped a second, at once ten times as many; blocks, challenges, dry_run hits and faults beyond them are counted by action, rule and network; 0: all are counted',
    )
      .argParser(readCount(0, MAX_SHIPPED_PER_SEC))
      .default(SHIPPED_PER_SEC),
    new Option('--ops-port <number>', 'the port of /healthz, /readyz and /metrics').argParser(readPort),
    new Option(
      '--ops-address <address>',
      'the address of that port, for probes and Prometheus elsewhere; metrics have no authentication',
    )
      .argParser(readAddress)
      .default('127.0.0.1'),
    ...collectorOptions(),
    logLevelOption('warn'),
    colourOption(),
  ];
}

/** Worker processes, and how they end. */
export function processOptions(): readonly Option[] {
  return [
    new Option('--workers <number>', WORKERS_HELP).argParser(readWorkers).default(1).env('EDGEPLAN_WORKERS'),
    new Option(
      '--drain <seconds>',
      'after SIGTERM, serve for so long while /readyz answers 503 and clients are asked to close',
    )
      .argParser(readCount(0, LONGEST_DRAIN_SEC))
      .default(DRAIN_SECONDS)
      .env('EDGEPLAN_DRAIN'),
    new Option(
      '--upgrade',
      'have the running node of --data hand over to a new process with this command line; ends when that one is ready, or with the reason why the running one serves on',
    ),
    new Option(
      '--upgrade-wait <seconds>',
      'seconds that the new process of --upgrade, or of SIGUSR2, has to load, and again to become ready',
    )
      .argParser(readCount(1, LONGEST_DRAIN_SEC))
      .default(UPGRADE_WAIT_SECONDS),
  ];
}

/** `--certificates`; `edgeplan doctor` checks the same folder. */
export function certificatesOption(): Option {
  return new Option(
    '--certificates <folder>',
    'folder of certificates and keys, `name.crt` beside `name.key`',
  );
}

/** `--max-connections`; `edgeplan doctor` compares it with the limit of open files. */
export function maxConnectionsOption(): Option {
  return new Option(
    '--max-connections <number>',
    'most connections of clients; idle ones are closed first, then new ones',
  )
    .argParser(readCount(1, MOST_CONNECTIONS))
    .default(MAX_CONNECTIONS);
}

/** Reads an address or a prefix of a repeated option. */
function gatherPrefix(text: string, gathered: readonly string[] | undefined): readonly string[] {
  const read = parseIpEntry(text);
  if (!read.ok) throw new InvalidArgumentError(`an address or a prefix: ${read.reason}.`);
  return gather(text, gathered);
}

/** Reads the address of a listener. */
function readAddress(text: string): string {
  if (isIP(text) !== 0) return text;
  throw new InvalidArgumentError('an IPv4 or IPv6 address, such as 0.0.0.0 or ::.');
}

/** A reader of whole numbers within bounds, both included. */
export function readCount(fewest: number, most: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    if (count >= fewest && count <= most) return count;
    throw new InvalidArgumentError(`a whole number from ${fewest} to ${most}.`);
  };
}

/** The data folder after the XDG Base Directory Specification. */
function defaultData(folder: string): string {
  return join(process.env.XDG_DATA_HOME ?? join(homedir(), '.local', 'share'), folder);
}

/** `edgeplan node`: the reverse proxy that holds plans and does what they decide. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { parseIpEntry } from '../../base/ip.ts';
import { BODY_OCTETS, DISK_OCTETS, RATE } from '../../buffers/limits.ts';
import { parseServerAddress } from '../../dns/server-address.ts';
import { MAX_ADDRESS_CONNECTIONS, MAX_CONNECTIONS, MAX_WEBSOCKETS } from '../../proxy/limits.ts';
import { usageFault } from '../exit.ts';
import { DRAIN_SECONDS } from '../node/limits.ts';
import type { AcmeStart, NodeStart, NodeToken, RunningNode } from '../node/options.ts';
import { plainControlLines } from '../node/plain-control.ts';
import { printWorkerEvent, readWorkers, workersLines } from '../node/print-worker-events.ts';
import { refusal } from '../node/refusal.ts';
import type { OpenedSignatures } from '../open-signatures.ts';
import { allowOriginsOption, colourOption, gather, readNodeId, readPort } from '../options.ts';
import { type ColourChoice, note, write } from '../output.ts';
import { stopOnSignals } from '../stop-on-signals.ts';

interface Flags {
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
  readonly log?: string;
  readonly logRate: number;
  readonly opsPort?: number;
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
  readonly websocketIdle: number;
  readonly keepUnderscores?: boolean;
  readonly bodyBuffer: number;
  readonly bufferDisk: number;
  readonly minRate: number;
  readonly drain: number;
  readonly logLevel: string;
  readonly color: ColourChoice;
}

const WORKERS_HELP =
  'processes that serve, or `auto` for one a core; cache memory and disk, --buffer-disk, --origin-connections, --max-connections and --max-websockets are shared out';
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

async function run(flags: Flags): Promise<void> {
  const plans = plansOf(flags);
  const tls = tlsOf(flags);
  if (plans.kind === 'control') {
    for (const line of plainControlLines(plans)) note(`edgeplan: ${line}`);
  }
  // Only here, so that no other command waits for it to load.
  const { createLog } = await import('../create-log.ts');
  const installed = heldNotes();
  if (plans.kind === 'file') {
    installed.say('origins may have loopback and private addresses: the plans are from an edge file');
  }
  let running: RunningNode;
  try {
    running = await start(flags.workers, {
      host: flags.host,
      port: flags.port,
      tls,
      publicPort: flags.publicPort ?? null,
      trusted: flags.trustProxy ?? [],
      proxies: flags.proxyProtocol ?? [],
      data: flags.data,
      plans,
      cacheOctets: flags.cacheMemory * 1024 * 1024,
      diskCache: flags.diskCache,
      signatures: await openSignatures(flags),
      countries: flags.countries ?? null,
      botRanges: flags.botRanges ?? null,
      nodeId: flags.nodeId ?? null,
      perOrigin: flags.originConnections,
      maxConnections: flags.maxConnections,
      maxAddressConnections: flags.maxConnectionsPerAddress,
      maxWebsockets: flags.maxWebsockets,
      anyCertificate: flags.anyCertificate === true,
      allowedOrigins: { prefixes: flags.allowOrigins ?? [], local: plans.kind === 'file' },
      resolvers: flags.resolver ?? [],
      websocketIdleMs: flags.websocketIdle * 1_000,
      keepUnderscores: flags.keepUnderscores === true,
      bodyOctets: flags.bodyBuffer * 1024,
      bufferOctets: flags.bufferDisk * 1024 * 1024,
      minRate: flags.minRate,
      decisions: flags.log === undefined ? null : { file: flags.log, rate: flags.logRate },
      operationsPort: flags.opsPort ?? null,
      log: createLog(flags.logLevel, (line) => void process.stderr.write(line)),
      onInstalled: ({ domain, serves, revision, digest }) => {
        const how = serves ? 'is served' : 'says that it must not serve; its hosts are refused';
        installed.say(`${domain}: revision ${revision} ${how} (plan sha256:${digest.slice(0, 7)})`);
      },
      onCaughtUp: ({ served, refused }) => note(servingLine(served, refused)),
      onTokenRefused: (sentence) => note(`edgeplan: ${sentence}; what is kept is served on`),
      onRefused: (fault) => note(`edgeplan: ${fault.message}; the last good plan is served on`),
    });
  } catch (error) {
    throw refusal(error, flags);
  }
  // Whoever ends it at a terminal is not a load balancer that has to be waited for.
  const stop = (signal: NodeJS.Signals): Promise<void> =>
    running.stop(signal === 'SIGTERM' ? flags.drain * 1_000 : 0);
  stopOnSignals(stop, { onHangUp: running.reload });
  const lines = [`listening on ${running.url}`];
  if (running.tlsUrl !== null) lines.push(`listening on ${running.tlsUrl}`);
  if (running.operationsUrl !== null) lines.push(`operators: ${running.operationsUrl}/metrics`);
  lines.push(...workersLines(flags));
  lines.push(
    plans.kind === 'file' ? `plans from ${plans.file}` : `plans from ${plans.url}, kept in ${flags.data}`,
  );
  installed.release();
  await write(`${lines.join('\n')}\n`);
}

/** Notes that are true once the node listens, and are not said where it never does. */
function heldNotes() {
  const held: string[] = [];
  let say: (line: string) => void = (line) => void held.push(line);
  return {
    say: (line: string): void => say(line),
    release(): void {
      say = note;
      for (const line of held.splice(0)) note(line);
    },
  };
}

/** What a node has of its control plane. */
function servingLine(served: number, refused: number): string {
  const count = served === 0 ? 'no domain' : served === 1 ? '1 domain' : `${served} domains`;
  const others = refused === 1 ? '1 more is' : `${refused} more are`;
  return `serving ${count}${refused === 0 ? '' : `; ${others} not active and refused`}`;
}

/** One process serves by itself; more are led by one that does not. */
async function start(workers: number, options: NodeStart): Promise<RunningNode> {
  await (await import('../node/check-inputs.ts')).checkInputs(options);
  const release = (await import('../../store/sqlite/take-folder.ts')).takeFolder(options.data);
  const running = await startProcesses(workers, options);
  return {
    ...running,
    async stop(drainMs) {
      await running.stop(drainMs);
      release();
    },
  };
}

async function startProcesses(workers: number, options: NodeStart): Promise<RunningNode> {
  if (workers === 1) return (await import('../start-node.ts')).startNode(options);
  const { startWorkers } = await import('../node/start-workers.ts');
  let begun = false;
  const onEvent: Parameters<typeof startWorkers>[0]['onEvent'] = (event) => {
    // One that cannot begin ends the start, which says why.
    if (begun) printWorkerEvent(event);
  };
  const running = await startWorkers({ ...options, workers, onEvent });
  begun = true;
  return running;
}

function plansOf({ file, control, token: text, tokenFile, trust, color }: Flags): NodeStart['plans'] {
  if (file !== undefined && control !== undefined) {
    throw usageFault('a node has its plans from a file or from a control plane, not from both');
  }
  if (file !== undefined) return { kind: 'file', file, colour: color };
  if (control === undefined) {
    throw usageFault('a node needs plans', 'give it an edge file with --file, or a server with --control');
  }
  if (!isHttpUrl(control)) {
    throw usageFault(`a control plane is written http://host:port, found \`${control}\``);
  }
  const token = tokenOf(text, tokenFile);
  return { kind: 'control', url: control, token, publicKey: trust ?? null };
}

function tokenOf(text: string | undefined, file: string | undefined): NodeToken {
  if (file !== undefined) return { kind: 'file', file };
  if (text !== undefined && text !== '') return { kind: 'text', text };
  const remedy =
    'edgeplan node-token create <name> makes one; give it in EDGEPLAN_NODE_TOKEN, with --token-file or with --token';
  throw usageFault('a control plane asks for a token', remedy);
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^/]/i.test(text) && URL.canParse(text);
}

function acmeOf({ acme, acmeEmail, acmeName = [] }: Flags): AcmeStart | null {
  if (acme === undefined) return null;
  if (acmeName.length === 0) throw usageFault('ACME needs names', 'name each host with --acme-name');
  if (!isHttpUrl(acme)) throw usageFault(`--acme: a directory is an address of http(s), found \`${acme}\``);
  return { directoryUrl: acme, email: acmeEmail ?? null, names: acmeName };
}

function tlsOf(flags: Flags): NodeStart['tls'] {
  const { tlsPort, publicTlsPort, certificates, defaultCertificate } = flags;
  if (certificates === undefined) {
    if (tlsPort === undefined && publicTlsPort === undefined) return null;
    throw usageFault('TLS needs certificates', 'name their folder with --certificates');
  }
  return {
    port: tlsPort ?? 8443,
    publicPort: publicTlsPort ?? null,
    certificates,
    fallback: defaultCertificate ?? null,
    acme: acmeOf(flags),
  };
}

/** The starter signatures, unless others are named; `none` switches signatures off. */
async function openSignatures({ signatures, color }: Flags): Promise<OpenedSignatures | null> {
  if (signatures === 'none') return null;
  const { openSignatureInput, openStarter } = await import('../open-signatures.ts');
  return signatures === undefined ? openStarter() : openSignatureInput(signatures, { color });
}

function gatherPrefix(text: string, gathered: readonly string[] | undefined): readonly string[] {
  const read = parseIpEntry(text);
  if (!read.ok) throw new InvalidArgumentError(`an address or a prefix: ${read.reason}.`);
  return gather(text, gathered);
}

function gatherResolver(text: string, gathered: readonly string[] | undefined): readonly string[] {
  if (parseServerAddress(text) !== null) return gather(text, gathered);
  throw new InvalidArgumentError('an address with an optional port, like `192.0.2.53:53`.');
}

function readCount(fewest: number, most: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    if (count >= fewest && count <= most) return count;
    throw new InvalidArgumentError(`a whole number from ${fewest} to ${most}.`);
  };
}

/** More than one machine has ports and memory for. */
const MOST_CONNECTIONS = 10_000_000;
/** A gigabyte: a file of this size is written for each upload. */
const MOST_BODY_KB = 1_048_576;
/** A day. */
const LONGEST_IDLE_SEC = 86_400;

/** An hour: a rollout that waits longer has forgotten the node. */
const LONGEST_DRAIN_SEC = 3_600;

function readShare(text: string): number {
  const share = /^[01]?(?:\.\d{1,9})?$/.test(text) && text !== '' ? Number(text) : -1;
  if (share >= 0 && share <= 1) return share;
  throw new InvalidArgumentError('a number from 0 to 1.');
}

/** Where a node keeps what it was given, unless told. */
function defaultData(): string {
  return join(process.env.XDG_DATA_HOME ?? join(homedir(), '.local', 'share'), 'edgeplan-node');
}

/** The command, to be added to a program. */
export function nodeCommand(): Command {
  return new Command('node')
    .description('Run an edge node: a reverse proxy that does what plans decide.')
    .option('-f, --file <file>', 'serve this edge file, and its changes')
    .addOption(new Option('--control <url>', 'follow this server').env('EDGEPLAN_CONTROL'))
    .addOption(new Option('--token <token>', 'the node token for --control').env('EDGEPLAN_NODE_TOKEN'))
    .addOption(
      new Option('--token-file <file>', 'a file with the token, read again when it changes')
        .env('EDGEPLAN_NODE_TOKEN_FILE')
        .conflicts('token'),
    )
    .addOption(
      new Option('--trust <key>', 'believe only this key; without it, the first one met').env(
        'EDGEPLAN_NODE_TRUST',
      ),
    )
    .addOption(
      new Option('--data <folder>', 'where plans and the cache are kept')
        .default(defaultData())
        .env('EDGEPLAN_NODE_DATA'),
    )
    .addOption(new Option('--host <address>', 'where to listen').default('127.0.0.1').env('EDGEPLAN_HOST'))
    .addOption(new Option('--port <number>', 'the port for HTTP').argParser(readPort).default(8080))
    .addOption(
      new Option(
        '--tls-port <number>',
        'the port for HTTPS (default: 8443 where --certificates is given)',
      ).argParser(readPort),
    )
    .option('--certificates <folder>', 'certificates and their keys, `name.crt` beside `name.key`')
    .option(
      '--default-certificate <name>',
      'the certificate for names that have none, and for clients that name no host',
    )
    .option('--acme <url>', 'obtain certificates by ACME (HTTP-01) from this directory')
    .option('--acme-email <address>', 'where the authority may write to')
    .addOption(
      new Option('--acme-name <host>', 'a host to hold a certificate for; may be repeated').argParser(gather),
    )
    .option('--countries <file>', "a country database in MaxMind's format")
    .option('--bot-ranges <folder>', 'address ranges that bots publish, `googlebot.json` and the like')
    .addOption(
      new Option(
        '--public-port <number>',
        'the port for HTTP as visitors know it, behind a load balancer',
      ).argParser(readCount(1, 65_535)),
    )
    .addOption(new Option('--public-tls-port <number>', 'the same for HTTPS').argParser(readCount(1, 65_535)))
    .addOption(
      new Option('--trust-proxy <prefix>', 'believe X-Forwarded-* of these; may be repeated').argParser(
        gatherPrefix,
      ),
    )
    .addOption(
      new Option('--proxy-protocol <prefix>', 'these speak the PROXY protocol; may be repeated').argParser(
        gatherPrefix,
      ),
    )
    .addOption(
      new Option('--cache-memory <megabytes>', 'memory for cached answers; 0: no cache')
        .argParser(readCount(0, 1_048_576))
        .default(256),
    )
    .option('--no-disk-cache', 'keep cached answers in memory only')
    .option(
      '--signatures <path>',
      'signatures of waf rules: sealed, a directory, or `none` (default: the starter set)',
    )
    .option('--log <file>', 'the decision log, one JSON object a line; `-` is stdout')
    .addOption(
      new Option('--log-rate <share>', 'the share of plain answers that is logged; the rest always is')
        .argParser(readShare)
        .default(0.01),
    )
    .addOption(
      new Option('--ops-port <number>', 'the port of /healthz, /readyz and /metrics, on 127.0.0.1').argParser(
        readPort,
      ),
    )
    .addOption(new Option('--node-id <number>', 'this node in geo pools').argParser(readNodeId))
    .addOption(
      new Option('--origin-connections <number>', 'connections to one origin at most')
        .argParser(readCount(1, 65_535))
        .default(256),
    )
    .addOption(
      new Option(
        '--max-connections <number>',
        'connections of clients at most; one more is closed, and idle ones are ended before that',
      )
        .argParser(readCount(1, MOST_CONNECTIONS))
        .default(MAX_CONNECTIONS),
    )
    .addOption(
      new Option('--max-connections-per-address <number>', 'the same of one address, or of one IPv6 /64')
        .argParser(readCount(1, MOST_CONNECTIONS))
        .default(MAX_ADDRESS_CONNECTIONS),
    )
    .addOption(
      new Option('--max-websockets <number>', 'WebSockets at most; one more is answered 503')
        .argParser(readCount(1, MOST_CONNECTIONS))
        .default(MAX_WEBSOCKETS),
    )
    .addOption(
      new Option('--workers <number>', WORKERS_HELP)
        .argParser(readWorkers)
        .default(1)
        .env('EDGEPLAN_WORKERS'),
    )
    .addOption(
      new Option(
        '--body-buffer <kilobytes>',
        'read a request body of up to so much before a connection to its origin is taken; longer ones stream',
      )
        .argParser(readCount(0, MOST_BODY_KB))
        .default(BODY_OCTETS / 1024),
    )
    .addOption(
      new Option(
        '--buffer-disk <megabytes>',
        'disk under --data for bodies of slow clients; 0: their origins wait for them',
      )
        .argParser(readCount(0, 1_048_576))
        .default(DISK_OCTETS / 1024 / 1024),
    )
    .addOption(
      new Option(
        '--min-rate <octets>',
        'end clients that send or take fewer octets a second over 10 s, after the first 5 s; 0: none',
      )
        .argParser(readCount(0, 1_000_000_000))
        .default(RATE.minRate),
    )
    .option(
      '--keep-underscores',
      'pass headers with `_` in their names on to origins, which may read it as `-`',
    )
    .option('--any-certificate', 'take any certificate of an origin')
    .addOption(allowOriginsOption())
    .addOption(
      new Option(
        '--resolver <address>',
        'a DNS resolver to ask for origins and bots; may be repeated (default: the system)',
      ).argParser(gatherResolver),
    )
    .addOption(
      new Option('--websocket-idle <seconds>', 'end a WebSocket that has carried nothing for so long')
        .argParser(readCount(1, LONGEST_IDLE_SEC))
        .default(60),
    )
    .addOption(
      new Option(
        '--drain <seconds>',
        'after SIGTERM, serve on for so long while /readyz answers 503 and clients are asked to leave',
      )
        .argParser(readCount(0, LONGEST_DRAIN_SEC))
        .default(DRAIN_SECONDS)
        .env('EDGEPLAN_DRAIN'),
    )
    .addOption(
      new Option('--log-level <level>', 'what is logged to stderr').choices(LOG_LEVELS).default('warn'),
    )
    .addOption(colourOption())
    .action(run);
}

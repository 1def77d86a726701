/**
 * Translates the flags of `edgeplan node` into the options of `edge/node/start-node.ts`, and checks what one flag demands of
 * another. In: flags as commander parsed them. Out: options, or a CommandFault that names the flag.
 */
import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import type { Logger } from 'pino';
import {
  type EdgeNodeOptions,
  HTTPS,
  type NodeAcmeOptions,
  type NodeSignatures,
  type NodeTlsOptions,
  OPERATIONS,
  type PlanOrigin,
} from '../edge/node/options.ts';
import { inputFault, readFault, reasonOf, usageFault } from './exit.ts';
import type { NodeFlags } from './node-options.ts';
import { collectorOf, requirePackages } from './options.ts';
import type { ColourChoice } from './output.ts';
import type { InstalledFile } from './watch-file.ts';

/** A node token as text, or the file that contains it. */
type TokenFlag =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly file: string };

/** Where the flags say that plans come from. */
export type PlanFlags =
  | { readonly kind: 'file'; readonly file: string; readonly colour: ColourChoice }
  | {
      readonly kind: 'control';
      readonly url: string;
      readonly token: TokenFlag;
      /** `null`: trust on first use. */
      readonly publicKey: string | null;
    };

/** Receivers of what happens to an edge file that is followed. */
export interface EdgeFileListeners {
  readonly onInstalled: (installed: InstalledFile) => void;
  readonly onRefused: (fault: Error) => void;
}

/** What the flags alone determine; files are not opened. */
export type NodeSettings = Omit<
  EdgeNodeOptions,
  | 'plans'
  | 'signatures'
  | 'version'
  | 'log'
  | 'onWorkerEvent'
  | 'onCaughtUp'
  | 'onTokenRefused'
  | 'sockets'
  | 'handed'
>;

/**
 * @param inherited names of listeners whose sockets exist: they are configured without a port
 * @throws CommandFault when flags contradict each other or one is missing
 */
export function settingsOf(flags: NodeFlags, inherited: ReadonlySet<string> = new Set()): NodeSettings {
  return {
    host: flags.host,
    port: flags.port,
    tls: tlsOf(flags, inherited.has(HTTPS)),
    publicPort: flags.publicPort ?? null,
    trusted: flags.trustProxy ?? [],
    proxies: flags.proxyProtocol ?? [],
    data: flags.data,
    cacheOctets: flags.cacheMemory * 1024 * 1024,
    diskCache: flags.diskCache,
    countries: flags.countries ?? null,
    asns: flags.asns ?? null,
    botRanges: flags.botRanges ?? null,
    nodeId: flags.nodeId ?? null,
    perOrigin: flags.originConnections,
    maxConnections: flags.maxConnections,
    maxAddressConnections: flags.maxConnectionsPerAddress,
    maxWebsockets: flags.maxWebsockets,
    anyCertificate: flags.anyCertificate === true,
    // An edge file is the operator's own: its origins may be on this machine or in a private network.
    allowedOrigins: { prefixes: flags.allowOrigins ?? [], local: flags.file !== undefined },
    resolvers: flags.resolver ?? [],
    requestIdleMs: flags.idle * 1_000,
    websocketIdleMs: flags.websocketIdle * 1_000,
    keepUnderscores: flags.keepUnderscores === true,
    bodyOctets: flags.bodyBuffer * 1024,
    bufferOctets: flags.bufferDisk * 1024 * 1024,
    minRate: flags.minRate,
    decisions: flags.log === undefined ? null : { file: flags.log, rate: flags.logRate },
    shipped: flags.shipLogs ? { rate: flags.logRate, linesPerSec: flags.shipLines } : null,
    operationsPort: flags.opsPort ?? (inherited.has(OPERATIONS) ? 0 : null),
    operationsAddress: flags.opsAddress,
    collector: collectorOf(flags),
    workers: flags.workers,
  };
}

/** @throws CommandFault when the flags name no source of plans, or two, or a control plane without a token */
export function planFlagsOf({
  file,
  control,
  token: text,
  tokenFile,
  trust,
  color,
}: Pick<NodeFlags, 'file' | 'control' | 'token' | 'tokenFile' | 'trust' | 'color'>): PlanFlags {
  if (file !== undefined && control !== undefined) {
    throw usageFault('a node has its plans from a file or from a control plane, not from both');
  }
  if (file !== undefined) return { kind: 'file', file, colour: color };
  if (control === undefined) {
    throw usageFault('a node needs plans', 'give it an edge file with --file, or a server with --control');
  }
  checkControlUrl(control);
  return { kind: 'control', url: control, token: tokenOf(text, tokenFile), publicKey: trust ?? null };
}

/** @throws CommandFault unless the value of `--control` is an address of HTTP */
export function checkControlUrl(control: string): void {
  if (isHttpUrl(control)) return;
  throw usageFault(`a control plane is written http://host:port, found \`${control}\``);
}

/**
 * Opens the token file, or prepares to follow the edge file.
 * @throws CommandFault when the token file has no token
 */
export async function openPlanOrigin(
  flags: PlanFlags,
  { log, onInstalled, onRefused }: EdgeFileListeners & { readonly log: Logger },
): Promise<PlanOrigin> {
  if (flags.kind === 'file') {
    const { file, colour } = flags;
    const { serveEdgeFile } = await import('./watch-file.ts');
    return {
      kind: 'file',
      follow: (plans) => serveEdgeFile({ file, colour, plans, onInstalled, onRefused }),
    };
  }
  const { kind, url, token, publicKey } = flags;
  if (token.kind === 'text') return { kind, url, publicKey, token: () => token.text };
  const { read } = openTokenFile(token.file, (sentence) => log.warn(sentence));
  return { kind, url, publicKey, token: read };
}

/** Opens the signatures of `waf` rules: the starter set by default; `null` for `none`. */
export async function openNodeSignatures({
  signatures,
  color,
}: Pick<NodeFlags, 'signatures' | 'color'>): Promise<NodeSignatures | null> {
  if (signatures === 'none') return null;
  const { openSignatureInput, openStarter } = await import('./open-signatures.ts');
  // An empty environment variable counts as none.
  return signatures === undefined || signatures === ''
    ? openStarter()
    : openSignatureInput(signatures, { color });
}

function tokenOf(text: string | undefined, file: string | undefined): TokenFlag {
  if (file !== undefined) return { kind: 'file', file };
  if (text !== undefined && text !== '') {
    checkToken(text);
    return { kind: 'text', text };
  }
  const remedy =
    'edgeplan node-token create <name> makes one; give it in EDGEPLAN_NODE_TOKEN, with --token-file or with --token';
  throw usageFault('a control plane asks for a token', remedy);
}

function tlsOf(flags: NodeFlags, isInherited: boolean): NodeTlsOptions | null {
  const { tlsPort, publicTlsPort, certificates, defaultCertificate, control } = flags;
  const hasPort = tlsPort !== undefined || publicTlsPort !== undefined || isInherited;
  if (certificates === undefined && !hasPort) return null;
  if (certificates === undefined && control === undefined) {
    throw usageFault(
      'TLS needs certificates',
      'name their folder with --certificates, or follow a server with --control, which sends those of its domains',
    );
  }
  const fallback = defaultCertificate ?? null;
  return {
    port: tlsPort ?? 8443,
    publicPort: publicTlsPort ?? null,
    folder: certificates === undefined ? null : { certificates, fallback },
    acme: acmeOf(flags),
  };
}

function acmeOf({ acme, acmeEmail, acmeName = [] }: NodeFlags): NodeAcmeOptions | null {
  if (acme === undefined) return null;
  if (acmeName.length === 0) throw usageFault('ACME needs names', 'name each host with --acme-name');
  if (!isHttpUrl(acme)) throw usageFault(`--acme: a directory is an address of http(s), found \`${acme}\``);
  requirePackages('acme', '--acme');
  return { directoryUrl: acme, email: acmeEmail ?? null, names: acmeName };
}

export function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^/]/i.test(text) && URL.canParse(text);
}

// What is sent to a control plane without encryption.

interface ControlAddress {
  readonly url: string;
  /** `null`: trust on first use. */
  readonly publicKey: string | null;
}

/** Sentences for stderr; none when the connection stays on this machine or is encrypted. */
export function plainControlLines({ url, publicKey }: ControlAddress): readonly string[] {
  const { protocol, hostname, origin } = new URL(url);
  if (protocol === 'https:' || isThisMachine(hostname)) return [];
  const lines = [
    `\`${origin}\` is reached without TLS: the network can read this node's token and the clearance secrets; an https:// address encrypts them`,
  ];
  if (publicKey === null) {
    lines.push(
      `the plans cannot be authenticated on first use: the first key that \`${origin}\` presents is trusted; --trust pins the right one`,
    );
  }
  return lines;
}

/** Loopback addresses, and the names that RFC 6761 §6.3 reserves for them. */
function isThisMachine(hostname: string): boolean {
  if (isIPv4(hostname)) return hostname.startsWith('127.');
  return hostname === '[::1]' || hostname === 'localhost' || hostname.endsWith('.localhost');
}

// Refuses flags of `edgeplan node` that have no effect without another one. In: the flags, and which of them are on the
// command line. Out: nothing, or a CommandFault that names both.

/** Flags by their name in `NodeFlags`, the one that they need, and what to do. */
interface Need {
  readonly needed: 'control' | 'certificates' | 'acme' | 'otlp' | 'opsPort';
  readonly flags: Readonly<Partial<Record<keyof NodeFlags, string>>>;
  readonly remedy: string;
}

const NEEDS: readonly Need[] = [
  {
    needed: 'control',
    flags: {
      token: '--token',
      tokenFile: '--token-file',
      trust: '--trust',
      shipLogs: '--no-ship-logs',
      shipLines: '--ship-lines',
    },
    remedy: 'leave it out with --file, or name the server with --control in place of --file',
  },
  {
    needed: 'certificates',
    flags: {
      acme: '--acme',
      acmeName: '--acme-name',
      acmeEmail: '--acme-email',
      defaultCertificate: '--default-certificate',
    },
    remedy: 'name the folder of certificates, which ACME writes to as well',
  },
  {
    needed: 'acme',
    flags: { acmeName: '--acme-name', acmeEmail: '--acme-email' },
    remedy: 'name the directory of a certificate authority',
  },
  {
    needed: 'otlp',
    flags: { traceRatio: '--trace-ratio' },
    remedy: 'name the OpenTelemetry collector',
  },
  {
    needed: 'opsPort',
    flags: { opsAddress: '--ops-address' },
    remedy: 'name the port of the health and metrics listener',
  },
];

/**
 * @param isTyped whether a flag is on the command line: a variable of the environment may be meant for other commands
 * @throws CommandFault at the first flag without effect
 */
export function checkUnreadFlags(flags: NodeFlags, isTyped: (name: string) => boolean): void {
  for (const need of NEEDS) {
    if (flags[need.needed] !== undefined) continue;
    for (const [name, flag] of Object.entries(need.flags)) {
      if (isTyped(name)) {
        const needed = need.needed === 'opsPort' ? 'ops-port' : need.needed;
        throw usageFault(`${flag} has no effect without --${needed}`, need.remedy);
      }
    }
  }
}

// A node token in a file, read for each request to the control plane: a rotated token needs no restart.

/** The token alone, or the line that `edgeplan node-token` prints. */
const TOKEN = /(?:^|=)(edn_[A-Za-z0-9_-]{43})\s*$/m;
/** Octets of the file that are searched: several times the output of `edgeplan node-token create`. */
const MAX_FILE_OCTETS = 4_096;

/**
 * Checks a token from EDGEPLAN_NODE_TOKEN or `--token`; the message does not repeat it.
 * @throws CommandFault unless it has the form of one
 */
function checkToken(text: string): void {
  if (TOKEN.exec(text)?.[1] === text) return;
  const found = /[\r\n]/.test(text) ? 'several lines' : `${text.length} characters of another form`;
  throw usageFault(
    `EDGEPLAN_NODE_TOKEN, or --token: a node token is \`edn_\` and 43 characters, found ${found}`,
    'edgeplan node-token create prints it after `EDGEPLAN_NODE_TOKEN=`, and the key as EDGEPLAN_NODE_TRUST; a file of both lines goes with --token-file',
  );
}

/** A token file that had a token at the start. */
export interface TokenFile {
  /** The current token; while the file cannot be read or has none, the last one that was read. */
  read(): string;
}

/**
 * Reads the file once.
 * @param onProblem called with a sentence when the file loses its token, once for each problem
 * @throws CommandFault when there is no token in the file now
 */
export function openTokenFile(file: string, onProblem: (sentence: string) => void): TokenFile {
  let token = firstToken(file);
  let problem: string | null = null;

  function report(sentence: string): void {
    if (sentence !== problem) onProblem(`the token file ${sentence}; the last good token is used`);
    problem = sentence;
  }

  return {
    read() {
      try {
        const current = findToken(file);
        if (current === null) report(`\`${file}\` has no node token`);
        else [token, problem] = [current, null];
      } catch (error) {
        report(`\`${file}\` cannot be read: ${reasonOf(error)}`);
      }
      return token;
    },
  };
}

function firstToken(file: string): string {
  let token: string | null;
  try {
    token = findToken(file);
  } catch (error) {
    throw readFault(file, error);
  }
  if (token !== null) return token;
  throw inputFault(`--token-file: \`${file}\` has no node token`, {
    remedy: 'write into it what edgeplan node-token create or rotate prints',
  });
}

/** The token in the file; `null` when the file has none. @throws the system's error when it cannot be read */
function findToken(file: string): string | null {
  return TOKEN.exec(readFileSync(file).toString('latin1', 0, MAX_FILE_OCTETS))?.[1] ?? null;
}

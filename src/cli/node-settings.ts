/**
 * Translates the flags of `edgeplan node` into the options of `edge/node/start-node.ts`, and checks what one flag demands of
 * another. In: flags as commander parsed them. Out: options, or a CommandFault that names the flag.
 */
import type { Logger } from 'pino';
import type {
  EdgeNodeOptions,
  NodeAcmeOptions,
  NodeSignatures,
  NodeTlsOptions,
  PlanOrigin,
} from '../edge/node/options.ts';
import { usageFault } from './exit.ts';
import type { NodeFlags } from './node-options.ts';
import { collectorOf } from './options.ts';
import type { ColourChoice } from './output.ts';
import { checkToken, openTokenFile } from './token-file.ts';
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
  'plans' | 'signatures' | 'version' | 'log' | 'onWorkerEvent' | 'onCaughtUp' | 'onTokenRefused'
>;

/** @throws CommandFault when flags contradict each other or one is missing */
export function settingsOf(flags: NodeFlags): NodeSettings {
  return {
    host: flags.host,
    port: flags.port,
    tls: tlsOf(flags),
    publicPort: flags.publicPort ?? null,
    trusted: flags.trustProxy ?? [],
    proxies: flags.proxyProtocol ?? [],
    data: flags.data,
    cacheOctets: flags.cacheMemory * 1024 * 1024,
    diskCache: flags.diskCache,
    countries: flags.countries ?? null,
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
    operationsPort: flags.opsPort ?? null,
    collector: collectorOf(flags),
    workers: flags.workers,
  };
}

/** @throws CommandFault when the flags name no source of plans, or two, or a control plane without a token */
export function planFlagsOf({ file, control, token: text, tokenFile, trust, color }: NodeFlags): PlanFlags {
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
export async function openNodeSignatures({ signatures, color }: NodeFlags): Promise<NodeSignatures | null> {
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

function tlsOf(flags: NodeFlags): NodeTlsOptions | null {
  const { tlsPort, publicTlsPort, certificates, defaultCertificate, control } = flags;
  const hasPort = tlsPort !== undefined || publicTlsPort !== undefined;
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
  return { directoryUrl: acme, email: acmeEmail ?? null, names: acmeName };
}

export function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^/]/i.test(text) && URL.canParse(text);
}

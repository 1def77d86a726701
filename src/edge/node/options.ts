/** The options that an edge node is started with, and the handle of a running one. Signals and printing are the command's. */
import type { Logger } from 'pino';
import type { AllowedOrigins } from '../../base/addresses/special-addresses.ts';
import type { WatchedFile } from '../../base/platform/watched-file.ts';
import type { CollectorOptions } from '../../base/telemetry/spans.ts';
import type { SignatureProgram } from '../../engine/plan/signature-program.ts';
import type { PlanSink } from '../following/plan-table.ts';
import type { SyncOptions } from '../following/sync-run.ts';
import type { InheritedSockets, OpenSocket } from '../handover/sockets.ts';
import type { WorkerEvent } from '../workers/messages.ts';
import type { HandedState, NodeReport, ReportSink } from './handed-state.ts';

/** A folder of certificates with their keys, `name.crt` beside `name.key`. */
export interface CertificateFolder {
  /** The folder's path. */
  readonly certificates: string;
  /** Name whose certificate a client without SNI gets; `null`: such a handshake fails. */
  readonly fallback: string | null;
}

/** The TLS listener and its certificates. */
export interface NodeTlsOptions {
  /** `null`: certificates come from the control plane only. */
  readonly folder: CertificateFolder | null;
  /** TCP port; 0: any free one. */
  readonly port: number;
  /** Port in the URLs of visitors, behind a load balancer; `null`: the port listened on. */
  readonly publicPort: number | null;
  /** What to order into the folder; `null`: nothing. */
  readonly acme: NodeAcmeOptions | null;
}

/** What to order by ACME (RFC 8555), with HTTP-01 challenges. */
export interface NodeAcmeOptions {
  readonly directoryUrl: string;
  /** Contact address of the ACME account. */
  readonly email: string | null;
  /** Hosts, one certificate each. */
  readonly names: readonly string[];
}

/** Settings of request handling, the same in every process of a node; counts and sizes are of the whole node. */
export interface ServingOptions {
  /** Prefixes of proxies whose `Forwarded` and `X-Forwarded-*` are believed. */
  readonly trusted: readonly string[];
  /** Prefixes of peers that send a PROXY protocol header. */
  readonly proxies: readonly string[];
  /** Octets of memory for cached responses; 0: no cache. */
  readonly cacheOctets: number;
  /** Path of a country database in MaxMind's format; `null`: countries are unknown. */
  readonly countries: string | null;
  /** Path of a database of autonomous systems in the same format; `null`: they are those of `countries`, if it has any. */
  readonly asns: string | null;
  /** Path of a folder with address ranges that operators of bots publish; `null`: none. */
  readonly botRanges: string | null;
  /** This node in geo pools. */
  readonly nodeId: number | null;
  /** Most connections to one origin. */
  readonly perOrigin: number;
  /** Accepts any certificate of an origin. */
  readonly anyCertificate: boolean;
  /** Special addresses (RFC 6890) that origins may have. */
  readonly allowedOrigins: AllowedOrigins;
  /** Addresses of DNS resolvers, with an optional port each; empty: the system's. */
  readonly resolvers: readonly string[];
  /** Most connections of clients, in total. */
  readonly maxConnections: number;
  /** Most connections of one client address, or of one IPv6 /64. */
  readonly maxAddressConnections: number;
  readonly maxWebsockets: number;
  /** Milliseconds without an octet either way after which a request ends whose record has no `timeout`. */
  readonly requestIdleMs: number;
  /** Milliseconds without a frame after which a WebSocket is closed. */
  readonly websocketIdleMs: number;
  /** Forwards header fields with `_` in their names. */
  readonly keepUnderscores: boolean;
  /** Octets of a request body that are buffered before a connection to its origin is taken. */
  readonly bodyOctets: number;
  /** Octets of disk for bodies of slow clients; 0: none. */
  readonly bufferOctets: number;
  /** Octets a second below which a client is disconnected; 0: no limit. */
  readonly minRate: number;
}

/** A sealed signature program and its opened form. */
export interface NodeSignatures {
  readonly program: SignatureProgram;
  /** The program's octets; serialised at the call. */
  sealed(): Uint8Array;
}

/** Where a node's plans come from. */
export type PlanOrigin =
  | {
      readonly kind: 'file';
      /** Installs the plan of an edge file and follows its changes; rejects when the file cannot be served now. */
      readonly follow: (plans: PlanSink) => Promise<WatchedFile>;
    }
  | {
      readonly kind: 'control';
      readonly url: string;
      /** The node token; called for each request to the control plane. */
      readonly token: () => string;
      /** The control plane's key (SubjectPublicKeyInfo in base64); `null`: trust on first use. */
      readonly publicKey: string | null;
    };

/** Everything that `startNode` needs. */
export interface EdgeNodeOptions extends ServingOptions {
  /** Address of the listeners. */
  readonly host: string;
  /** TCP port for HTTP; 0: any free one. */
  readonly port: number;
  /** As `NodeTlsOptions.publicPort`, for HTTP. */
  readonly publicPort: number | null;
  /** `null`: no TLS listener. */
  readonly tls: NodeTlsOptions | null;
  /** The node's own folder: plans, cache, identity. */
  readonly data: string;
  readonly plans: PlanOrigin;
  /** Whether cached responses go to disk too. */
  readonly diskCache: boolean;
  /** `null`: `waf` rules match and inspect nothing. */
  readonly signatures: NodeSignatures | null;
  /**
   * The decision log: a path, or `-` for stdout, and the share (0 to 1) of plain responses that is logged.
   * `null`: no log.
   */
  readonly decisions: { readonly file: string; readonly rate: number } | null;
  /** Which decisions are shipped to the control plane; `null`: none. Without a control plane it has no effect. */
  readonly shipped: ShippedOptions | null;
  /** TCP port of the health and metrics listener; `null`: no such listener. */
  readonly operationsPort: number | null;
  /** Address of that listener. */
  readonly operationsAddress: string;
  /** Sockets that listen already, by the names of `LISTENER_NAMES`; the others are opened. */
  readonly sockets: InheritedSockets;
  /** What an earlier process of the node has handed over; `null`: the node starts from its folder alone. */
  readonly handed: HandedState | null;
  /** Where spans and metrics go by OTLP; `null`: nowhere. */
  readonly collector: CollectorOptions | null;
  readonly log: Logger;
  /** The version of edgeplan, for `edgeplan_build_info`. */
  readonly version: string;
  /** Processes that serve: 1, or up to `MAX_WORKERS` besides a primary. */
  readonly workers: number;
  /** Called with worker events once the node has started. */
  readonly onWorkerEvent: (event: WorkerEvent) => void;
  /** Called once the control plane's plans of the start are installed. */
  readonly onCaughtUp: NonNullable<SyncOptions['onCaughtUp']>;
  /** Called with a sentence when the control plane refuses the token. */
  readonly onTokenRefused: NonNullable<SyncOptions['onTokenRefused']>;
}

/** The decisions that are shipped to the control plane: all that are worth reading later, and a share of the others. */
export interface ShippedOptions {
  /** The share (0 to 1) of plain responses that is shipped. */
  readonly rate: number;
  /** Lines of one domain a second, of all processes; 0: none, what is worth reading later is only counted. */
  readonly linesPerSec: number;
}

/**
 * Milliseconds that a process serves its connections after another has taken over, at least: a connection that is idle for so long
 * has no request under way that its end would cut off.
 */
export const QUIET_MS = 1_000;

/** Names of listeners: of their sockets, and of the connections that workers get. */
export const HTTP = 'http';
export const HTTPS = 'https';
/** The health and metrics listener. */
export const OPERATIONS = 'ops';

/** The listeners of a node, in the order of descriptors without names. */
export const LISTENER_NAMES = [HTTP, HTTPS, OPERATIONS] as const;

/** A node that serves. */
export interface RunningNode {
  /** `http://address:port` of the HTTP listener. */
  readonly url: string;
  /** `null` without TLS. */
  readonly tlsUrl: string | null;
  /** `null` without a health and metrics listener. */
  operationsUrl(): string | null;
  /**
   * Opens the health and metrics listener of a node that takes over, whose probes the process before answers until then. Of
   * others it is open from the start.
   */
  openOperations(): Promise<void>;
  /** Why no traffic should be sent here, as `/readyz` says; `null`: the node is ready. */
  unready(): string | null;
  /** The listening sockets. */
  sockets(): readonly OpenSocket[];
  /**
   * Stops what one process of a folder may do: follows no control plane, orders no certificates, reports no cache, writes no
   * cached response, releases the folder. Requests are served on. @returns the state for the next process
   * @param report sends what is counted of visitors after that state
   */
  release(report: ReportSink): Promise<HandedState>;
  /** Starts again what `release` has stopped. @throws StoreFault when another process has the folder */
  reclaim(): Promise<void>;
  /**
   * Stops listening and drains as `stop`, for at least `QUIET_MS`; what is still counted goes to `report`.
   * @param report sends to the process that has taken over
   */
  leave(drainMs: number, report: ReportSink): Promise<void>;
  /** Takes what the process before still counts. */
  absorb(report: NodeReport): void;
  /** Opens the decision log again and reads changed files (certificates, countries, ranges, plans); for SIGHUP. */
  reload(): void;
  /**
   * Reports itself not ready and asks clients to close their connections while it serves for `drainMs` more; then lets
   * requests end within `GRACE_MS`, reports the counted traffic, and closes everything. A second call ends the drain.
   */
  stop(drainMs: number): Promise<void>;
}

/** Logs each reading that rejects; what could not be read is served in its last good version. */
export function reportReloads(log: Logger, readings: readonly Promise<unknown>[]): void {
  for (const reading of readings) {
    reading.catch((error: unknown) =>
      log.warn({ err: error }, 'a file cannot be read again; its last good version is served'),
    );
  }
}

/** What `edgeplan node` is started with, and what is running then. */
import type { Logger } from 'pino';
import type { AllowedOrigins } from '../../base/special-addresses.ts';
import type { SyncOptions } from '../../sync/options.ts';
import type { OpenedSignatures } from '../open-signatures.ts';
import type { ColourChoice } from '../output.ts';
import type { InstalledFile } from '../watch-file.ts';

/** A folder of certificates and keys. */
export interface CertificateFolder {
  readonly certificates: string;
  /** The name whose certificate clients get that name no host. */
  readonly fallback: string | null;
}

export interface TlsStart extends CertificateFolder {
  readonly port: number;
  readonly publicPort: number | null;
  /** `null`: certificates come as files only. */
  readonly acme: AcmeStart | null;
}

export interface AcmeStart {
  readonly directoryUrl: string;
  readonly email: string | null;
  readonly names: readonly string[];
}

/** What a node serves by, whichever of its processes does. */
export interface NodeServeOptions {
  /** Whose forwarding headers are believed. */
  readonly trusted: readonly string[];
  /** Who speaks the PROXY protocol. */
  readonly proxies: readonly string[];
  /** Octets of memory for cached answers; 0: no cache. */
  readonly cacheOctets: number;
  /** A country database in MaxMind's format, and a folder of ranges that bots' operators publish. */
  readonly countries: string | null;
  readonly botRanges: string | null;
  readonly nodeId: number | null;
  /** Connections to one origin at most. */
  readonly perOrigin: number;
  readonly anyCertificate: boolean;
  /** Special addresses that origins may have. */
  readonly allowedOrigins: AllowedOrigins;
  /** DNS resolvers to ask, addresses with an optional port each; empty: the system's. */
  readonly resolvers: readonly string[];
  /** Connections of clients at most: all, and those of one address. */
  readonly maxConnections: number;
  readonly maxAddressConnections: number;
  readonly maxWebsockets: number;
  /** Milliseconds that a WebSocket may be idle. */
  readonly websocketIdleMs: number;
  /** Passes on headers with `_` in their names. */
  readonly keepUnderscores: boolean;
  /** Octets of a request's body that are read before its origin is asked. */
  readonly bodyOctets: number;
  /** Octets of files in which answers and bodies of slow clients are stored; 0: none. */
  readonly bufferOctets: number;
  /** Octets a second below which a client is ended; 0: none is. */
  readonly minRate: number;
}

/** What a node shows its control plane: a token, or a file that has it. */
export type NodeToken =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly file: string };

export interface NodeStart extends NodeServeOptions {
  readonly host: string;
  /** 0: any free port, here and below. */
  readonly port: number;
  /** The port as visitors know it; `null`: the one listened on. As for TLS. */
  readonly publicPort: number | null;
  /** `null`: no TLS. */
  readonly tls: TlsStart | null;
  /** The node's own folder: plans, cache, identity. */
  readonly data: string;
  readonly plans:
    | { readonly kind: 'file'; readonly file: string; readonly colour: ColourChoice }
    | {
        readonly kind: 'control';
        readonly url: string;
        readonly token: NodeToken;
        readonly publicKey: string | null;
      };
  readonly diskCache: boolean;
  /** `null`: waf rules match and do nothing. */
  readonly signatures: OpenedSignatures | null;
  /** The decision log: a file, or `-` for stdout; `null`: none is written. */
  readonly decisions: { readonly file: string; readonly rate: number } | null;
  /** The operators' listener, always on 127.0.0.1; `null`: none. */
  readonly operationsPort: number | null;
  readonly log: Logger;
  /** Told of every plan that an edge file brought. */
  readonly onInstalled: (installed: InstalledFile) => void;
  readonly onRefused: (fault: Error) => void;
  /** Told what is served once the control plane's plans of the start are in place. */
  readonly onCaughtUp: NonNullable<SyncOptions['onCaughtUp']>;
  /** Told in a sentence that the control plane does not take the token. */
  readonly onTokenRefused: NonNullable<SyncOptions['onTokenRefused']>;
}

export interface RunningNode {
  readonly url: string;
  /** `null` without TLS. */
  readonly tlsUrl: string | null;
  /** `null` without one. */
  readonly operationsUrl: string | null;
  /** After files were changed or moved away: goes on with the decision log in a new one, and looks at all others. */
  reload(): void;
  /**
   * Reports itself not ready and asks clients to leave while it serves on for `drainMs`; then lets requests in flight
   * end, reports to the control plane what it has counted, and ends.
   */
  stop(drainMs: number): Promise<void>;
}

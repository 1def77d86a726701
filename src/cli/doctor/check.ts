/** What a check of `edgeplan doctor` takes and returns. */
import type { SecretsKeyFlags } from '../open-secrets-key.ts';

/** The options that checks read, as commander parses them. */
export interface DoctorFlags extends SecretsKeyFlags {
  /** The address that ports are tried on. */
  readonly host: string;
  /** Ports that must be free; absent: the usual ones. */
  readonly port?: readonly number[];
  /** The port for HTTPS that must be free. */
  readonly tlsPort?: number;
  /** The port of the health and metrics listener that must be free, on loopback. */
  readonly opsPort?: number;
  /** An edge file that a node is to serve. */
  readonly file?: string;
  /** Connections of clients that the node is to serve. */
  readonly maxConnections: number;
  readonly resolver?: readonly string[];
  /** The address of a control plane. */
  readonly control?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  /** The public key of the control plane, in base64. */
  readonly trust?: string;
  /** A folder of certificates. */
  readonly certificates?: string;
}

/**
 * - `fine` nothing to do
 * - `warning` it works, and may not later or not under load
 * - `failure` a server or node that is started like this does not work
 * - `skipped` not checked, for the reason that is found
 */
export type FindingState = 'fine' | 'warning' | 'failure' | 'skipped';

/** One line of the report. */
export interface CheckFinding {
  readonly state: FindingState;
  /** What was found, as a sentence. */
  readonly found: string;
  /** What to do; absent where nothing is to be done. */
  readonly remedy?: string;
}

/** A check. It changes nothing, and works beside a running server. */
export interface Check {
  /** The word at the start of its lines. */
  readonly name: string;
  run(flags: DoctorFlags): Promise<readonly CheckFinding[]>;
}

/** A large size, such as `3.2 GiB`. */
export function gibibytes(octets: number): string {
  return `${(octets / 2 ** 30).toFixed(1)} GiB`;
}

/** The reason of an error as a clause. */
export function reasonText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

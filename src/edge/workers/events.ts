/** Events of worker processes, and the fault of a start. */

/**
 * What happened to a worker, for the log:
 * - `ready`: it accepts connections
 * - `silent`: no heartbeat for so many `checks`; it is killed
 * - `late`: not ready after so many `checks`; it is killed
 * - `ended`: its process ended, `how`; the next one starts after `againInMs` milliseconds
 * - `refused`: so many connections waited too long for it and were closed
 */
export type WorkerEvent =
  | { readonly kind: 'ready'; readonly index: number; readonly pid: number }
  | { readonly kind: 'silent'; readonly index: number; readonly pid: number; readonly checks: number }
  | { readonly kind: 'late'; readonly index: number; readonly pid: number; readonly checks: number }
  | { readonly kind: 'ended'; readonly index: number; readonly how: string; readonly againInMs: number }
  | { readonly kind: 'refused'; readonly index: number; readonly connections: number };

/** A worker ended during the start of the node. */
export class WorkerFault extends Error {
  /** The system's code, such as `ENOENT`; absent: none. */
  readonly code?: string;

  constructor(message: string, code: string | null) {
    super(message);
    this.name = 'WorkerFault';
    if (code !== null) this.code = code;
  }
}

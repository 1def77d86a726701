/** What becomes of workers, for those who watch over them. */

/** What happened to a worker, for the log. */
export type WorkerEvent =
  | { readonly kind: 'ready'; readonly index: number; readonly pid: number }
  | { readonly kind: 'silent'; readonly index: number; readonly pid: number; readonly looks: number }
  | { readonly kind: 'late'; readonly index: number; readonly pid: number; readonly looks: number }
  | { readonly kind: 'ended'; readonly index: number; readonly how: string; readonly againInMs: number }
  | { readonly kind: 'refused'; readonly index: number; readonly connections: number };

/** A worker ended before it was ever ready. */
export class WorkerFault extends Error {
  /** The system's word for what kept it, `ENOENT`; absent: it has none. */
  readonly code?: string;

  constructor(message: string, code: string | null) {
    super(message);
    this.name = 'WorkerFault';
    if (code !== null) this.code = code;
  }
}

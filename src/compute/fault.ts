/** Why a job has no result. */

/**
 * - `unavailable`: no thread was free, the job exceeded a limit, its thread ended, or the server is stopping; the same
 *   job may succeed later
 * - `plan`: this build cannot read the sealed plan, which an earlier version published
 */
export type ComputeFaultCode = 'unavailable' | 'plan';

/** The message is a sentence for the client: lower case, no full stop. */
export class ComputeFault extends Error {
  readonly code: ComputeFaultCode;

  constructor(code: ComputeFaultCode, message: string) {
    super(message);
    this.name = 'ComputeFault';
    this.code = code;
  }
}

/** The fault of every job that is waiting or running when the pool closes. */
export function stoppingFault(): ComputeFault {
  return new ComputeFault('unavailable', 'the server is stopping');
}

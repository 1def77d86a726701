/** Why a job has no result. */
import type { COMPUTE_FAULT_CODES } from '../../base/diagnostics/codes/faults.ts';

/** What failed; `base/diagnostics/codes/faults.ts` has the meanings. */
export type ComputeFaultCode = keyof typeof COMPUTE_FAULT_CODES;

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

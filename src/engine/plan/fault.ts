/** Why bytes are not a plan this build can run. */
export const PLAN_FAULTS = ['truncated', 'not_a_plan', 'version', 'checksum', 'layout'] as const;
/** One of PLAN_FAULTS. */
export type PlanFaultCode = (typeof PLAN_FAULTS)[number];

/** Bytes that cannot be opened as a plan. Never to be taken for "no rules". */
export class PlanFault extends Error {
  readonly code: PlanFaultCode;

  constructor(code: PlanFaultCode, message: string) {
    super(message);
    this.name = 'PlanFault';
    this.code = code;
  }
}

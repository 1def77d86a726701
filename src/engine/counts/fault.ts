/**
 * Why bytes are not sealed counts. `truncated`: they end too early. `version`: another build has sealed them. `checksum`:
 * they are damaged. `layout`: they contain what no count has, such as a rule twice.
 */
export const COUNTS_FAULTS = ['truncated', 'version', 'checksum', 'layout'] as const;
/** One of COUNTS_FAULTS. */
export type CountsFaultCode = (typeof COUNTS_FAULTS)[number];

/** Bytes that cannot be opened as sealed counts. Never to be taken for no traffic. */
export class CountsFault extends Error {
  readonly code: CountsFaultCode;

  constructor(code: CountsFaultCode, message: string) {
    super(message);
    this.name = 'CountsFault';
    this.code = code;
  }
}

/** A fault of the log store, and the refusal of a batch that cannot be right. */

/** `busy`: too many calls wait; `full`: no room; `absent`: entries are not stored here; `unavailable`: the database fails. */
export type LogFaultCode = 'busy' | 'full' | 'absent' | 'unavailable';

/** The log store cannot do what was asked; its message is a sentence for operators and clients. */
export class LogFault extends Error {
  readonly code: LogFaultCode;

  constructor(code: LogFaultCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'LogFault';
    this.code = code;
  }
}

/** A batch that cannot be right; the message names the entry and what is wrong. Nothing of the batch is stored. */
export class LogRefusal extends Error {
  /** 413: it is too large; 400 else. */
  readonly status: 400 | 413;

  constructor(message: string, status: 400 | 413 = 400) {
    super(message);
    this.name = 'LogRefusal';
    this.status = status;
  }
}

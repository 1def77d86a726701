/** Why a report of traffic is refused, and why a roll-up stops. */

/** What a node sent cannot be true. The message names the entry or the field, and the limit. */
export class TrafficRefusal extends Error {
  /** 413: it is too large; 400 else. */
  readonly status: 400 | 413;

  constructor(message: string, status: 400 | 413 = 400) {
    super(message);
    this.name = 'TrafficRefusal';
    this.status = status;
  }
}

/** The thread that opens and merges traffic has failed or is busy; what it was asked for can be tried again. */
export class TrafficFault extends Error {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = 'TrafficFault';
  }
}

/**
 * Why the body of a request does not arrive. `body`: the client has left or broken off within it; `slow`: the client sends below
 * the minimum rate. The codes are those of `ResponseFault`.
 */
export class BodyFault extends Error {
  readonly code: 'body' | 'slow';
  constructor(code: 'body' | 'slow', message: string) {
    super(message);
    this.code = code;
  }
}

/** The fault of a client that leaves within its body. */
export function brokenOff(): BodyFault {
  return new BodyFault('body', 'the client broke off within its body');
}

/** The fault of a slow client. @param rate the sentence that a pace reports */
export function tooSlow(rate: string): BodyFault {
  return new BodyFault('slow', `the client sends ${rate}`);
}

/** Why a request's body does not come: `body` the client broke off, `slow` it sends below the minimum rate. */
export class BodyFault extends Error {
  readonly code: 'body' | 'slow';
  constructor(code: 'body' | 'slow', message: string) {
    super(message);
    this.code = code;
  }
}

export function brokenOff(): BodyFault {
  return new BodyFault('body', 'the client broke off within its body');
}

/** @param rate what the client's rate was, as a pace reports it */
export function tooSlow(rate: string): BodyFault {
  return new BodyFault('slow', `the client sends ${rate}`);
}

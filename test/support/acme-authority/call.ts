/** What an endpoint is called with, and what it answers. */
import { Problem } from './problem.ts';
import type { Payload, Signer } from './signed-request.ts';
import type { Account } from './state.ts';

export interface Call {
  /** The address of the request. */
  readonly url: string;
  /** `null`: POST-as-GET, and requests that are not signed. */
  readonly payload: Payload | null;
  /** `null`: the request is not signed. */
  readonly signer: Signer | null;
}

export interface Answer {
  readonly status: number;
  /** Text is sent as it is, with the type that `headers` name; anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | number>>;
}

/** The account that signed; throws if the request names a key instead. */
export function accountOf({ signer }: Call): Account {
  if (signer === null || signer.account === null)
    throw new Problem('malformed', { detail: 'the request must name its account' });
  return signer.account;
}

/** What an account may read; throws 404 for what does not exist and what belongs to another. */
export function owned<T extends { readonly account: Account }>(found: T | undefined, call: Call): T {
  const account = accountOf(call);
  if (found === undefined || found.account !== account)
    throw new Problem('malformed', { detail: `nothing is at \`${call.url}\``, status: 404 });
  return found;
}

/**
 * Bounds the memory that large bodies take (`BodyReader` kind `large`): how many are in the process at the same time, and how many of
 * them of one account. A request counts from its admission, before its body is read, to its end.
 */
import type { IncomingHttpHeaders } from 'node:http';
import {
  LARGE_BODY_RETRY_S,
  MAX_LARGE_BODIES,
  MAX_LARGE_BODIES_OF_ACCOUNT,
  READ_AT_ONCE_OCTETS,
} from './limits.ts';
import { Refusal } from './refusal.ts';

/** Content types of YAML: that of RFC 9512 first, then those that were usual before it. */
export const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'] as const;

export interface LargeBodies {
  /** Counts a request; the returned function ends it. @throws Refusal 429 or 503 beyond the bounds */
  enter(account: number): () => void;
}

/** Whether a body may be longer than those that need no bound: its length is unknown, or above `READ_AT_ONCE_OCTETS`. */
export function mayBeLarge(headers: IncomingHttpHeaders): boolean {
  const { 'content-length': length } = headers;
  return length === undefined ? 'transfer-encoding' in headers : Number(length) > READ_AT_ONCE_OCTETS;
}

export function createLargeBodies(): LargeBodies {
  const byAccount = new Map<number, number>();
  let all = 0;
  return {
    enter(account) {
      const own = byAccount.get(account) ?? 0;
      const headers = { 'retry-after': String(LARGE_BODY_RETRY_S) };
      if (own >= MAX_LARGE_BODIES_OF_ACCOUNT) {
        const message = `${own} requests of this account with large bodies are running, which is the limit`;
        throw new Refusal(429, message, headers);
      }
      if (all >= MAX_LARGE_BODIES) {
        throw new Refusal(503, `${all} requests with large bodies are running, which is the limit`, headers);
      }
      byAccount.set(account, own + 1);
      all += 1;
      return () => {
        all -= 1;
        const left = (byAccount.get(account) ?? 1) - 1;
        if (left === 0) byAccount.delete(account);
        else byAccount.set(account, left);
      };
    },
  };
}

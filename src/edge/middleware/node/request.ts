/** Prepares a forwarded request for the application: rewritten target, without the edge's cookies and untrusted headers. */

import type { ClientRequest } from '../../../base/http/client-messages.ts';
import { forwardedTarget } from '../../answers/decided.ts';
import { isForwarding } from '../../answers/forwarding.ts';
import type { Exchange } from '../../proxy/exchange.ts';
import type { Challenges } from '../../proxy/services.ts';

/** What the preparation needs. */
export interface Preparing {
  readonly challenges: Pick<Challenges, 'withoutOwn'>;
  /** Whether the application routes by `url` after this. */
  readonly rewritable: boolean;
}

/**
 * Changes the request in place: its `url` to the path and query that the decision forwards, its cookies to those that
 * are not the edge's, its forwarding headers to those of a trusted proxy (semantics §5 captcha, cache). Headers with `_` in
 * their names stay, which a node drops: the application has the same parser as the edge, which does not read `_` as `-`.
 */
export function prepareRequest(
  message: ClientRequest,
  { visitor, decision }: Exchange,
  { challenges, rewritable }: Preparing,
): void {
  const target = forwardedTarget(decision);
  if (rewritable && target !== null && target !== message.url) message.url = target;
  const { headers, rawHeaders } = message;
  let changed = false;
  const remaining: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at]!;
    const name = sent.toLowerCase();
    const value = rawHeaders[at + 1]!;
    const forApplication = valueFor(name, value, { trusted: visitor.trusted, challenges });
    if (forApplication !== value) changed = true;
    if (forApplication !== null) remaining.push(sent, forApplication);
  }
  if (!changed) return;
  rawHeaders.splice(0, rawHeaders.length, ...remaining);
  for (const name of Object.keys(headers)) {
    if (name === 'cookie') {
      const cookies = challenges.withoutOwn(headers.cookie ?? '');
      if (cookies === '') delete headers.cookie;
      else headers.cookie = cookies;
    } else if (!visitor.trusted && isForwarding(name)) delete headers[name];
  }
}

interface HeaderContext extends Pick<Preparing, 'challenges'> {
  readonly trusted: boolean;
}

/** The value of a header field for the application; `null`: the field is removed. */
function valueFor(name: string, value: string, { trusted, challenges }: HeaderContext): string | null {
  if (name !== 'cookie') return !trusted && isForwarding(name) ? null : value;
  const cookies = challenges.withoutOwn(value);
  return cookies === '' ? null : cookies;
}

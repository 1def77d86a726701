/** Which headers may have a credential: one name list for API keys of gateways and for tokens of issuers. */
import { LOGGED_HEADERS } from '../../base/http/secret-names.ts';
import type { Problem } from './report.ts';

const REMEDY = 'use a name such as `X-Api-Key`, or `in: cookie`';

/** Headers that frame and route a message, or that have several credentials. */
const RESERVED = /^(?:host|cookie|connection|content-length|transfer-encoding)$/i;

/** The problem of a header as the place of a credential; `null`: it has none. */
export function judgeCredentialHeader(name: string): Problem | null {
  if (RESERVED.test(name))
    return { code: 'reserved_header', message: 'is no header of credentials', remedy: REMEDY };
  if (!LOGGED_HEADERS.has(name.toLowerCase())) return null;
  const message = 'is a header whose values are logged, which credentials must not be';
  return { code: 'reserved_header', message, remedy: REMEDY };
}

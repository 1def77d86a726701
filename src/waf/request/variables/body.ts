/** The request body as its processor reads it. */

import { latin1Text } from '../../octets/latin1.ts';
import { BODY_PARSERS, type BodyProcessor } from '../bodies/body.ts';
import { EMPTY_BODY, type ParsedBody } from '../bodies/parsed-body.ts';

export interface ReadBody {
  readonly text: string;
  readonly parsed: ParsedBody;
  /** What read it; `null`: nothing did. */
  readonly processor: BodyProcessor | null;
}

/** How a body is to be read. */
export interface BodyReading {
  /** `null`: as nothing in particular. */
  readonly processor: BodyProcessor | null;
  readonly contentType: string;
  readonly truncated: boolean;
}

export function readBody(octets: Uint8Array, { processor, ...how }: BodyReading): ReadBody {
  const text = latin1Text(octets, 0, octets.length);
  const parsed = processor === null ? EMPTY_BODY : BODY_PARSERS[processor]({ text, ...how });
  return { text, parsed, processor };
}

/**
 * Which processor a content type calls for, as ModSecurity and the rules 200000, 200001 and 200006 of its recommended
 * configuration have it; `null`: none.
 */
export function processorOf(contentType: string | null): BodyProcessor | null {
  const type = (contentType ?? '').toLowerCase();
  if (type.startsWith('multipart/form-data')) return 'MULTIPART';
  if (type.startsWith('application/x-www-form-urlencoded')) return 'URLENCODED';
  if (type.startsWith('application/json')) return 'JSON';
  if (['application/xml', 'application/soap+xml', 'text/xml'].some((one) => type.startsWith(one)))
    return 'XML';
  return type.startsWith('application/') && vendorJson(type) ? 'JSON' : null;
}

/** `application/problem+json`: letters, digits, `.`, `-`, then `+json`. */
function vendorJson(type: string): boolean {
  const plus = type.indexOf('+');
  const from = 'application/'.length;
  if (plus <= from || !type.startsWith('+json', plus)) return false;
  for (let at = from; at < plus; at++) {
    const code = type.charCodeAt(at);
    if (!((code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code === 45 || code === 46))
      return false;
  }
  return true;
}

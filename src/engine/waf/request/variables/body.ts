/** The variables of the request body: chooses the parser (the "processor" of ModSecurity) and runs it. */
import { latin1Text } from '../../octets/latin1.ts';
import { BODY_PARSERS, type BodyProcessor } from '../bodies/body.ts';
import { EMPTY_BODY, type ParsedBody } from '../bodies/parsed-body.ts';

/** A parsed body. */
export interface ReadBody {
  /** The body as Latin-1: one character an octet. */
  readonly text: string;
  readonly parsed: ParsedBody;
  /** The parser that ran; `null`: none. */
  readonly processor: BodyProcessor | null;
}

/** How to parse a body. */
export interface BodyReading {
  /** `null`: do not parse it. */
  readonly processor: BodyProcessor | null;
  /** The request's `Content-Type`; `''` without one. */
  readonly contentType: string;
  /** Whether the body continues after the inspected octets. */
  readonly truncated: boolean;
}

/** Parses a body. */
export function readBody(octets: Uint8Array, { processor, ...how }: BodyReading): ReadBody {
  const text = latin1Text(octets, 0, octets.length);
  const parsed = processor === null ? EMPTY_BODY : BODY_PARSERS[processor]({ text, ...how });
  return { text, parsed, processor };
}

/**
 * The parser for a content type, as ModSecurity and the rules 200000, 200001 and 200006 of its recommended configuration
 * choose it; `null`: none.
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

/** Whether a type is like `application/problem+json`: letters, digits, `.` or `-`, then `+json` (RFC 6839 §3.1). */
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

/** Names what went wrong on the way to an origin: from the error of undici, the guard or the resolver to a fault code. */
import type { ResponseFault } from '../../../base/http/response.ts';
import { FORBIDDEN } from './guard.ts';
import { UNRESOLVED } from './names.ts';

const CONNECT_TIMEOUTS: ReadonlySet<string> = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']);
const MALFORMED: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

/** How far a request had come: not written yet, written, or its response's head received. */
export type Progress = 'unsent' | 'sent' | 'answered';

/**
 * The fault for an error of a request. The progress matters: only a request of which nothing was sent may be sent again
 * whatever its method (RFC 9110 §9.2.2).
 */
export function faultOf(error: Error, progress: Progress): ResponseFault {
  const code = 'code' in error ? String(error.code) : error.name;
  const reason = error.message;
  if (code === 'UND_ERR_BODY_TIMEOUT')
    return { code: 'timeout', reason: 'the origin was silent for too long' };
  if (progress === 'answered') return { code: 'cut', reason };
  if (code === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH') return { code: 'body', reason };
  if (progress === 'unsent') return unsentFault(error);
  if (code.startsWith('HPE_') || MALFORMED.has(code) || error.name === 'HTTPParserError') {
    return { code: 'malformed', reason };
  }
  return { code: 'reset', reason };
}

/** The fault of a request for which no connection could be made. */
export function unsentFault(error: Error): ResponseFault {
  const code = 'code' in error ? String(error.code) : error.name;
  return { code: unsentCode(code), reason: error.message };
}

function unsentCode(code: string): ResponseFault['code'] {
  if (code === UNRESOLVED) return 'unresolved';
  if (code === FORBIDDEN) return 'forbidden';
  if (code === 'ECONNREFUSED') return 'refused';
  return CONNECT_TIMEOUTS.has(code) ? 'unreached' : 'unreachable';
}

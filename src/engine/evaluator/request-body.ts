/** The body of a request as waf rules inspect it. */
import { utf8Bytes } from '../../base/octets/octets.ts';
import type { EdgeRequest } from './request.ts';

/** Returns the octets of the body, `null` without one, `unread` if the caller gave neither text nor octets of it. */
export function bodyOf({ body, headers }: EdgeRequest): Uint8Array | null | 'unread' {
  if (typeof body === 'string') return utf8Bytes(body);
  if (body instanceof Uint8Array || body === null) return body;
  return body !== undefined || announcesBody(headers) ? 'unread' : null;
}

/** Whether the headers announce a body (RFC 9112 §6.3). In HTTP/2 a body can follow without such a header. */
function announcesBody(headers: EdgeRequest['headers']): boolean {
  if (headers?.['transfer-encoding'] !== undefined) return true;
  const length = headers?.['content-length'];
  return length !== undefined && Number(length) !== 0;
}

/** Reads Caddy's access log: JSON with the request as an object of its own. */
import { isObject } from '../../base/text/json-object.ts';
import { entryOf, type LineReader, NO_REQUEST, type ReaderContext, unreadable } from './entry.ts';
import { type JsonFields, jsonReader, statusOf, textOf } from './json-line.ts';
import { timeOf } from './times.ts';

/** What Caddy writes in place of credentials. */
const REDACTED = 'REDACTED';

/** Creates the reader of one log. */
export function caddyReader(context: ReaderContext): LineReader {
  return jsonReader((fields) => {
    const { request } = fields;
    if (!isObject(request)) {
      // Caddy may write its own events to the same file.
      return 'level' in fields && 'msg' in fields ? NO_REQUEST : unreadable('there is no object `request`');
    }
    const method = textOf(request['method']);
    const target = textOf(request['uri']);
    if (method === '' || target === '') return unreadable('the request has no `method` or no `uri`');
    return entryOf(
      {
        method,
        target,
        protocol: textOf(request['proto']),
        host: textOf(request['host']),
        scheme: isObject(request['tls']) ? 'https' : 'http',
        ip: ipIn(request),
        country: '',
        ja4: '',
        headers: headersIn(request['headers']),
        whole: isObject(request['headers']),
        verified: false,
        time: timeOf(fields['ts']),
        status: statusOf(fields['status']),
      },
      context,
    );
  });
}

/** The client's address; before Caddy 2.5 with its port. */
function ipIn(request: JsonFields): string {
  const ip = textOf(request['client_ip']) || textOf(request['remote_ip']);
  if (ip !== '') return ip;
  const address = textOf(request['remote_addr']);
  const colon = address.lastIndexOf(':');
  return address.slice(0, colon < 0 ? address.length : colon).replace(/^\[|\]$/g, '');
}

/** Headers by their lower-case names, without those that Caddy has redacted. */
function headersIn(value: unknown): Record<string, string | readonly string[]> {
  const headers: Record<string, string | readonly string[]> = {};
  if (!isObject(value)) return headers;
  for (const name in value) {
    const values = value[name];
    if (!Array.isArray(values) || values[0] === REDACTED) continue;
    const texts = values.filter((one) => typeof one === 'string');
    headers[name.toLowerCase()] = texts.length === 1 ? texts[0]! : texts;
  }
  return headers;
}

/** Whether an object looks like a line of this format. */
export function isCaddy({ request }: JsonFields): boolean {
  return isObject(request) && 'uri' in request;
}

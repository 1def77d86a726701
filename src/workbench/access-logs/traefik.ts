/** Reads Traefik's access log in JSON; its other format is the combined one. */
import { entryOf, type LineReader, NO_REQUEST, type ReaderContext, unreadable } from './entry.ts';
import { firstText, type JsonFields, jsonReader, statusOf, textOf } from './json-line.ts';
import { timeOf } from './times.ts';

/** What Traefik writes in place of headers that it redacts. */
const REDACTED = 'REDACTED';

/** Creates the reader of one log. */
export function traefikReader(context: ReaderContext): LineReader {
  return jsonReader((fields) => {
    const method = textOf(fields['RequestMethod']);
    const target = textOf(fields['RequestPath']);
    if (method === '' || target === '') {
      // Traefik may write its own events to the same output.
      if ('level' in fields && ('msg' in fields || 'message' in fields)) return NO_REQUEST;
      return unreadable('there is no `RequestMethod` and `RequestPath`');
    }
    return entryOf(
      {
        method,
        target,
        protocol: textOf(fields['RequestProtocol']),
        host: firstText(fields, ['RequestHost', 'RequestAddr']),
        scheme: textOf(fields['RequestScheme']),
        ip: textOf(fields['ClientHost']),
        country: '',
        ja4: '',
        headers: headersIn(fields),
        whole: false,
        verified: false,
        time: timeOf(fields['StartUTC'] ?? fields['time']),
        status: statusOf(fields['DownstreamStatus']),
      },
      context,
    );
  });
}

/** The headers that the log keeps, each as `request_Name`. */
function headersIn(fields: JsonFields): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name in fields) {
    const value = textOf(fields[name]);
    if (name.startsWith('request_') && value !== '' && value !== REDACTED)
      headers[name.slice('request_'.length).toLowerCase()] = value;
  }
  return headers;
}

/** Whether an object looks like a line of this format. */
export function isTraefik(fields: JsonFields): boolean {
  return 'RequestMethod' in fields && 'RequestPath' in fields;
}

/** Reads Cloudflare's Logpush of the dataset `http_requests` as NDJSON. */
import { isObject } from '../../base/text/json-object.ts';
import { entryOf, type LineReader, type ReaderContext, unreadable } from './entry.ts';
import { type JsonFields, jsonReader, statusOf, textOf } from './json-line.ts';
import { timeOf } from './times.ts';

/** Creates the reader of one log. */
export function cloudflareReader(context: ReaderContext): LineReader {
  return jsonReader((fields) => {
    const text = (name: string): string => textOf(fields[name]);
    const method = text('ClientRequestMethod');
    const target = text('ClientRequestURI') || text('ClientRequestPath');
    if (method === '' || target === '') {
      return unreadable(
        'there is no `ClientRequestMethod` or no `ClientRequestURI`; add the fields to the Logpush job',
      );
    }
    return entryOf(
      {
        method,
        target,
        protocol: text('ClientRequestProtocol'),
        host: text('ClientRequestHost'),
        scheme: text('ClientRequestScheme'),
        ip: text('ClientIP'),
        country: text('ClientCountry'),
        ja4: text('JA4'),
        headers: headersIn(fields),
        whole: false,
        verified: text('VerifiedBotCategory') !== '',
        time: timeOf(fields['EdgeStartTimestamp'] ?? fields['EdgeEndTimestamp']),
        status: statusOf(fields['EdgeResponseStatus']),
      },
      context,
    );
  });
}

/** User-Agent, Referer, and the custom fields of the job. */
function headersIn(fields: JsonFields): Record<string, string> {
  const headers: Record<string, string> = {};
  const agent = textOf(fields['ClientRequestUserAgent']);
  const referer = textOf(fields['ClientRequestReferer']);
  const custom = fields['RequestHeaders'];
  if (isObject(custom)) {
    for (const name in custom) {
      const value = custom[name];
      if (typeof value === 'string') headers[name.toLowerCase()] = value;
    }
  }
  if (agent !== '') headers['user-agent'] = agent;
  if (referer !== '') headers['referer'] = referer;
  return headers;
}

/** Whether an object looks like a line of this format. */
export function isCloudflare(fields: JsonFields): boolean {
  return 'ClientRequestMethod' in fields || 'ClientRequestURI' in fields || 'EdgeStartTimestamp' in fields;
}

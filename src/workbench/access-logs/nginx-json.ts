/**
 * Reads JSON lines whose fields have the names of nginx variables, as a `log_format … escape=json` usually names them,
 * or the names that other servers and shippers use for the same.
 */
import {
  entryOf,
  type LineReader,
  type LoggedRequestLine,
  NO_REQUEST,
  type ReaderContext,
  splitRequest,
  unreadable,
} from './entry.ts';
import { firstText, type JsonFields, jsonReader, statusOf } from './json-line.ts';
import { timeOf } from './times.ts';

/** Names of each fact, the most exact first. */
const NAMES = {
  request: ['request', 'request_line'],
  method: ['request_method', 'method', 'verb'],
  target: ['request_uri', 'uri', 'path', 'url'],
  query: ['args', 'query_string', 'query'],
  protocol: ['server_protocol', 'protocol', 'proto'],
  host: ['host', 'http_host', 'vhost', 'server_name'],
  scheme: ['scheme', 'request_scheme', 'http_x_forwarded_proto'],
  ip: ['remote_addr', 'client_ip', 'clientip', 'remote_ip', 'client', 'ip'],
  country: [
    'geoip2_country_code',
    'geoip2_data_country_code',
    'geoip_country_code',
    'country_code',
    'country',
  ],
  ja4: ['ja4', 'ssl_ja4', 'http_ssl_ja4', 'http_x_ja4'],
  agent: ['http_user_agent', 'user_agent', 'agent'],
  referer: ['http_referer', 'http_referrer', 'referer', 'referrer'],
  time: ['msec', 'time_iso8601', 'time_local', 'time', '@timestamp', 'timestamp', 'ts'],
  status: ['status', 'response_status', 'status_code'],
} as const;

/** Variables `$http_…` that are a fact of their own. */
const OWN: ReadonlySet<string> = new Set(
  ['http_host', 'http_x_forwarded_proto', 'http_ssl_ja4', 'http_x_ja4'].concat(NAMES.agent, NAMES.referer),
);

/** Creates the reader of one log. */
export function nginxJsonReader(context: ReaderContext): LineReader {
  return jsonReader((fields) => {
    const request = requestIn(fields);
    const status = statusOf(firstText(fields, NAMES.status));
    if (request === null) {
      if (status > 0) return NO_REQUEST;
      return unreadable('there is no request: neither `request` nor `request_method` with `request_uri`');
    }
    return entryOf(
      {
        // PERF: a spread would take longer than all else a line needs.
        method: request.method,
        target: request.target,
        protocol: request.protocol,
        host: firstText(fields, NAMES.host).replace(/^_$/, ''),
        scheme: schemeIn(fields),
        ip: firstText(fields, NAMES.ip).replace(/^unix:.*/, ''),
        country: firstText(fields, NAMES.country),
        ja4: firstText(fields, NAMES.ja4),
        headers: headersIn(fields),
        whole: false,
        verified: false,
        time: timeIn(fields),
        status,
      },
      context,
    );
  });
}

/** The request line, or its parts in fields of their own; `null`: neither, or no HTTP request. */
function requestIn(fields: JsonFields): LoggedRequestLine | null {
  const whole = firstText(fields, NAMES.request);
  if (whole.includes(' ')) return splitRequest(whole);
  const method = firstText(fields, NAMES.method);
  const target = firstText(fields, NAMES.target);
  if (method === '' || target === '') return null;
  const query = target.includes('?') ? '' : firstText(fields, NAMES.query);
  const full = query === '' ? target : `${target}?${query.startsWith('?') ? query.slice(1) : query}`;
  return { method, target: full, protocol: firstText(fields, NAMES.protocol) };
}

/** `$scheme`, or `$https`, which is `on` or empty. */
function schemeIn(fields: JsonFields): string {
  const scheme = firstText(fields, NAMES.scheme);
  if (scheme !== '' || fields['https'] === undefined) return scheme;
  return fields['https'] === 'on' ? 'https' : 'http';
}

function timeIn(fields: JsonFields): number {
  for (const name of NAMES.time) {
    // `$msec` is seconds with three decimals.
    const time = timeOf(fields[name]);
    if (!Number.isNaN(time)) return time;
  }
  return Number.NaN;
}

/** User-Agent, Referer, and each `$http_…`. */
function headersIn(fields: JsonFields): Record<string, string> {
  const headers: Record<string, string> = {};
  const agent = firstText(fields, NAMES.agent);
  const referer = firstText(fields, NAMES.referer);
  if (agent !== '') headers['user-agent'] = agent;
  if (referer !== '') headers['referer'] = referer;
  for (const name in fields) {
    if (!name.startsWith('http_') || OWN.has(name)) continue;
    const value = fields[name];
    if (typeof value === 'string' && value !== '' && value !== '-')
      headers[name.slice(5).replaceAll('_', '-')] = value;
  }
  return headers;
}

/** Whether an object looks like a line of this format. */
export function isNginxJson(fields: JsonFields): boolean {
  const has = (names: readonly string[]): boolean => names.some((name) => name in fields);
  return has(NAMES.request) || (has(NAMES.method) && has(NAMES.target));
}

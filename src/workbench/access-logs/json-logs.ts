/** Reads access logs of JSON lines: with the names of nginx variables, of Caddy, of Cloudflare's Logpush, of Traefik. */
import { isObject } from '../../base/text/json-object.ts';
import { upstreamSource } from './answer-source.ts';
import {
  type AccessEntry,
  type AnswerSource,
  BLANK,
  entryOf,
  type LineNote,
  type LineReader,
  type LoggedRequestLine,
  NO_REQUEST,
  type ReaderContext,
  splitRequest,
  unreadable,
} from './entry.ts';
import { timeOf } from './log-values.ts';

/** The object of a line. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** Makes a reader of lines from one of their objects. */
export function jsonReader(read: (fields: JsonFields) => AccessEntry | LineNote): LineReader {
  return (line) => {
    if (line.trim() === '') return BLANK;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return unreadable('the line is not JSON; a write was cut short, or the format is another');
    }
    return isObject(value) ? read(value) : unreadable('the line is JSON but not an object');
  };
}

/** A field as text; empty for `-`, for what is absent, and for what is neither text nor number. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value === '-' ? '' : value;
  return typeof value === 'number' ? String(value) : '';
}

/** The first of some fields that has a text. */
function firstText(fields: JsonFields, names: readonly string[]): string {
  for (const name of names) {
    const text = textOf(fields[name]);
    if (text !== '') return text;
  }
  return '';
}

/** A status as number or text; 0: absent. */
export function statusOf(value: unknown): number {
  const status = Number(value);
  return Number.isInteger(status) && status >= 100 && status <= 999 ? status : 0;
}

// Reads JSON lines whose fields have the names of nginx variables, as a `log_format … escape=json` usually names them,
// or the names that other servers and shippers use for the same.

/** Names of each fact, the most exact first. */
const NGINX_NAMES = {
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
  asn: [
    'geoip2_asn',
    'geoip2_data_autonomous_system_number',
    'autonomous_system_number',
    'client_asn',
    'asn',
  ],
  ja4: ['ja4', 'ssl_ja4', 'http_ssl_ja4', 'http_x_ja4'],
  agent: ['http_user_agent', 'user_agent', 'agent'],
  referer: ['http_referer', 'http_referrer', 'referer', 'referrer'],
  time: ['msec', 'time_iso8601', 'time_local', 'time', '@timestamp', 'timestamp', 'ts'],
  status: ['status', 'response_status', 'status_code'],
  upstream: ['upstream_status', 'upstream_response_status'],
  location: ['sent_http_location', 'upstream_http_location'],
} as const;

/** Variables `$http_…` that are a fact of their own. */
const NGINX_OWN: ReadonlySet<string> = new Set(
  ['http_host', 'http_x_forwarded_proto', 'http_ssl_ja4', 'http_x_ja4'].concat(
    NGINX_NAMES.agent,
    NGINX_NAMES.referer,
  ),
);

/** Creates the reader of one log. */
export function nginxJsonReader(context: ReaderContext): LineReader {
  return jsonReader((fields) => {
    const request = nginxRequest(fields);
    const status = statusOf(firstText(fields, NGINX_NAMES.status));
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
        host: firstText(fields, NGINX_NAMES.host).replace(/^_$/, ''),
        scheme: nginxScheme(fields),
        ip: firstText(fields, NGINX_NAMES.ip).replace(/^unix:.*/, ''),
        country: firstText(fields, NGINX_NAMES.country),
        asn: firstText(fields, NGINX_NAMES.asn),
        ja4: firstText(fields, NGINX_NAMES.ja4),
        headers: nginxHeaders(fields),
        whole: false,
        verified: false,
        time: nginxTime(fields),
        status,
        source: nginxSource(fields, status),
        location: firstText(fields, NGINX_NAMES.location),
      },
      context,
    );
  });
}

/** The request line, or its parts in fields of their own; `null`: neither, or no HTTP request. */
function nginxRequest(fields: JsonFields): LoggedRequestLine | null {
  const whole = firstText(fields, NGINX_NAMES.request);
  if (whole.includes(' ')) return splitRequest(whole);
  const method = firstText(fields, NGINX_NAMES.method);
  const target = firstText(fields, NGINX_NAMES.target);
  if (method === '' || target === '') return null;
  const query = target.includes('?') ? '' : firstText(fields, NGINX_NAMES.query);
  const full = query === '' ? target : `${target}?${query.startsWith('?') ? query.slice(1) : query}`;
  return { method, target: full, protocol: firstText(fields, NGINX_NAMES.protocol) };
}

/** `$scheme`, or `$https`, which is `on` or empty. */
function nginxScheme(fields: JsonFields): string {
  const scheme = firstText(fields, NGINX_NAMES.scheme);
  if (scheme !== '' || fields['https'] === undefined) return scheme;
  return fields['https'] === 'on' ? 'https' : 'http';
}

/** By `$upstream_status` and `$upstream_cache_status`. */
function nginxSource(fields: JsonFields, status: number): AnswerSource {
  const isLogged = NGINX_NAMES.upstream.some((name) => name in fields);
  const upstream = isLogged ? firstText(fields, NGINX_NAMES.upstream) : null;
  return upstreamSource({ status, upstream, cache: textOf(fields['upstream_cache_status']) });
}

function nginxTime(fields: JsonFields): number {
  for (const name of NGINX_NAMES.time) {
    // `$msec` is seconds with three decimals.
    const time = timeOf(fields[name]);
    if (!Number.isNaN(time)) return time;
  }
  return Number.NaN;
}

/** User-Agent, Referer, and each `$http_…`. */
function nginxHeaders(fields: JsonFields): Record<string, string> {
  const headers: Record<string, string> = {};
  const agent = firstText(fields, NGINX_NAMES.agent);
  const referer = firstText(fields, NGINX_NAMES.referer);
  if (agent !== '') headers['user-agent'] = agent;
  if (referer !== '') headers['referer'] = referer;
  for (const name in fields) {
    if (!name.startsWith('http_') || NGINX_OWN.has(name)) continue;
    const value = fields[name];
    if (typeof value === 'string' && value !== '' && value !== '-')
      headers[name.slice(5).replaceAll('_', '-')] = value;
  }
  return headers;
}

/** Whether an object looks like a line of this format. */
export function isNginxJson(fields: JsonFields): boolean {
  const has = (names: readonly string[]): boolean => names.some((name) => name in fields);
  return has(NGINX_NAMES.request) || (has(NGINX_NAMES.method) && has(NGINX_NAMES.target));
}

// Reads Caddy's access log: JSON with the request as an object of its own.

/** What Caddy writes in place of credentials. */
const CADDY_REDACTED = 'REDACTED';

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
        ip: caddyAddress(request),
        country: '',
        asn: '',
        ja4: '',
        headers: caddyHeaders(request['headers']),
        whole: isObject(request['headers']),
        verified: false,
        time: timeOf(fields['ts']),
        status: statusOf(fields['status']),
        source: 'unknown',
        location: headerOf(fields['resp_headers'], 'Location'),
      },
      context,
    );
  });
}

/** The client's address; before Caddy 2.5 with its port. */
function caddyAddress(request: JsonFields): string {
  const ip = textOf(request['client_ip']) || textOf(request['remote_ip']);
  if (ip !== '') return ip;
  const address = textOf(request['remote_addr']);
  const colon = address.lastIndexOf(':');
  return address.slice(0, colon < 0 ? address.length : colon).replace(/^\[|\]$/g, '');
}

/** Headers by their lower-case names, without those that Caddy has redacted. */
function caddyHeaders(value: unknown): Record<string, string | readonly string[]> {
  const headers: Record<string, string | readonly string[]> = {};
  if (!isObject(value)) return headers;
  for (const name in value) {
    const values = value[name];
    if (!Array.isArray(values) || values[0] === CADDY_REDACTED) continue;
    const texts = values.filter((one) => typeof one === 'string');
    headers[name.toLowerCase()] = texts.length === 1 ? texts[0]! : texts;
  }
  return headers;
}

/** The first value of a response header; empty: the log has none. */
function headerOf(headers: unknown, name: string): string {
  if (!isObject(headers)) return '';
  const value = headers[name];
  return textOf(Array.isArray(value) ? value[0] : value);
}

/** Whether an object looks like a line of this format. */
export function isCaddy({ request }: JsonFields): boolean {
  return isObject(request) && 'uri' in request;
}

// Reads Cloudflare's Logpush of the dataset `http_requests` as NDJSON.

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
        asn: text('ClientASN'),
        ja4: text('JA4'),
        headers: cloudflareHeaders(fields),
        whole: false,
        verified: text('VerifiedBotCategory') !== '',
        time: timeOf(fields['EdgeStartTimestamp'] ?? fields['EdgeEndTimestamp']),
        status: statusOf(fields['EdgeResponseStatus']),
        source: originSource(fields, ['EdgeResponseStatus', 'OriginResponseStatus']),
        location: headerOf(fields['ResponseHeaders'], 'location'),
      },
      context,
    );
  });
}

/** The names of the status that a client got and of the origin's, which is 0 where no origin was asked. */
type StatusNames = readonly [answered: string, origin: string];

/** By the origin's status. */
function originSource(fields: JsonFields, [answered, origin]: StatusNames): AnswerSource {
  const asked = statusOf(fields[origin]);
  const upstream = origin in fields ? (asked === 0 ? '' : String(asked)) : null;
  const status = statusOf(fields[answered]);
  return upstreamSource({ status, upstream, cache: textOf(fields['CacheCacheStatus']) });
}

/** User-Agent, Referer, and the custom fields of the job. */
function cloudflareHeaders(fields: JsonFields): Record<string, string> {
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

// Reads Traefik's access log in JSON; its other format is the combined one.

/** What Traefik writes in place of headers that it redacts. */
const TRAEFIK_REDACTED = 'REDACTED';

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
        asn: '',
        ja4: '',
        headers: traefikHeaders(fields),
        whole: false,
        verified: false,
        time: timeOf(fields['StartUTC'] ?? fields['time']),
        status: statusOf(fields['DownstreamStatus']),
        source: originSource(fields, ['DownstreamStatus', 'OriginStatus']),
        location: textOf(fields['downstream_Location']),
      },
      context,
    );
  });
}

/** The headers that the log keeps, each as `request_Name`. */
function traefikHeaders(fields: JsonFields): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name in fields) {
    const value = textOf(fields[name]);
    if (name.startsWith('request_') && value !== '' && value !== TRAEFIK_REDACTED)
      headers[name.slice('request_'.length).toLowerCase()] = value;
  }
  return headers;
}

/** Whether an object looks like a line of this format. */
export function isTraefik(fields: JsonFields): boolean {
  return 'RequestMethod' in fields && 'RequestPath' in fields;
}

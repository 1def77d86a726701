/** The formats of logs, how each is read, and how the format of a log is detected from its first lines. */
import { isObject } from '../../base/text/object.ts';
import { caddyReader, isCaddy } from './caddy.ts';
import { cloudflareReader, isCloudflare } from './cloudflare.ts';
import { cloudfrontReader, isCloudfront, isCloudfrontJson } from './cloudfront.ts';
import { combinedReader, isCombined } from './combined.ts';
import type { LineReader, ReaderContext } from './entry.ts';
import { haproxyReader, isHaproxy } from './haproxy.ts';
import { DETECTED_LINES } from './limits.ts';
import { isNginxJson, nginxJsonReader } from './nginx-json.ts';
import { albReader, envoyReader, isAlb, isEnvoy, isProxyManager, proxyManagerReader } from './proxy-lines.ts';
import { isTraefik, traefikReader } from './traefik.ts';

/** The formats, as `--format` names them. `decision` is the decision log of nodes, which has decisions to compare with. */
export const LOG_FORMATS = [
  'decision',
  'combined',
  'nginx-json',
  'caddy',
  'haproxy',
  'cloudflare',
  'cloudfront',
  'traefik',
  'envoy',
  'proxy-manager',
  'alb',
] as const;
/** One of LOG_FORMATS. */
export type LogFormat = (typeof LOG_FORMATS)[number];
/** A format of access logs, which have requests alone. */
export type AccessFormat = Exclude<LogFormat, 'decision'>;

const READERS: Readonly<Record<AccessFormat, (context: ReaderContext) => LineReader>> = {
  combined: combinedReader,
  'nginx-json': nginxJsonReader,
  caddy: caddyReader,
  haproxy: haproxyReader,
  cloudflare: cloudflareReader,
  cloudfront: cloudfrontReader,
  traefik: traefikReader,
  envoy: envoyReader,
  'proxy-manager': proxyManagerReader,
  alb: albReader,
};

/** Creates the reader of one log. */
export function readerOf(format: AccessFormat, context: ReaderContext): LineReader {
  return READERS[format](context);
}

/** The format of most of the first lines of a log; `null`: of none. Of two, the first found. */
export function detectFormat(lines: readonly string[]): LogFormat | null {
  const found = new Map<LogFormat, number>();
  for (const line of lines.slice(0, DETECTED_LINES)) {
    const format = formatOf(line);
    if (format !== null) found.set(format, (found.get(format) ?? 0) + 1);
  }
  let best: LogFormat | null = null;
  for (const [format, count] of found) if (best === null || count > found.get(best)!) best = format;
  return best;
}

/** The format that a line looks like. */
function formatOf(line: string): LogFormat | null {
  if (line.startsWith('{')) return jsonFormatOf(line);
  if (isCloudfront(line)) return 'cloudfront';
  if (isEnvoy(line)) return 'envoy';
  if (isProxyManager(line)) return 'proxy-manager';
  if (isAlb(line)) return 'alb';
  if (isCombined(line)) return 'combined';
  return isHaproxy(line) ? 'haproxy' : null;
}

function jsonFormatOf(line: string): LogFormat | null {
  let fields: unknown;
  try {
    fields = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isObject(fields)) return null;
  const { format } = fields;
  if (typeof format === 'string' && format.startsWith('edgeplan.')) return 'decision';
  if (isCloudflare(fields)) return 'cloudflare';
  if (isCloudfrontJson(fields)) return 'cloudfront';
  if (isTraefik(fields)) return 'traefik';
  if (isCaddy(fields)) return 'caddy';
  return isNginxJson(fields) ? 'nginx-json' : null;
}

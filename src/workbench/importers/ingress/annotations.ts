/** Annotations of ingress-nginx, as the directives that the controller writes for them. */
import type { OpenIncludes } from '../importer.ts';
import { objectAt } from '../json-source.ts';
import { type NginxDirective, parseNginx } from '../nginx/parse-nginx.ts';
import type { Ingress, Manifests } from './read-manifests.ts';

/** Writes a directive of an annotation. */
export function directive(
  place: string,
  name: string,
  args: readonly string[],
  block: readonly NginxDirective[] | null = null,
): NginxDirective {
  return { name, args, block, place };
}

/** The place of an annotation. */
export function annotationPlace({ place }: Ingress, name: string): string {
  return `${place} ${name}`;
}

/** Whether an annotation is on. */
export function isOn({ annotations }: Ingress, name: string): boolean {
  return annotations.get(name)?.trim() === 'true';
}

/** The directives of a location, in the order in which nginx acts on them. */
export function locationDirectives(ingress: Ingress, manifests: Manifests): readonly NginxDirective[] {
  return [
    ...redirectDirectives(ingress),
    ...accessDirectives(ingress),
    ...limitDirectives(ingress).map(({ use }) => use),
    ...headerDirectives(ingress, manifests),
    ...snippetDirectives(ingress, 'configuration-snippet'),
  ];
}

const STATUS = /^30[12378]$/;

/** A redirect of all requests; the temporary one wins. */
function redirectDirectives(ingress: Ingress): readonly NginxDirective[] {
  for (const [name, code] of [
    ['temporal-redirect', '302'],
    ['permanent-redirect', '301'],
  ] as const) {
    const url = ingress.annotations.get(name);
    if (url === undefined || url === '') continue;
    const status = ingress.annotations.get(`${name}-code`) ?? code;
    return [directive(annotationPlace(ingress, name), 'return', [STATUS.test(status) ? status : code, url])];
  }
  return [];
}

function accessDirectives(ingress: Ingress): readonly NginxDirective[] {
  const { annotations } = ingress;
  const directives: NginxDirective[] = [];
  const add = (annotation: string, name: string, args: readonly string[]): void => {
    directives.push(directive(annotationPlace(ingress, annotation), name, args));
  };
  const satisfy = annotations.get('satisfy');
  if (satisfy !== undefined) add('satisfy', 'satisfy', [satisfy]);
  for (const address of listOf(annotations.get('denylist-source-range')))
    add('denylist-source-range', 'deny', [address]);
  for (const name of ['whitelist-source-range', 'allowlist-source-range']) {
    const addresses = listOf(annotations.get(name));
    if (addresses.length === 0) continue;
    for (const address of addresses) add(name, 'allow', [address]);
    add(name, 'deny', ['all']);
    break;
  }
  const type = annotations.get('auth-type');
  if (type !== undefined) add('auth-type', type === 'basic' ? 'auth_basic' : 'auth_digest', ['realm']);
  if (annotations.has('auth-url')) add('auth-url', 'auth_request', ['/_external-auth']);
  for (const name of annotations.keys())
    if (isUnknownGuard(name)) add(name, 'auth_unknown', [annotations.get(name)!]);
  return directives;
}

/** Whether the name of an unknown annotation says that it guards. */
function isUnknownGuard(name: string): boolean {
  return /(?:^|-)(?:auth|jwt|oidc|oauth2?|deny|allow|acl|block)(?:-|$)/.test(name) && !KNOWN.test(name);
}

function listOf(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

/** A limit: its zone, and its use in a location. */
interface Limit {
  readonly zone: NginxDirective;
  readonly use: NginxDirective;
}

/** The limits of rates; `limit-burst-multiplier` is 5 unless it says otherwise. */
export function limitDirectives(ingress: Ingress): readonly Limit[] {
  const { annotations, namespace, name } = ingress;
  const multiplier = Number(annotations.get('limit-burst-multiplier') ?? 5);
  return (['limit-rps', 'limit-rpm'] as const).flatMap((annotation) => {
    const amount = Number(annotations.get(annotation) ?? 0);
    if (!Number.isInteger(amount) || amount < 1) return [];
    const place = annotationPlace(ingress, annotation);
    const zone = `zone=${namespace}_${name}_${annotation}`;
    const burst = amount * (Number.isInteger(multiplier) && multiplier > 0 ? multiplier : 5);
    return [
      {
        zone: directive(place, 'limit_req_zone', [
          '$binary_remote_addr',
          `${zone}:5m`,
          `rate=${amount}r/${annotation === 'limit-rps' ? 's' : 'm'}`,
        ]),
        use: directive(place, 'limit_req', [zone, `burst=${burst}`, 'nodelay']),
      },
    ];
  });
}

/** Headers of responses, those of requests, and the size of bodies. */
function headerDirectives(ingress: Ingress, { configMaps }: Manifests): readonly NginxDirective[] {
  const { annotations, namespace } = ingress;
  const directives: NginxDirective[] = [];
  const named = annotations.get('custom-headers');
  const map =
    named === undefined ? undefined : configMaps.get(named.includes('/') ? named : `${namespace}/${named}`);
  if (map !== undefined)
    for (const [name, value] of Object.entries(objectAt(map, 'data')))
      directives.push(
        directive(annotationPlace(ingress, 'custom-headers'), 'more_set_headers', [
          `${name}: ${String(value)}`,
        ]),
      );
  const prefix = annotations.get('x-forwarded-prefix');
  if (prefix !== undefined)
    directives.push(
      directive(annotationPlace(ingress, 'x-forwarded-prefix'), 'proxy_set_header', [
        'X-Forwarded-Prefix',
        prefix,
      ]),
    );
  const size = annotations.get('proxy-body-size');
  if (size !== undefined)
    directives.push(directive(annotationPlace(ingress, 'proxy-body-size'), 'client_max_body_size', [size]));
  const connections = annotations.get('limit-connections');
  if (connections !== undefined)
    directives.push(
      directive(annotationPlace(ingress, 'limit-connections'), 'limit_conn', ['connections', connections]),
    );
  return directives;
}

const NO_INCLUDES: OpenIncludes = () => ({ reason: 'files that a snippet includes are not read' });

/** The directives of a snippet; one that cannot be read may refuse requests, so that all are refused. */
export function snippetDirectives(
  ingress: Ingress,
  annotation: 'configuration-snippet' | 'server-snippet',
): readonly NginxDirective[] {
  const text = ingress.annotations.get(annotation);
  if (text === undefined) return [];
  const place = annotationPlace(ingress, annotation);
  const parsed = parseNginx([{ name: place, text }], NO_INCLUDES);
  return parsed.ok
    ? parsed.directives
    : [directive(place, 'auth_unknown', [parsed.mistakes[0]?.message ?? 'cannot be read'])];
}

/** The directives of a server. */
export function serverDirectives(ingress: Ingress): readonly NginxDirective[] {
  const { annotations } = ingress;
  const verify = annotations.get('auth-tls-verify-client') ?? 'on';
  const certificate =
    annotations.has('auth-tls-secret') && verify === 'on'
      ? [directive(annotationPlace(ingress, 'auth-tls-secret'), 'ssl_verify_client', ['on'])]
      : [];
  return [...certificate, ...snippetDirectives(ingress, 'server-snippet')];
}

// Annotations that become no directive.

/** Annotations that are read elsewhere, or are parts of those that are. */
const KNOWN =
  /^(?:rewrite-target|use-regex|app-root|permanent-redirect(?:-code)?|temporal-redirect(?:-code)?|ssl-redirect|force-ssl-redirect|from-to-www-redirect|(?:white|allow|deny)list-source-range|limit-(?:rps|rpm|burst-multiplier|connections)|auth-.*|satisfy|upstream-vhost|backend-protocol|canary(?:-.*)?|custom-headers|configuration-snippet|server-snippet|server-alias|x-forwarded-prefix|proxy-body-size|cors-.*|limit-allowlist|limit-whitelist)$/;

/** Annotations that tune connections, logs and traces. */
const TUNING =
  /^(?:proxy-(?:connect-timeout|send-timeout|read-timeout|next-upstream.*|buffer.*|busy-buffers-size|max-temp-file-size|request-buffering|http-version|ssl-.*)|client-body-buffer-size|enable-(?:access-log|rewrite-log|opentracing|opentelemetry)|opentracing-.*|opentelemetry-.*|service-upstream|ssl-(?:ciphers|prefer-server-ciphers)|connection-proxy-header|http2-push-preload|load-balance|session-cookie-.*|affinity-.*|upstream-hash-by-.*|backend-.*|secure-backends|denylist-.*|relative-redirects)$/;

const REASONS: Readonly<Record<string, string>> = {
  'enable-cors': 'no rule answers the preflight requests of browsers; the origin gets them',
  affinity: 'no rule pins a visitor to one server',
  'upstream-hash-by': 'no rule chooses a server by a hash',
  'ssl-passthrough': 'the edge ends TLS itself',
  'enable-modsecurity': 'write a rule of type waf',
  'enable-owasp-core-rules': 'write a rule of type waf',
  'modsecurity-snippet': 'write a rule of type waf',
  'custom-http-errors': 'write the HTML of the pages into a rule of type error_page',
  'default-backend': 'no rule chooses an origin by a status',
  'mirror-target': 'no rule sends a request twice',
  'limit-rate': 'no rule limits the rate of octets',
  'limit-rate-after': 'no rule limits the rate of octets',
  'proxy-redirect-from': 'the edge does not change the Location of an origin',
  'proxy-redirect-to': 'the edge does not change the Location of an origin',
  'proxy-cookie-domain': 'the edge does not change the cookies of an origin',
  'proxy-cookie-path': 'the edge does not change the cookies of an origin',
};

/** What an annotation without a directive is: `null`: its directives are in the report. */
export function judgeAnnotation(
  name: string,
  value: string,
): { readonly needless: boolean; readonly reason: string } | null {
  if (KNOWN.test(name) || isUnknownGuard(name)) return null;
  if (TUNING.test(name) || value === 'false')
    return { needless: true, reason: 'it tunes the controller, or is off' };
  return { needless: false, reason: REASONS[name] ?? 'edgeplan has no equivalent' };
}

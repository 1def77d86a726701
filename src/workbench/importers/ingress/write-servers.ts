/** The `server` blocks that the controller writes for the hosts of Ingress objects, as directives of the nginx importer. */

import { objectAt, objectsAt, textAt } from '../json-source.ts';
import type { NginxDirective } from '../nginx/parse-nginx.ts';
import { escapeRegex } from '../text-test.ts';
import {
  annotationPlace,
  directive,
  isOn,
  limitDirectives,
  locationDirectives,
  serverDirectives,
} from './annotations.ts';
import type { Ingress, IngressBackend, IngressPath, Manifests, PathType } from './read-manifests.ts';

/** One location of a host. */
export interface IngressLocation {
  readonly ingress: Ingress;
  readonly path: string;
  readonly type: PathType;
  /** `null`: nothing serves it, and the controller answers 404. */
  readonly backend: IngressBackend | null;
  readonly place: string;
}

/** One host. */
export interface IngressHost {
  /** Empty: every host that no other names. */
  readonly host: string;
  readonly ingresses: readonly Ingress[];
  readonly locations: readonly IngressLocation[];
  /** All its paths are regexes without case. */
  readonly hasRegexes: boolean;
}

/** The hosts of the Ingress objects that are no canaries, with their locations. */
export function readHosts(ingresses: readonly Ingress[]): readonly IngressHost[] {
  const main = ingresses.filter((ingress) => !isOn(ingress, 'canary'));
  const names = new Set(main.flatMap(({ paths }) => paths.map(({ host }) => host)));
  for (const { paths, defaultBackend } of main)
    if (paths.length === 0 && defaultBackend !== null) names.add('');
  return [...names].map((host) => {
    const own = main.filter(({ paths, defaultBackend }) =>
      paths.length === 0 ? host === '' && defaultBackend !== null : paths.some((path) => path.host === host),
    );
    const locations = own.flatMap((ingress) =>
      ingress.paths.filter((path) => path.host === host).flatMap((path) => locationsOf(ingress, path)),
    );
    const distinct = new Map<string, IngressLocation>();
    for (const one of [...locations, ...own.map(rootLocation)]) {
      const key = `${one.type === 'Exact' ? '= ' : ''}${one.path}`;
      if (!distinct.has(key)) distinct.set(key, one);
    }
    const all = [...distinct.values()];
    return { host, ingresses: own, locations: all, hasRegexes: all.some(isRewritten) };
  });
}

/** Whether a location makes all paths of its host regexes. */
function isRewritten({ ingress, path }: IngressLocation): boolean {
  const target = ingress.annotations.get('rewrite-target') ?? '';
  return (target !== '' && target !== path) || isOn(ingress, 'use-regex');
}

/** A path of type `Prefix` ends at a slash: it is one location below the slash, and one for the path itself. */
function locationsOf(
  ingress: Ingress,
  { path, type, backend, place }: IngressPath,
): readonly IngressLocation[] {
  const own = { ingress, path, type, backend, place };
  if (type !== 'Prefix' || path === '/') return [own];
  const below = path.endsWith('/') ? path : `${path}/`;
  return [
    { ...own, type: 'Exact' },
    { ...own, path: below },
  ];
}

/** What serves the paths that no rule names. */
function rootLocation(ingress: Ingress): IngressLocation {
  const { defaultBackend, place } = ingress;
  return {
    ingress,
    path: '/',
    type: 'Prefix',
    backend: defaultBackend,
    place: `${place} spec.defaultBackend`,
  };
}

/** Writes the directives of all hosts. */
export function writeServers(hosts: readonly IngressHost[], manifests: Manifests): readonly NginxDirective[] {
  const written: Written = new Map();
  const zones = manifests.ingresses.flatMap((ingress) => limitDirectives(ingress).map(({ zone }) => zone));
  const named = new Set(hosts.map(({ host }) => host));
  return [
    ...zones,
    ...hosts.flatMap((host) => [...hostServers(host, { manifests, written }), ...wwwServers(host, named)]),
  ];
}

/** The servers of a host: one, or two where plain http is redirected. */
function hostServers(host: IngressHost, context: WriteContext): readonly NginxDirective[] {
  const [first] = host.ingresses;
  const { place } = first!;
  const names = directive(place, 'server_name', serverNames(host));
  const shared = host.ingresses.flatMap((ingress) =>
    once(context, `${ingress.place} server`, () => serverDirectives(ingress)),
  );
  const block = (isPlain: boolean): readonly NginxDirective[] => [
    ...shared,
    ...sortedLocations(host).map((one) => writeLocation(host, one, { ...context, isPlain })),
    ...appRoots(host, isPlain),
  ];
  const server = (
    listeners: readonly (readonly string[])[],
    own: readonly NginxDirective[],
  ): NginxDirective => {
    const fallback = host.host === '' ? ['default_server'] : [];
    const listens = listeners.map((one) => directive(place, 'listen', [...one, ...fallback]));
    return directive(place, 'server', [], [...listens, names, ...own]);
  };
  const [plain, secure] = [['80'], ['443', 'ssl']];
  const redirected = host.locations.filter((one) => isUpgraded(host, one.ingress));
  if (redirected.length === 0) return [server([plain, secure], block(false))];
  const own = redirected.length === host.locations.length ? [upgrade(redirected[0]!.ingress)] : block(true);
  return [server([plain], own), server([secure], block(false))];
}

/** Whether plain http of an Ingress is redirected: where the host has TLS, or where it is forced. */
function isUpgraded({ host }: IngressHost, ingress: Ingress): boolean {
  if (isOn(ingress, 'force-ssl-redirect')) return true;
  if (ingress.annotations.get('ssl-redirect')?.trim() === 'false') return false;
  const { tlsHosts } = ingress;
  return (
    tlsHosts === null || tlsHosts.includes(host) || tlsHosts.includes(`*${host.slice(host.indexOf('.'))}`)
  );
}

function upgrade(ingress: Ingress): NginxDirective {
  const name = isOn(ingress, 'force-ssl-redirect') ? 'force-ssl-redirect' : 'ssl-redirect';
  return directive(annotationPlace(ingress, name), 'return', ['308', 'https://$host$request_uri']);
}

/** The names of a server; `*` of an Ingress stands for one label. */
function serverNames({ host, ingresses }: IngressHost): readonly string[] {
  const aliases = ingresses.flatMap(({ annotations }) =>
    (annotations.get('server-alias') ?? '').split(/[\s,]+/),
  );
  const name = host.startsWith('*.') ? `~^[\\w-]+${escapeRegex(host.slice(1))}$` : host === '' ? '_' : host;
  return [name, ...aliases.filter((alias) => alias !== '')];
}

/** Locations in the order of the file: longer regexes come first. */
function sortedLocations({ locations }: IngressHost): readonly IngressLocation[] {
  return [...locations].sort((one, other) => other.path.length - one.path.length);
}

/** Directives that several locations share, so that the report has each of them once. */
type Written = Map<string, readonly NginxDirective[]>;

/** What servers are written with. */
interface WriteContext {
  readonly manifests: Manifests;
  readonly written: Written;
}

/** Directives that are written at the first use of a key. */
function once(
  { written }: WriteContext,
  key: string,
  write: () => readonly NginxDirective[],
): readonly NginxDirective[] {
  const known = written.get(key) ?? write();
  written.set(key, known);
  return known;
}

/** How a location is written. */
interface Writing extends WriteContext {
  /** Whether the server is that of plain http. */
  readonly isPlain: boolean;
}

function writeLocation(host: IngressHost, location: IngressLocation, writing: Writing): NginxDirective {
  const { ingress, path, type, backend, place } = location;
  const args = host.hasRegexes ? ['~*', `^${path}`] : type === 'Exact' ? ['=', path] : [path];
  if (writing.isPlain && isUpgraded(host, ingress))
    return directive(place, 'location', args, [upgrade(ingress)]);
  if (backend === null) return directive(place, 'location', args, [directive(place, 'return', ['404'])]);
  const own = once(writing, ingress.place, () => locationDirectives(ingress, writing.manifests));
  // A redirect answers before all else.
  if (own[0]?.name === 'return') return directive(place, 'location', args, own.slice(0, 1));
  const pass = once(writing, place, () => passDirectives(location, backend, writing.manifests));
  return directive(place, 'location', args, [...own, ...rewriteDirectives(host, location), ...pass]);
}

function rewriteDirectives(
  { hasRegexes }: IngressHost,
  { ingress, path }: IngressLocation,
): readonly NginxDirective[] {
  const target = ingress.annotations.get('rewrite-target') ?? '';
  if (target === '' || target === path) return [];
  const regex = hasRegexes ? `(?i)^${path}` : path;
  return [directive(annotationPlace(ingress, 'rewrite-target'), 'rewrite', [regex, target, 'break'])];
}

/** Protocols of backends, with the directive and the scheme. */
const PROTOCOLS: Readonly<Record<string, readonly [string, string]>> = {
  http: ['proxy_pass', 'http'],
  auto_http: ['proxy_pass', 'http'],
  https: ['proxy_pass', 'https'],
  grpc: ['grpc_pass', 'grpc'],
  grpcs: ['grpc_pass', 'grpcs'],
  fcgi: ['fastcgi_pass', 'fastcgi'],
};

function passDirectives(
  { ingress, place }: IngressLocation,
  backend: IngressBackend,
  manifests: Manifests,
): readonly NginxDirective[] {
  const protocol = (ingress.annotations.get('backend-protocol') ?? 'http').trim().toLowerCase();
  const [name, scheme] = PROTOCOLS[protocol] ?? PROTOCOLS['http']!;
  const host = ingress.annotations.get('upstream-vhost') ?? '$host';
  return [
    directive(place, 'proxy_set_header', ['Host', host]),
    directive(place, name, [`${scheme}://${addressOf(ingress, backend, manifests)}`]),
  ];
}

/** The address of a service: that of its manifest, or its name in the cluster. */
export function addressOf(
  { namespace }: Ingress,
  { service, port }: IngressBackend,
  { services }: Manifests,
): string {
  const spec = objectAt(services.get(`${namespace}/${service}`) ?? {}, 'spec');
  const cluster = textAt(spec, 'clusterIP');
  const external = textAt(spec, 'externalName');
  const name =
    external !== '' ? external : /^[\d.]+$|:/.test(cluster) ? cluster : `${service}.${namespace}.svc`;
  const named = objectsAt(spec, 'ports').find((one) => textAt(one, 'name') === port);
  const number = /^\d+$/.test(port) ? port : named === undefined ? '' : textAt(named, 'port');
  const address = name.includes(':') ? `[${name}]` : name;
  return number === '' ? address : `${address}:${number}`;
}

/** The redirect of the root path. */
function appRoots({ ingresses, locations }: IngressHost, isPlain: boolean): readonly NginxDirective[] {
  const [ingress] = ingresses.filter((one) => one.annotations.has('app-root'));
  const hasRoot = locations.some(({ path, type }) => path === '/' && type === 'Exact');
  if (ingress === undefined || hasRoot || isPlain) return [];
  const place = annotationPlace(ingress, 'app-root');
  const root = ingress.annotations.get('app-root')!;
  return [directive(place, 'location', ['=', '/'], [directive(place, 'return', ['302', root])])];
}

/** The server that redirects between a host and its name with `www.`. */
function wwwServers({ host, ingresses }: IngressHost, named: ReadonlySet<string>): readonly NginxDirective[] {
  const ingress = ingresses.find((one) => isOn(one, 'from-to-www-redirect'));
  const other = host.startsWith('www.') ? host.slice('www.'.length) : `www.${host}`;
  if (ingress === undefined || host === '' || host.startsWith('*') || named.has(other)) return [];
  const place = annotationPlace(ingress, 'from-to-www-redirect');
  const block = [
    directive(place, 'listen', ['80']),
    directive(place, 'listen', ['443', 'ssl']),
    directive(place, 'server_name', [other]),
    directive(place, 'return', ['308', `$scheme://${host}$request_uri`]),
  ];
  return [directive(place, 'server', [], block)];
}

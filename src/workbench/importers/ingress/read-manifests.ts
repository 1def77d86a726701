/** Reads manifests of Kubernetes: Ingress objects, and the Services and ConfigMaps beside them, of YAML or JSON files. */
import { parseAllDocuments } from 'yaml';
import { isObject } from '../../../base/text/json-object.ts';
import { MAX_SOURCE_OCTETS, objectAt, objectsAt, type SourceFields, textAt } from '../json-source.ts';
import { type ImportRefusal, refusedImport, type SourceFile } from '../report.ts';

/** How a path of an Ingress is compared. */
export type PathType = 'Exact' | 'Prefix' | 'ImplementationSpecific';

/** A service with its port; a port with a name is that of the Service manifest. */
export interface IngressBackend {
  readonly service: string;
  readonly port: string;
}

/** One path of a rule. */
export interface IngressPath {
  readonly host: string;
  readonly path: string;
  readonly type: PathType;
  /** `null`: it is a resource of another kind. */
  readonly backend: IngressBackend | null;
  readonly place: string;
}

/** One Ingress. */
export interface Ingress {
  /** `shop.yaml: default/shop`. */
  readonly place: string;
  readonly namespace: string;
  readonly name: string;
  /** The class that it names, in either way; empty: none. */
  readonly className: string;
  /** Annotations of the controller, without their prefix. */
  readonly annotations: ReadonlyMap<string, string>;
  /** Annotations of other controllers of nginx, with their prefix. */
  readonly foreign: readonly string[];
  readonly paths: readonly IngressPath[];
  readonly defaultBackend: IngressBackend | null;
  /** Hosts with TLS; `null`: all of its hosts. */
  readonly tlsHosts: readonly string[] | null;
}

/** The objects of all files. */
export interface Manifests {
  readonly ingresses: readonly Ingress[];
  /** By `namespace/name`. */
  readonly services: ReadonlyMap<string, SourceFields>;
  readonly configMaps: ReadonlyMap<string, SourceFields>;
}

/** The prefix of the annotations. */
export const PREFIX = 'nginx.ingress.kubernetes.io/';

/** Reads the objects; the oldest Ingress comes first, whose paths the controller prefers. */
export function readManifests(files: readonly SourceFile[]): Manifests | ImportRefusal {
  const ingresses: { readonly ingress: Ingress; readonly created: string }[] = [];
  const services = new Map<string, SourceFields>();
  const configMaps = new Map<string, SourceFields>();
  for (const { name, text } of files) {
    const objects = objectsOf(name, text);
    if (!Array.isArray(objects)) return objects as ImportRefusal;
    for (const one of objects as readonly SourceFields[]) {
      const metadata = objectAt(one, 'metadata');
      const key = `${textAt(metadata, 'namespace') || 'default'}/${textAt(metadata, 'name')}`;
      const kind = textAt(one, 'kind');
      if (kind === 'Service') services.set(key, one);
      else if (kind === 'ConfigMap') configMaps.set(key, one);
      else if (kind === 'Ingress')
        ingresses.push({
          ingress: readIngress(one, `${name}: ${key}`),
          created: textAt(metadata, 'creationTimestamp'),
        });
    }
  }
  if (ingresses.length === 0)
    return refusedImport(files[0]?.name ?? null, 'has no Ingress', 'kubectl get ingress,service -A -o yaml');
  const ordered = [...ingresses].sort((one, other) =>
    one.created < other.created ? -1 : one.created > other.created ? 1 : 0,
  );
  return { ingresses: ordered.map(({ ingress }) => ingress), services, configMaps };
}

/** The objects of one file: of each document, and of lists in it. */
function objectsOf(name: string, text: string): readonly SourceFields[] | ImportRefusal {
  if (text.length > MAX_SOURCE_OCTETS)
    return refusedImport(name, `is larger than ${MAX_SOURCE_OCTETS} octets`);
  const values: unknown[] = [];
  try {
    for (const document of parseAllDocuments(text, { logLevel: 'silent' })) {
      if (!('errors' in document)) continue;
      const [error] = document.errors;
      if (error !== undefined) {
        const [line] = error.message.split('\n');
        return refusedImport(`${name}:${error.linePos?.[0].line ?? 1}`, `is no YAML: ${line}`);
      }
      values.push(document.toJS());
    }
  } catch (error) {
    return refusedImport(name, `cannot be read: ${(error as Error).message}`);
  }
  return values.flatMap((value) => {
    if (!isObject(value)) return [];
    return Array.isArray(value['items']) ? objectsAt(value, 'items') : [value];
  });
}

function readIngress(object: SourceFields, place: string): Ingress {
  const metadata = objectAt(object, 'metadata');
  const spec = objectAt(object, 'spec');
  const written = Object.entries(objectAt(metadata, 'annotations'));
  const annotations = written.flatMap(([name, value]): [string, string][] =>
    name.startsWith(PREFIX) ? [[name.slice(PREFIX.length), String(value)]] : [],
  );
  const tls = objectsAt(spec, 'tls');
  const hosts = tls.flatMap((one) => (Array.isArray(one['hosts']) ? one['hosts'].map(String) : []));
  const isWhole = tls.some((one) => !Array.isArray(one['hosts']) || one['hosts'].length === 0);
  const className = objectAt(metadata, 'annotations')['kubernetes.io/ingress.class'];
  return {
    place,
    namespace: textAt(metadata, 'namespace') || 'default',
    name: textAt(metadata, 'name'),
    className: textAt(spec, 'ingressClassName') || (typeof className === 'string' ? className : ''),
    annotations: new Map(annotations),
    foreign: written
      .map(([name]) => name)
      .filter((name) => /^(?:nginx\.(?:org|com)|appprotect\.f5\.com)\//.test(name)),
    paths: objectsAt(spec, 'rules').flatMap((rule, index) =>
      readPaths(rule, `${place} spec.rules[${index}]`),
    ),
    defaultBackend: readBackend(objectAt(spec, 'defaultBackend')) ?? readBackend(objectAt(spec, 'backend')),
    tlsHosts: isWhole ? null : hosts.map((host) => host.toLowerCase()),
  };
}

function readPaths(rule: SourceFields, place: string): readonly IngressPath[] {
  const host = textAt(rule, 'host').toLowerCase();
  return objectsAt(objectAt(rule, 'http'), 'paths').map((one, index) => {
    const type = textAt(one, 'pathType');
    return {
      host,
      path: textAt(one, 'path') || '/',
      type: type === 'Exact' || type === 'Prefix' ? type : 'ImplementationSpecific',
      backend: readBackend(objectAt(one, 'backend')),
      place: `${place}.http.paths[${index}]`,
    };
  });
}

/** A backend in the form of `networking.k8s.io/v1`, or that of the versions before it. */
function readBackend(fields: SourceFields): IngressBackend | null {
  const service = objectAt(fields, 'service');
  const port = objectAt(service, 'port');
  const name = textAt(service, 'name') || textAt(fields, 'serviceName');
  if (name === '') return null;
  return {
    service: name,
    port: textAt(port, 'number') || textAt(port, 'name') || textAt(fields, 'servicePort'),
  };
}

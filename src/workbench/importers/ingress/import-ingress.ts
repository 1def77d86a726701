/**
 * Translates Ingress objects of Kubernetes as ingress-nginx serves them: the `server` and `location` blocks that the controller
 * writes are made as directives, which the importer of nginx translates. Read this file first.
 */
import { addEntry, markDifference, markMissing, markNeedless } from '../draft.ts';
import type { Importer } from '../importer.ts';
import type { NginxImport } from '../nginx/context.ts';
import { importDirectives } from '../nginx/import-nginx.ts';
import type { ImportedEdge, ImporterOptions, ImportRefusal, SourceFile } from '../report.ts';
import { annotationPlace, isOn, judgeAnnotation } from './annotations.ts';
import { addCanary } from './canaries.ts';
import { type Ingress, type Manifests, PREFIX, readManifests } from './read-manifests.ts';
import { type IngressHost, readHosts, writeServers } from './write-servers.ts';

/** Classes of other controllers. */
const OTHER_CLASSES =
  /^(?:traefik|haproxy|contour|kong|istio|alb|gce|azure|ambassador|cilium|voyager|skipper)/i;

const NOTES: readonly string[] = [
  'origins are Services of the cluster by name, or by the address of their manifest; write addresses that the edge reaches',
  'places name the annotation, and sources the directives of nginx that the controller writes for it',
];

/** Translates the files. */
export function importIngress(
  files: readonly SourceFile[],
  options: ImporterOptions,
): ImportedEdge | ImportRefusal {
  const manifests = readManifests(files);
  if ('ok' in manifests) return manifests;
  const isOwn = ({ className }: Ingress): boolean => !OTHER_CLASSES.test(className);
  const own = { ...manifests, ingresses: manifests.ingresses.filter(isOwn) };
  const hosts = readHosts(own.ingresses);
  return importDirectives(writeServers(hosts, own), options, {
    place: files[0]?.name ?? null,
    finish: (state) => {
      for (const ingress of manifests.ingresses) {
        if (isOwn(ingress)) reportAnnotations(state, ingress, { hosts, manifests: own });
        else
          markNeedless(
            addEntry(state.draft, ingress.place, `class ${ingress.className}`),
            'another controller serves it',
          );
      }
      // Locations of one Ingress share directives.
      const distinct = new Set(state.draft.entries);
      state.draft.entries.splice(0, state.draft.entries.length, ...distinct);
      state.draft.notes.push(...NOTES);
    },
  });
}

/** Adds what an Ingress has beside its directives. */
function reportAnnotations(
  state: NginxImport,
  ingress: Ingress,
  { hosts, manifests }: { readonly hosts: readonly IngressHost[]; readonly manifests: Manifests },
): void {
  const { draft } = state;
  for (const [name, value] of ingress.annotations) {
    const judged = judgeAnnotation(name, value);
    if (judged === null) continue;
    const entry = addEntry(draft, annotationPlace(ingress, name), `${PREFIX}${name}: ${value}`);
    if (judged.needless) markNeedless(entry, judged.reason);
    else {
      markMissing(entry, judged.reason);
      entry.kind = name;
    }
  }
  for (const name of ingress.foreign)
    markMissing(addEntry(draft, ingress.place, name), 'it is an annotation of another controller');
  if (isOn(ingress, 'canary')) addCanary({ draft, hosts, manifests }, ingress);
  noteUnread(state, ingress, manifests);
}

/** States what the directives of annotations leave out. */
function noteUnread({ draft, entries }: NginxImport, ingress: Ingress, { configMaps }: Manifests): void {
  const { annotations, namespace } = ingress;
  const exempt = annotations.get('limit-whitelist') ?? annotations.get('limit-allowlist');
  for (const [directive, entry] of entries) {
    const isLimit = directive.name === 'limit_req' && directive.place.startsWith(`${ingress.place} `);
    if (isLimit && exempt !== undefined)
      markDifference(entry, `addresses of \`limit-whitelist\` (${exempt}) are limited as well`);
  }
  const named = annotations.get('custom-headers');
  const key = named === undefined || named.includes('/') ? named : `${namespace}/${named}`;
  if (key !== undefined && !configMaps.has(key))
    markMissing(
      addEntry(draft, annotationPlace(ingress, 'custom-headers'), `${PREFIX}custom-headers: ${named}`),
      `the ConfigMap \`${key}\` is not among the files`,
    );
  for (const path of ingress.paths)
    if (path.backend === null && !isOn(ingress, 'canary'))
      markMissing(
        addEntry(draft, path.place, path.path),
        'its backend is no Service: its requests are answered 404',
      );
}

/** The importer of ingress-nginx. */
export const INGRESS: Importer = {
  name: 'ingress-nginx',
  files: 'manifests in YAML or JSON with Ingress objects, and Services beside them; - is stdin',
  summary: 'translate Ingress objects of Kubernetes to an edge file',
  description:
    'Translates hosts, paths, TLS and the annotations of ingress-nginx: rewrite-target, redirects, source ranges, limits, ' +
    'authentication, snippets, canaries by header or cookie. Services in the files name the addresses of the origins.',
  examples: [
    'edgeplan import ingress-nginx ingress.yaml services.yaml -o edge.yaml',
    'kubectl get ingress,service -A -o yaml | edgeplan import ingress-nginx - --domain example.com',
  ],
  translate: (files, options) => importIngress(files, options),
};

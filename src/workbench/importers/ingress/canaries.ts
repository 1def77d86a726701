/** Canary Ingress objects: a part of the requests of a path, chosen by a header or a cookie, has an origin of its own. */
import {
  addEntry,
  addRule,
  type DraftEntry,
  type ImportDraft,
  markDifference,
  markMissing,
} from '../draft.ts';
import { type ImportedFact, valueFact } from '../facts.ts';
import { EVERY_REQUEST, filtersOf, type ImportedCondition, ruleFields } from '../filter.ts';
import { equalsText, startsWithText, type TextTest } from '../text-test.ts';
import { annotationPlace } from './annotations.ts';
import type { Ingress, IngressPath, Manifests } from './read-manifests.ts';
import { addressOf, type IngressHost } from './write-servers.ts';

/** What canaries are read with. */
export interface CanaryContext {
  readonly draft: ImportDraft;
  readonly hosts: readonly IngressHost[];
  readonly manifests: Manifests;
}

/** Adds the routes of a canary. They come before the others, as the controller asks for canaries first. */
export function addCanary(context: CanaryContext, ingress: Ingress): void {
  const entry = addEntry(context.draft, annotationPlace(ingress, 'canary'), 'canary: "true"');
  const weight = Number(ingress.annotations.get('canary-weight') ?? 0);
  const chosen = chosenBy(ingress);
  if (chosen === null) {
    markMissing(entry, weight > 0 ? 'no rule takes a share of the requests' : 'it chooses no requests');
    return;
  }
  if (weight > 0) markDifference(entry, 'no rule takes a share of the requests (`canary-weight`)');
  for (const path of ingress.paths) addRoute(context, entry, { ingress, path, chosen });
}

/** The requests that a header or a cookie sends to the canary; `null`: neither chooses. */
function chosenBy({ annotations }: Ingress): ImportedCondition | null {
  const fact = (one: ImportedFact): ImportedCondition => ({ kind: 'fact', fact: one });
  const header = annotations.get('canary-by-header');
  const cookie = annotations.get('canary-by-cookie');
  const value = annotations.get('canary-by-header-value');
  const pattern = annotations.get('canary-by-header-pattern');
  const of: ImportedCondition[] = [];
  if (header !== undefined) {
    const isPattern = value === undefined && pattern !== undefined;
    const values = [value ?? pattern ?? 'always'];
    of.push(fact(valueFact('headers', header, { op: isPattern ? 'regex' : 'equals', values })));
  }
  if (cookie !== undefined) {
    const isAlways = fact(valueFact('cookies', cookie, { op: 'equals', values: ['always'] }));
    const isPlain = header !== undefined && value === undefined && pattern === undefined;
    const never = isPlain ? fact(valueFact('headers', header, { op: 'equals', values: ['never'] })) : null;
    of.push(never === null ? isAlways : { kind: 'all', of: [isAlways, { kind: 'not', of: never }] });
  }
  return of.length === 0 ? null : { kind: 'any', of };
}

interface CanaryPath {
  readonly ingress: Ingress;
  readonly path: IngressPath;
  readonly chosen: ImportedCondition;
}

function addRoute(
  { draft, hosts, manifests }: CanaryContext,
  entry: DraftEntry,
  { ingress, path, chosen }: CanaryPath,
): void {
  const host = hosts.find((one) => one.host === path.host);
  if (host === undefined || path.host === '' || path.host.startsWith('*')) {
    markMissing(entry, `no other Ingress has the host \`${path.host}\` by its name`);
    return;
  }
  if (host.hasRegexes) {
    markMissing(entry, 'the paths of its host are regexes, whose order decides');
    return;
  }
  if (path.backend === null) {
    markMissing(entry, 'its backend is no service');
    return;
  }
  const tests = pathTests(path);
  const excludes = host.locations
    .filter(({ path: other }) => other.length > path.path.length + 1 && other.startsWith(path.path))
    .flatMap((one) => pathTests({ ...path, path: one.path, type: one.type }));
  const of: ImportedCondition[] = [
    { kind: 'host', tests: [equalsText(path.host)] },
    { kind: 'path', tests },
    chosen,
    ...(excludes.length === 0 ? [] : [{ kind: 'not', of: { kind: 'path', tests: excludes } } as const]),
  ];
  const read = filtersOf({ kind: 'all', of });
  if (!read.ok) {
    markMissing(entry, read.reason);
    return;
  }
  const [, address = '', port] =
    /^\[?(.+?)\]?(?::(\d+))?$/.exec(addressOf(ingress, path.backend, manifests)) ?? [];
  const protocol = (ingress.annotations.get('backend-protocol') ?? 'http').trim().toLowerCase();
  const origin = {
    address,
    port: port === undefined ? null : Number(port),
    scheme: protocol === 'https' ? 'https' : 'http',
  };
  for (const filter of read.filters) {
    const fields = { ...ruleFields({ ...EVERY_REQUEST, ...filter }), ...origin, host_header: '' };
    if (addRule(draft, entry, 'origin_route', fields)) draft.rules.unshift(draft.rules.pop()!);
  }
}

/** The paths of a rule: below a slash, or by their beginning. */
function pathTests({ path, type }: Pick<IngressPath, 'path' | 'type'>): readonly TextTest[] {
  if (type === 'Exact') return [equalsText(path)];
  if (type === 'ImplementationSpecific' || path.endsWith('/')) return [startsWithText(path)];
  return [equalsText(path), startsWithText(`${path}/`)];
}

/**
 * Discovers the operations of an API from its traffic. In: methods and generalized paths of requests that the API has answered with a
 * success (`engine/counts/unknown-operation.ts`). Out: operations with path templates. The same requests give the same operations.
 *
 * Obvious values are parameters. Words are values, too, where there are many after one beginning, alike, and new ones are still
 * seen; directly below the base path they never are, since paths that scanners try are there.
 */
import { decodeEscapes } from '../../base/octets/octets.ts';
import {
  MANY_CONTINUED,
  MANY_ENDINGS,
  MAX_NODES,
  MAX_SETTLED_SHARE,
  MAX_TEMPLATE,
  MIN_CONTINUED,
  MIN_DIGITS,
  MIN_ENDINGS,
  MIN_RARE_SHARE,
  RARE_REQUESTS,
  USUAL_FACTOR,
} from './limits.ts';
import { type ParameterType, parameterName } from './parameter-names.ts';
import {
  addObserved,
  createPathTree,
  EXTENDED,
  type ObservedRequests,
  type PathNode,
  type PathTree,
  toParameter,
} from './path-tree.ts';

/** A parameter of a path. */
export interface DiscoveredParameter {
  readonly name: string;
  readonly type: ParameterType;
}

/** An operation that traffic shows. */
export interface DiscoveredOperation {
  readonly method: string;
  /** The template. */
  readonly path: string;
  readonly parameters: readonly DiscoveredParameter[];
  readonly requests: number;
  /** Requests by the status of the response, ascending; empty: not known. */
  readonly statuses: ReadonlyMap<number, number>;
}

/** What was discovered. */
export interface Discovered {
  /** By path and method. */
  readonly operations: readonly DiscoveredOperation[];
  /** Requests of paths beyond the bound of memory, or with a template beyond its bound. */
  readonly leftOut: number;
}

/** Collects requests and makes operations of them. */
export interface Discovery {
  add(observed: ObservedRequests): void;
  /** The operations; nothing is added afterwards. */
  discover(): Discovered;
}

/** Starts to collect. */
export function createDiscovery(): Discovery {
  const tree = createPathTree();
  let leftOut = 0;
  let isFull = false;
  return {
    add(observed) {
      if (addObserved(tree, observed)) return;
      if (!isFull) settle(tree, tree.root, { isFirst: true });
      // Paths that have no values are as many as before: to look again for each request would take too long.
      isFull ||= tree.nodes > MAX_NODES * MAX_SETTLED_SHARE;
      if (!addObserved(tree, observed)) leftOut += observed.requests;
    },
    discover() {
      settle(tree, tree.root, { isFirst: true });
      const operations: DiscoveredOperation[] = [];
      for (const one of operationsBelow(tree.root, { texts: [], parameters: [] })) {
        if (one.path.length <= MAX_TEMPLATE) operations.push(one);
        else leftOut += one.requests;
      }
      return { operations: operations.sort(byPath), leftOut };
    },
  };
}

function byPath(one: DiscoveredOperation, other: DiscoveredOperation): number {
  return compare(one.path, other.path) || compare(one.method, other.method);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Words that APIs have beside identifiers: never values. */
const USUAL_WORDS: ReadonlySet<string> = new Set(
  'me self all new search count batch bulk export import latest current login logout status stats summary query'.split(
    ' ',
  ),
);

/** Decides of a node and all below it which words are values. */
function settle(tree: PathTree, node: PathNode, { isFirst }: { readonly isFirst: boolean }): void {
  mergeDigits(tree, node);
  if (!isFirst) mergeValues(tree, node);
  // What a merged word leads to is below the parameter.
  for (const child of node.words.values()) settle(tree, child, { isFirst: false });
  if (node.parameter !== null) settle(tree, node.parameter, { isFirst: false });
}

/** Makes words that are values the parameter of a node, then further words that are like them. */
function mergeValues(tree: PathTree, node: PathNode): void {
  const words = [...node.words.keys()].filter(mayBeValue);
  const values = new Set([...manyEndings(node, words), ...manyContinued(node, words)]);
  if (values.size === 0) return;
  const requests = [...values].reduce((sum, word) => sum + requestsBelow(node.words.get(word)!), 0);
  const most = Math.max(RARE_REQUESTS, (requests / values.size) * USUAL_FACTOR);
  toParameter(tree, node, [...values]);
  const { parameter } = node;
  const alike = words.filter((word) => {
    const child = node.words.get(word);
    return child !== undefined && (requestsBelow(child) <= most || isWithin(child, parameter!));
  });
  toParameter(tree, node, alike);
}

function mayBeValue(word: string): boolean {
  return word !== '' && !word.startsWith(EXTENDED) && !USUAL_WORDS.has(word);
}

/** Single digits are values beside other numbers, or if there are several. */
function mergeDigits(tree: PathTree, node: PathNode): void {
  const digits = [...node.words.keys()].filter((word) => /^[0-9]$/.test(word));
  if (node.kinds.has('integer') || digits.length >= MIN_DIGITS) toParameter(tree, node, digits, 'integer');
}

/** Words that paths of one method end with, if there are many. */
function manyEndings(node: PathNode, words: readonly string[]): readonly string[] {
  const groups = grouped(words, (word) => node.words.get(word)!.methods.keys());
  return groups.filter((group) => areValues(node, group, { least: MIN_ENDINGS, many: MANY_ENDINGS })).flat();
}

/** Words that the same word follows, if there are many. */
function manyContinued(node: PathNode, words: readonly string[]): readonly string[] {
  const groups = grouped(words, (word) => node.words.get(word)!.words.keys());
  return groups
    .filter((group) => areValues(node, group, { least: MIN_CONTINUED, many: MANY_CONTINUED }))
    .flat();
}

/** The words of each key. */
function grouped(
  words: readonly string[],
  keysOf: (word: string) => Iterable<string>,
): readonly (readonly string[])[] {
  const groups = new Map<string, string[]>();
  for (const word of words) {
    for (const key of keysOf(word)) {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [word]);
      else group.push(word);
    }
  }
  return [...groups.values()];
}

/** Whether alike words are values of a parameter. */
function areValues(
  node: PathNode,
  group: readonly string[],
  { least, many }: { readonly least: number; readonly many: number },
): boolean {
  if (group.length < least) return false;
  const rare = group.filter((word) => requestsBelow(node.words.get(word)!) <= RARE_REQUESTS);
  return group.length >= many || rare.length >= group.length * MIN_RARE_SHARE;
}

/** Requests of a node and all below it. */
function requestsBelow({ methods, words, parameter }: PathNode): number {
  let requests = 0;
  for (const seen of methods.values()) requests += seen.requests;
  for (const child of words.values()) requests += requestsBelow(child);
  return parameter === null ? requests : requests + requestsBelow(parameter);
}

/** Whether a node has all methods and children of another one. */
function isWithin(part: PathNode, whole: PathNode): boolean {
  if ([...part.methods.keys()].some((method) => !whole.methods.has(method))) return false;
  if (part.parameter !== null && (whole.parameter === null || !isWithin(part.parameter, whole.parameter)))
    return false;
  return [...part.words].every(([word, child]) => {
    const other = whole.words.get(word) ?? whole.parameter;
    return other !== null && isWithin(child, other);
  });
}

/** A beginning of templates. */
interface Beginning {
  readonly texts: readonly string[];
  readonly parameters: readonly DiscoveredParameter[];
}

/** The operations of a node and all below it. HEAD is an operation of its own where there is no GET. */
function operationsBelow(node: PathNode, { texts, parameters }: Beginning): readonly DiscoveredOperation[] {
  const own = [...node.methods]
    .filter(([method]) => method !== 'HEAD' || !node.methods.has('GET'))
    .map(([method, { requests, statuses }]) => ({
      method,
      path: `/${texts.join('/')}`,
      parameters,
      requests,
      statuses: new Map([...statuses].sort(([one], [other]) => one - other)),
    }));
  const used = parameters.map((one) => one.name);
  const withParameter = (type: ParameterType, extension: string): Beginning => {
    const name = parameterName(texts, { type, used });
    return { texts: [...texts, `{${name}}${extension}`], parameters: [...parameters, { name, type }] };
  };
  const words = [...node.words].flatMap(([word, child]) =>
    operationsBelow(
      child,
      word.startsWith(EXTENDED)
        ? withParameter('string', word.slice(EXTENDED.length))
        : { texts: [...texts, literal(word)], parameters },
    ),
  );
  if (node.parameter === null) return [...own, ...words];
  return [...own, ...words, ...operationsBelow(node.parameter, withParameter(typeOf(node), ''))];
}

function typeOf({ kinds }: PathNode): ParameterType {
  const [kind] = kinds;
  return kinds.size === 1 && (kind === 'integer' || kind === 'uuid' || kind === 'date') ? kind : 'string';
}

/** Characters that a template has percent-encoded, beside `%`: blanks, controls, `?`, `#`, quotes. */
const ENCODED = /[\u0000-\u0020"#%?\u007f\u2028\u2029]/g;

/** A word of a canonical path as a template has it. INVARIANT: `decodeEscapes` of it is the word. */
function literal(word: string): string {
  const text = word.replace(ENCODED, (character) => encodeURIComponent(character));
  return decodeEscapes(text) === word ? text : encodeURIComponent(word);
}

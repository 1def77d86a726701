/**
 * Lays out the document of an edge file or a test file: keys in canonical order, short lists and mappings on one line,
 * records one a line, quotes of one kind. The document is changed in place and printed; its values and comments stay.
 */
import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Pair,
  Parser,
  Scalar,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { assert } from '../../base/diagnostics/assert.ts';
import { type KeyOrders, TEST_ORDER, TEST_PARTS } from './test-schema.ts';

/** The longest list or mapping, in characters of JSON without its quotes, that is printed on one line. */
const LINE = 100;

/** Options of the parser for documents that are laid out. */
export const LAYOUT_SCHEMA = {
  schema: 'core',
  // YAML 1.1 reads `no`, `on` and `1:30` as other types, so they are quoted for its readers.
  compat: 'yaml-1.1',
  resolveKnownTags: false,
  uniqueKeys: false,
} as const;

type Collection = YAMLMap | YAMLSeq;

/** What a document is laid out by. */
export interface LayoutOptions {
  /** What it was parsed from; empty for a document that was built. */
  readonly text: string;
  readonly orders: KeyOrders;
}

/** Lays out a document and prints it. */
export function layOut(document: Document, { text, orders }: LayoutOptions): string {
  const root = document.contents;
  normaliseScalars(document);
  const headers = takeHeaders(document, text);
  const behind = commentsBehind(document);
  if (isMap(root)) {
    // An alias must not precede its anchor.
    const sorts = !hasAlias(document);
    const layout: Layout = { text, orders, sort: (map, order) => sorts && sortKeys(map, order, text) };
    layOutRoot(document, root, layout);
  }
  for (const [pair, header] of headers) putHeader(pair, header);
  for (const [node, key] of behind) if (node.flow !== true) moveUp(node, key);
  visit(document, { Collection: (_, node) => padMappingsOnly(node as Collection) });
  return document.toString({
    lineWidth: 0,
    flowCollectionPadding: true,
    // Quoted text with line breaks stays on one line.
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  });
}

/** Lays out a text that is YAML without errors. */
export function layOutText(text: string, orders: KeyOrders): string {
  return layOut(parseWithComments(text, LAYOUT_SCHEMA), { text, orders });
}

/**
 * Removes the comments behind keys whose value is on the lines below (`rules: # ours`); the parser puts them above the first
 * entry.
 */
function takeHeaders(document: Document, text: string): ReadonlyMap<Pair, string> {
  const headers = new Map<Pair, string>();
  visit(document, {
    Pair: (_, pair) => {
      const { key, value } = pair;
      if (!isScalar(key) || !(isMap(value) || isSeq(value)) || value.commentBefore == null) return;
      const [line = ''] = text.slice(key.range?.[1], value.range?.[0]).split(/[\r\n]/, 1);
      if (!line.includes('#')) return;
      const [header = '', ...above] = value.commentBefore.split('\n');
      value.commentBefore = above.length === 0 ? null : above.join('\n').replace(/^\n/, '');
      headers.set(pair, header);
    },
  });
  return headers;
}

/** Puts such a comment back: behind the key, or behind a value that is on its line now. */
function putHeader({ key, value }: Pair, header: string): void {
  if (!isScalar(key) || !(isMap(value) || isSeq(value))) return;
  if (value.flow === true && value.comment == null) value.comment = header;
  else key.comment = header;
}

/** The collections in brackets with a comment behind them, and the key of each; `null`: it is an entry of a list. */
function commentsBehind(document: Document): ReadonlyMap<Collection, Scalar | null> {
  const behind = new Map<Collection, Scalar | null>();
  visit(document, {
    Collection: (_, node, path) => {
      const collection = node as Collection;
      if (collection.flow !== true || collection.comment == null) return;
      const parent = path.at(-1);
      behind.set(collection, isPair(parent) && isScalar(parent.key) ? parent.key : null);
    },
  });
  return behind;
}

/** Puts the comment behind the brackets of a collection, which has none any more, behind its key or above the entry. */
function moveUp(node: Collection, key: Scalar | null): void {
  const { comment } = node;
  node.comment = null;
  if (key !== null && key.comment == null) key.comment = comment ?? null;
  else node.commentBefore = [node.commentBefore, comment].filter((one) => one != null).join('\n');
}

/** How collections are laid out. */
interface Layout extends LayoutOptions {
  /** Sorts the keys of a mapping; whether another key is first now. */
  sort(map: YAMLMap, order: readonly string[]): boolean;
}

/** Whether a document refers to an anchor. */
function hasAlias(document: Document): boolean {
  let found = false;
  visit(document, {
    Alias: () => {
      found = true;
      return visit.BREAK;
    },
  });
  return found;
}

/** Lays out a whole file. */
function layOutRoot(document: Document, root: YAMLMap, layout: Layout): void {
  root.flow = false;
  const [first] = root.items as readonly Pair[];
  const opening = isScalar(first?.key) ? first.key : null;
  const header = opening?.commentBefore ?? null;
  if (layout.sort(root, layout.orders.file) && opening !== null && header !== null) {
    // What opens a file is about the file, and editors read the schema's name in its first line.
    opening.commentBefore = null;
    document.commentBefore = [document.commentBefore, header].filter((one) => one != null).join('\n\n');
  }
  const { domain = [], rule: ruleOrder = () => [] } = layout.orders;
  for (const { key, value } of root.items as readonly Pair[]) {
    const name = textOf(key);
    if (name === 'domain' && isMap(value)) layOutFields(value, domain, layout);
    else if (name === 'defaults' && isMap(value)) layOutFields(value, TEST_PARTS['defaults']!, layout);
    else if (name === 'lists') layOutList(value, keepShort);
    else if (layout.orders.inLists?.[name] !== undefined)
      layOutList(value, (entry) => layOutEntry(entry, layout.orders.inLists![name]!, layout));
    else if (name === 'records') layOutList(value, (record) => layOutRecord(record, layout));
    else if (name === 'rules' || name === 'gateways')
      layOutList(value, (rule) => {
        sortInside(rule, '', layout);
        layOutFields(rule, ruleOrder(name === 'rules' ? rule.get('type') : 'gateway'), layout);
      });
    else if (name === 'tests' || name === 'invariants') layOutList(value, (test) => layOutTest(test, layout));
    else keepShort(value);
  }
}

/** Sorts the mappings inside a rule that have an order. @param above the path of the mapping with a dot after it */
function sortInside(map: YAMLMap, above: string, layout: Layout): void {
  for (const { key, value } of map.items as readonly Pair[]) {
    const path = `${above}${textOf(key)}`;
    const order = layout.orders.inRules?.[path];
    if (order === undefined) continue;
    for (const one of isSeq(value) ? value.items : [value]) {
      if (!isMap(one)) continue;
      layout.sort(one, order);
      sortInside(one, `${path}.`, layout);
    }
  }
}

/** Lays out a list of mappings, each on lines of its own. */
function layOutList(list: unknown, layOutEntry: (entry: YAMLMap) => void): void {
  if (!isSeq(list)) return;
  list.flow = list.items.length === 0;
  for (const item of list.items) {
    if (isMap(item)) layOutEntry(item);
    else keepShort(item);
  }
}

/** Prints a record on one line, unless it has comments. */
function layOutRecord(record: YAMLMap, { sort, orders }: Layout): void {
  sort(record, orders.record ?? []);
  if (isPlain(record)) makeFlow(record);
  else layOutBlock(record);
}

/** Prints an entry of a list on one line where it is short, else each field on lines of its own. */
function layOutEntry(entry: YAMLMap, order: readonly string[], { sort }: Layout): void {
  sort(entry, order);
  keepShort(entry);
}

/** Prints each field of a mapping on lines of its own. */
function layOutFields(map: YAMLMap, order: readonly string[], { sort }: Layout): void {
  sort(map, order);
  layOutBlock(map);
}

/** Lays out a test, a case, a step or an invariant; its rows are printed one a line. */
function layOutTest(test: YAMLMap, layout: Layout): void {
  layout.sort(test, TEST_ORDER);
  test.flow = test.items.length === 0;
  for (const { key, value } of test.items as readonly Pair[]) {
    const name = textOf(key);
    const order = TEST_PARTS[name];
    if (order !== undefined && isMap(value)) layout.sort(value, order);
    if (name === 'cases' || name === 'steps') layOutList(value, (row) => layOutRow(row, layout));
    else keepShort(value);
  }
}

/** Prints a case or a step on one line where it is short and has no steps of its own. */
function layOutRow(row: YAMLMap, layout: Layout): void {
  layOutTest(row, layout);
  if (!row.has('steps') && isShort(row)) makeFlow(row);
}

/** Prints a mapping in block style, and the short ones of its values on one line. */
function layOutBlock(map: YAMLMap): void {
  map.flow = map.items.length === 0;
  for (const { value } of map.items as readonly Pair[]) keepShort(value);
}

/** Prints a short list or mapping on one line, and each entry of a long list of mappings on its own line. */
function keepShort(node: unknown): void {
  if (!isMap(node) && !isSeq(node)) return;
  // A comment above the first entry.
  const above = node.commentBefore != null && node.flow !== true;
  if (!above && isShort(node)) {
    makeFlow(node);
    return;
  }
  if (isMap(node)) {
    layOutBlock(node);
    return;
  }
  node.flow = node.items.length === 0;
  for (const item of node.items) {
    if ((isMap(item) || isSeq(item)) && isPlain(item)) makeFlow(item);
    else keepShort(item);
  }
}

/** Whether a collection fits on a line. */
function isShort(node: Collection): boolean {
  return isPlain(node) && JSON.stringify(node.toJSON()).replaceAll('"', '').length <= LINE;
}

/** Whether a collection can be printed on one line: without comments and text of several lines. */
function isPlain(node: Collection): boolean {
  let plain = true;
  visit(node, {
    Node: (_, inner) => {
      const own = inner === node;
      // A comment before a collection and after it is beside it.
      const commented = own
        ? isCommentedInside(node)
        : inner.comment != null || (!isAlias(inner) && inner.commentBefore != null);
      const broken = isScalar(inner) && typeof inner.value === 'string' && /[\n\r]/.test(inner.value);
      plain = !commented && !broken;
      return plain ? undefined : visit.BREAK;
    },
  });
  return plain;
}

/** Whether the last comment of a collection is below its entries; that of one in brackets is behind it. */
function isCommentedInside(node: Collection): boolean {
  return node.flow !== true && node.comment != null;
}

/** Prints a collection on one line. */
function makeFlow(node: Collection): void {
  node.flow = true;
  visit(node, {
    Node: (_, inner) => {
      if (inner !== node && !isAlias(inner)) inner.spaceBefore = false;
      if (isScalar(inner)) quoteInFlow(inner);
    },
  });
}

/** Sorts the keys of a mapping; keys that the order does not have come last. Whether another key is first now. */
function sortKeys(map: YAMLMap, order: readonly string[], text: string): boolean {
  const pairs = map.items as Pair[];
  const rank = (pair: Pair): number => {
    const index = order.indexOf(textOf(pair.key));
    return index < 0 ? order.length : index;
  };
  const [first] = pairs;
  const sorted = pairs.map((pair) => ({ pair, at: rank(pair) })).sort((one, other) => one.at - other.at);
  if (first === undefined || sorted[0]!.pair === first) {
    map.items = sorted.map(({ pair }) => pair);
    return false;
  }
  // The comment above the first entry belongs to that entry; the parser attaches it to the mapping.
  if (isScalar(first.key) && isAboveFirst(map, text)) {
    first.key.commentBefore = map.commentBefore ?? null;
    map.commentBefore = null;
  }
  map.items = sorted.map(({ pair }) => pair);
  swapSpace(first.key, sorted[0]!.pair.key);
  return true;
}

/** Whether the comment of a mapping is on lines between its key and its first entry. */
function isAboveFirst(map: YAMLMap, text: string): boolean {
  if (map.commentBefore == null || map.range == null || map.flow === true) return false;
  const [start] = map.range;
  const above = text.slice(0, start).trimEnd();
  const line = above.slice(above.lastIndexOf('\n') + 1);
  return line.trimStart().startsWith('#');
}

/** Exchanges the blank line before two keys, so that it does not open the mapping. */
function swapSpace(one: unknown, other: unknown): void {
  if (!isScalar(one) || !isScalar(other)) return;
  const space = one.spaceBefore ?? false;
  one.spaceBefore = other.spaceBefore ?? false;
  other.spaceBefore = space;
}

/** The text of a key. */
function textOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : '';
}

/** Gives keys and values the form in which they are printed. */
function normaliseScalars(document: Document): void {
  visit(document, {
    Scalar: (at, node) => {
      // A key is read as it is written: `0502` is not `502`.
      if (at === 'key' && typeof node.value !== 'string') {
        node.value = node.source ?? String(node.value);
        node.type = 'PLAIN';
      }
      if (typeof node.value === 'boolean') delete node.source;
      if (typeof node.value !== 'string') return;
      if (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE') node.type = quotesFor(node.value);
      if (node.type === 'PLAIN' && /[\n\r]/.test(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
}

/** Double quotes, as JSON has; single ones where double ones would need escapes. */
function quotesFor(value: string): 'QUOTE_DOUBLE' | 'QUOTE_SINGLE' {
  const escapes = /["\\]/.test(value) && !value.includes("'");
  return escapes && /^[\u0020-\u007e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]*$/.test(value)
    ? Scalar.QUOTE_SINGLE
    : Scalar.QUOTE_DOUBLE;
}

/** Quotes text that is plain in block style and must be quoted between brackets. */
function quoteInFlow(node: Scalar): void {
  if (typeof node.value !== 'string') return;
  const block = node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED';
  if (block || (node.type === 'PLAIN' && /[[\]{},]/.test(node.value))) node.type = quotesFor(node.value);
}

/** Prints `[a, b]` and `{ a: b }`: the package pads both or none. */
function padMappingsOnly(node: Collection): void {
  const print = node.toString;
  node.toString = (context, ...rest) => {
    if (context === undefined || !('doc' in context)) return print.call(node, context, ...rest);
    return print.call(node, { ...context, flowCollectionPadding: isMap(node) ? ' ' : '' }, ...rest);
  };
}

// Parses YAML so that a comment belongs to what follows it at its own indentation. The parser attaches every comment after
// the last entry of a nested list to that list when the first of them is indented like the list; `split` gives those with a
// lower indentation to the next entry of the list or mapping around it.

type Block = CST.BlockMap | CST.BlockSequence;
type Entry = Block['items'][number];

/** Parses a text that is YAML without errors. */
function parseWithComments(text: string, options: ConstructorParameters<typeof Composer>[0]): Document {
  const tokens = [...new Parser().parse(text)];
  for (const token of tokens) if (token.type === 'document') splitIn(token.value);
  const [document] = [...new Composer(options).compose(tokens, true, text.length)];
  assert(document !== undefined, 'a text has one document');
  return document;
}

/** Whether a token is a list or mapping in block style. */
function isBlock(token: CST.Token | null | undefined): token is Block {
  return token?.type === 'block-map' || token?.type === 'block-seq';
}

/** Splits the comments at the end of every list and mapping below a token, the innermost first. */
function splitIn(token: CST.Token | undefined): void {
  if (!isBlock(token)) return;
  const items: Entry[] = token.items;
  for (let index = 0; index < items.length; index++) {
    const { value } = items[index]!;
    splitIn(value);
    if (!isBlock(value)) continue;
    const tail = takeTail(value);
    if (tail.length === 0) continue;
    const next = items[index + 1];
    if (next === undefined) items.push({ start: tail });
    else next.start = [...tail, ...next.start];
  }
}

/** Removes the comments at the end of a list or mapping that are indented less than it, with the blank lines above them. */
function takeTail(block: Block): CST.SourceToken[] {
  const last: Entry | undefined = block.items.at(-1);
  if (last === undefined || last.value !== undefined || last.sep !== undefined || 'key' in last) return [];
  const { start } = last;
  const first = start.findIndex((token) => token.type === 'comment' && token.indent < block.indent);
  if (first < 0) return [];
  let from = first;
  if (start[from - 1]?.type === 'space') from--;
  // The first line break ends the comment before.
  while (start[from - 1]?.type === 'newline' && start[from - 2]?.type === 'newline') from--;
  return start.splice(from);
}

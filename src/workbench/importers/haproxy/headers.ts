/** Lines that change headers, as headers rules. */
import { addRule, markMissing, markNeedless } from '../draft.ts';
import { type ImportedCondition, ruleFields } from '../filter.ts';
import { addAlternatives } from '../guard.ts';
import { allOf, entryOf, type HaproxyImport, noneOf, type Walk } from './context.ts';
import { formatPieces } from './log-format.ts';
import { type HaproxyLine, parseSample } from './parse-haproxy.ts';
import { readCondition, readTerms, splitCondition } from './read-condition.ts';
import type { HaproxyContext } from './read-criterion.ts';
import { filterParts } from './refusals.ts';

/** The actions of `http-request`. */
export const HEADER_ACTIONS = ['set-header', 'add-header', 'del-header', 'replace-header', 'replace-value'];

/** Actions of old lines, which have the header in one word. */
const OLD: Readonly<Record<string, string>> = { reqadd: 'add-header', rspadd: 'add-header' };

/** Adds the rules of a line; `words` begin with its action. */
export function changeHeader(
  state: HaproxyImport,
  walk: Walk,
  line: HaproxyLine,
  words: readonly string[],
): void {
  const entry = entryOf(state, line);
  const { own, condition: asked } = splitCondition(words);
  const [keyword = ''] = own;
  const action = OLD[keyword] ?? keyword;
  const { name, value } = OLD[keyword] === undefined ? namedValue(own) : oldValue(own);
  const side = /^(?:http-request|req)/.test(line.words[0]!) ? 'request' : 'response';
  if (!['set-header', 'add-header', 'del-header'].includes(action)) {
    // What only concerns the response of HAProxy itself, such as `capture`, changes no header.
    if (isQuiet(action)) markNeedless(entry, 'it decides nothing about a request');
    else markMissing(entry, `the action \`${action}\` has no equivalent`);
    return;
  }
  if (side === 'response' && !isOfConnection(state, walk, asked)) {
    markMissing(entry, 'its condition is about the response, or needs a request that HAProxy no longer has');
    return;
  }
  const context: HaproxyContext = { state, walk, isGuard: false, differences: [] };
  const condition = readCondition(context, asked);
  const inSource = allOf(condition, walk.scope, ...noneOf(walk.allowed));
  const lower = name.toLowerCase();
  const written = line.hasVariable ? null : headerValue(value);
  if (side === 'request') {
    const isText = written !== null && !written.includes('$');
    const then = action === 'del-header' ? null : action === 'set-header' && isText ? written : undefined;
    walk.changes = [
      ...walk.changes,
      { target: lower, condition: allOf(condition, ...noneOf(walk.allowed)), value: then, place: line.place },
    ];
  }
  if (side === 'request' && (lower === 'forwarded' || lower.startsWith('x-forwarded-'))) {
    markNeedless(entry, 'the edge sets it on its own');
    return;
  }
  if (side === 'request' && lower === 'host') {
    setHost(state, walk, line, { condition, written });
    return;
  }
  if (action === 'del-header' && own.includes('-m')) {
    markMissing(entry, 'headers are removed by their whole name');
    return;
  }
  if (action !== 'del-header' && written === null) {
    markMissing(entry, `\`${value}\` has parts without an equivalent in the value of a header`);
    return;
  }
  const change =
    action === 'del-header'
      ? { remove: [name] }
      : { [action === 'set-header' ? 'set' : 'add']: { [name]: written } };
  addAlternatives(state.draft, entry, {
    condition: inSource,
    differences: [],
    unmet: 'no request meets its condition',
    emit: (filter) => {
      for (const part of filterParts(filter))
        addRule(state.draft, entry, 'headers', { ...ruleFields(part), [side]: change });
      return null;
    },
  });
}

function namedValue([, name = '', ...value]: readonly string[]): {
  readonly name: string;
  readonly value: string;
} {
  return { name, value: value.join(' ') };
}

/** `Name: value` in one word. */
function oldValue([, text = '']: readonly string[]): { readonly name: string; readonly value: string } {
  const colon = text.indexOf(':');
  return {
    name: text.slice(0, colon < 0 ? text.length : colon),
    value: colon < 0 ? '' : text.slice(colon + 1).trim(),
  };
}

function isQuiet(action: string): boolean {
  return /^(?:capture|set-log-level|set-nice|set-tos|set-mark|sc-.*|cache-store|wait-for-body|set-var.*|unset-var.*|track-sc\d|strict-mode)$/.test(
    action.replace(/\(.*$/, ''),
  );
}

/** Fetches that are known while HAProxy works on a response. */
const OF_CONNECTION = ['ssl_fc', 'src', 'dst_port', 'method', 'always_true', 'always_false', 'var', 'TRUE'];

/** Whether a condition of a response asks for the connection and for variables alone. */
function isOfConnection(state: HaproxyImport, walk: Walk, asked: readonly string[]): boolean {
  const read = readTerms(state, walk.section, asked);
  if (typeof read === 'string') return false;
  const criteria = read.branches.flatMap((terms) => terms.flatMap((term) => term.criteria));
  return criteria.every(([expression = '']) =>
    OF_CONNECTION.includes(parseSample(expression)?.[0].name ?? ''),
  );
}

/** The Host header of the origin: that of its records and routes, where it is the same for every request. */
function setHost(
  state: HaproxyImport,
  walk: Walk,
  line: HaproxyLine,
  { condition, written }: { readonly condition: ImportedCondition; readonly written: string | null },
): void {
  const entry = entryOf(state, line);
  const isAlways = condition.kind === 'constant' && condition.value && walk.allowed.length === 0;
  if (written === '${host}') {
    markNeedless(entry, 'the origin gets the Host header of the visitor');
    return;
  }
  if (!isAlways || written === null || written.includes('$')) {
    markMissing(entry, 'an origin has one Host header: a literal one, or that of the visitor');
    return;
  }
  walk.hostHeader = written;
  entry.becomes.push('origin_route');
}

/** A value in the form of rules; `null`: it has parts without an equivalent. */
function headerValue(format: string): string | null {
  const pieces = formatPieces(format);
  if (typeof pieces === 'string') return null;
  let value = '';
  for (const piece of pieces) {
    if (piece.kind === 'text') value += piece.text.replaceAll('$', '$$$$');
    else if (['client_ip', 'host', 'method', 'request_id', 'scheme'].includes(piece.kind))
      value += `\${${piece.kind}}`;
    else return null;
  }
  return value.trim();
}

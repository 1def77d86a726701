/** Translates the lines of a frontend, a backend or a listen section in the order in which HAProxy evaluates them. */
import { markDifference, markMissing, markNeedless } from '../draft.ts';
import type { ImportedCondition } from '../filter.ts';
import { equalsText, startsWithText } from '../text-test.ts';
import {
  ALWAYS,
  activeLines,
  allOf,
  entryOf,
  type HaproxyImport,
  noneOf,
  settingOf,
  unknown,
  type Walk,
} from './context.ts';
import { changeHeader, HEADER_ACTIONS } from './headers.ts';
import { type HaproxyLine, type HaproxySection, parseSample } from './parse-haproxy.ts';
import { addLimit, trackKey } from './rate-limits.ts';
import { readCondition, readTerms, splitCondition } from './read-condition.ts';
import type { HaproxyContext } from './read-criterion.ts';
import { addRedirect } from './redirects.ts';
import { addRefusal } from './refusals.ts';
import { REWRITE_ACTIONS, rewriteRequest } from './rewrites.ts';

/** Creates the walk through a section that the requests of a scope reach. */
export function createWalk(
  section: HaproxySection,
  scope: ImportedCondition,
  before?: Pick<Walk, 'changes' | 'variables'>,
): Walk {
  return {
    section,
    scope,
    allowed: [],
    ended: [],
    carried: [],
    leaked: [],
    changes: before?.changes ?? [],
    variables: new Map(before?.variables ?? []),
    tracked: new Map(),
  };
}

/** The rulesets of a section in the order of their evaluation. */
const RULESETS: readonly ((words: readonly string[]) => boolean)[] = [
  ([keyword]) => keyword === 'bind' || keyword === 'monitor-uri',
  ([keyword, set]) => keyword === 'tcp-request' && set === 'connection',
  ([keyword, set]) => keyword === 'tcp-request' && set === 'session',
  ([keyword, set]) => keyword === 'tcp-request' && set === 'content',
  ([keyword]) => keyword === 'block' || OLD_REFUSALS.includes(keyword ?? ''),
  ([keyword]) => keyword === 'http-request',
  ([keyword]) => keyword === 'redirect',
  ([keyword]) => keyword === 'stats' || OLD_HEADERS.includes(keyword ?? ''),
  ([keyword]) => keyword === 'http-response' || keyword === 'http-after-response',
];

/** Refusals by regexes over lines of the request, of HAProxy before 2.1. */
const OLD_REFUSALS = ['reqdeny', 'reqideny', 'reqtarpit', 'reqitarpit'];
/** Headers as whole lines, of HAProxy before 2.1. */
const OLD_HEADERS = ['reqadd', 'rspadd', 'reqdel', 'reqidel', 'rspdel', 'rspidel'];

/** Translates all but the choice of the backend. */
export function walkSection(state: HaproxyImport, walk: Walk): void {
  const lines = activeLines(state, walk.section);
  for (const isOf of RULESETS) {
    walk.allowed.length = 0;
    for (const line of lines) if (isOf(line.words)) translateLine(state, walk, line);
  }
}

function translateLine(state: HaproxyImport, walk: Walk, line: HaproxyLine): void {
  const [keyword = '', second = ''] = line.words;
  if (keyword === 'bind') requireCertificate(state, walk, line);
  else if (keyword === 'monitor-uri') answerPath(state, walk, line, second);
  else if (keyword === 'stats') answerStats(state, walk, line);
  else if (OLD_REFUSALS.includes(keyword)) {
    const condition = unknown(line.words.slice(1).join(' '), 'is a regex over a line of the request');
    addRefusal(state, walk, line, { condition, status: 403, differences: [] });
  } else if (OLD_HEADERS.includes(keyword))
    changeHeader(state, walk, line, [keyword, ...line.words.slice(1)]);
  else if (keyword === 'block') act(state, walk, line, ['deny', ...line.words.slice(1)]);
  else if (keyword === 'redirect') act(state, walk, line, line.words);
  else if (keyword === 'tcp-request') act(state, walk, line, line.words.slice(2));
  else if (keyword === 'http-request') act(state, walk, line, line.words.slice(1));
  else changeHeader(state, walk, line, line.words.slice(1));
}

/** Actions that refuse a request, with the status that the visitor gets, and what HAProxy does otherwise. */
const REFUSING: Readonly<
  Record<string, { readonly status: number; readonly differences: readonly string[] }>
> = {
  deny: { status: 403, differences: [] },
  tarpit: { status: 500, differences: ['HAProxy answers after a delay; the edge refuses at once'] },
  reject: { status: 403, differences: ['HAProxy closes the connection; the edge answers 403'] },
  'silent-drop': { status: 403, differences: ['HAProxy answers nothing; the edge answers 403'] },
};

/** Actions that decide nothing about a request. */
const NEEDLESS =
  /^(?:capture|set-log-level|set-nice|set-tos|set-mark|set-(?:fc|bc)-(?:tos|mark)|disable-l7-retry|set-timeout|strict-mode|wait-for-body|wait-for-handshake|normalize-uri|expect-proxy|expect-netscaler-cip|inspect-delay|sc-(?:inc|set|add)-.*|unset-var.*|set-priority-.*|early-hint|cache-use|cache-store|use-service lua\.)$/;

/** Translates an action of `http-request` or `tcp-request`. */
function act(state: HaproxyImport, walk: Walk, line: HaproxyLine, words: readonly string[]): void {
  const entry = entryOf(state, line);
  const { own, condition: asked } = splitCondition(words);
  const [action = ''] = own;
  const refusing = REFUSING[action];
  const isGuard = refusing !== undefined || ['auth', 'return', 'use-service'].includes(action);
  const context: HaproxyContext = { state, walk, isGuard, differences: [] };
  const read = readCondition(context, asked);
  const differ = (): void => {
    for (const one of context.differences) markDifference(entry, one);
  };
  if (refusing !== undefined) {
    const branches = readTerms(state, walk.section, asked);
    const rest = typeof branches === 'string' ? null : addLimit(state, walk, line, { words: own, branches });
    if (rest === 'whole') return;
    const status = statusOf(own) ?? refusing.status;
    addRefusal(state, walk, line, { condition: rest ?? read, status, differences: refusing.differences });
  } else if (action === 'auth' || action === 'use-service') {
    const closed =
      action === 'auth' ? 'no rule asks for a password' : 'no rule answers as a service of HAProxy';
    addRefusal(state, walk, line, { condition: read, status: 401, differences: [], closed });
  } else if (action === 'return') answer(state, walk, line, { words: own, condition: read });
  else if (action === 'allow' || action === 'accept') {
    // What it lets through must not depend on the environment.
    if (line.hasVariable) {
      markMissing(entry, 'it depends on the environment of HAProxy');
      return;
    }
    walk.allowed.push(read);
    markNeedless(entry, 'it lets requests pass the lines after it, whose rules except them');
  } else if (action === 'redirect') {
    addRedirect(state, walk, line, { words: own.slice(1), condition: read });
    differ();
  } else if (REWRITE_ACTIONS.includes(action)) {
    const before = { ...walk, changes: walk.changes.filter(({ target }) => target !== 'path') };
    const original = readCondition({ ...context, walk: before }, asked);
    rewriteRequest(state, walk, line, { words: own, condition: read, original });
    differ();
  } else if (HEADER_ACTIONS.includes(action)) {
    changeHeader(state, walk, line, words);
  } else if (action.startsWith('set-var')) setVariable(state, walk, line, { words: own, condition: read });
  else if (action.startsWith('track-sc')) trackKey(state, walk, line, { words: own, condition: read });
  else if (NEEDLESS.test(action)) markNeedless(entry, 'it decides nothing about a request');
  else {
    markMissing(entry, REASONS[action] ?? `the action \`${action}\` has no equivalent`);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  'set-src': 'trusted proxies are an option of the node (`--trusted-proxies`)',
  'set-src-port': 'trusted proxies are an option of the node (`--trusted-proxies`)',
};

/** The status that a line states; `null`: it states none. */
function statusOf(words: readonly string[]): number | null {
  const at = words.findIndex((word) => word === 'deny_status' || word === 'status');
  const status = at < 0 ? Number.NaN : Number(words[at + 1]);
  return Number.isInteger(status) ? status : null;
}

/** `http-request return`: a refusal by its status, or an answer that no rule gives. */
function answer(
  state: HaproxyImport,
  walk: Walk,
  line: HaproxyLine,
  { words, condition }: { readonly words: readonly string[]; readonly condition: ImportedCondition },
): void {
  const status = statusOf(words) ?? 200;
  const closed = status >= 400 ? {} : { closed: 'no rule answers with a text of its own' };
  const content = ['string', 'file', 'lf-string', 'lf-file', 'errorfile', 'hdr'];
  const differences = words.some((word) => content.includes(word))
    ? ['the edge answers with its own page; write the text into a rule of type error_page']
    : [];
  addRefusal(state, walk, line, { condition, status, differences, ...closed });
}

/** A listener that asks for a client certificate. */
function requireCertificate(state: HaproxyImport, walk: Walk, line: HaproxyLine): void {
  const { words } = line;
  if (words[words.indexOf('verify') + 1] !== 'required' || !words.includes('ssl')) return;
  const closed = 'no rule asks for a client certificate';
  addRefusal(state, walk, line, { condition: ALWAYS, status: 403, differences: [], closed });
}

/** A path that HAProxy answers itself. */
function answerPath(state: HaproxyImport, walk: Walk, line: HaproxyLine, uri: string): void {
  const [path = '/'] = uri.split('?');
  const isExact = line.words[0] === 'monitor-uri' || uri.includes('?');
  const test = isExact ? equalsText(path) : startsWithText(path);
  const closed = 'no rule answers it from the edge itself';
  addRefusal(state, walk, line, {
    condition: { kind: 'path', tests: [test] },
    status: 403,
    differences: [],
    closed,
  });
}

function answerStats(state: HaproxyImport, walk: Walk, line: HaproxyLine): void {
  const [, second = '', uri = ''] = line.words;
  if (second === 'uri') answerPath(state, walk, line, uri);
  else if (second === 'enable' && settingOf(state, walk.section, 'stats', 'uri') === undefined)
    answerPath(state, walk, line, '/haproxy?stats');
  else markNeedless(entryOf(state, line), 'it sets up the page of statistics');
}

/** Values that are true as booleans. */
const TRUE = /^(?:bool\((?:true|1)\)|int\(0*[1-9]\d*\)|str\(.+\))$/;

/** `http-request set-var(txn.name) sample if …`. */
function setVariable(
  state: HaproxyImport,
  walk: Walk,
  line: HaproxyLine,
  { words, condition }: { readonly words: readonly string[]; readonly condition: ImportedCondition },
): void {
  const name = parseSample(words[0] ?? '')?.[0].args[0] ?? '';
  const sample = words[0]!.startsWith('set-var-fmt') ? '' : words.slice(1).join(' ');
  const known = walk.variables.get(name);
  const isAlways = condition.kind === 'constant' && condition.value;
  const changes = walk.changes;
  if (isAlways) walk.variables.set(name, { sample, changes, set: [ALWAYS] });
  else if (TRUE.test(sample) && known?.sample == null) {
    const set = [...(known?.set ?? []), allOf(condition, ...noneOf(walk.allowed))];
    walk.variables.set(name, { sample: null, changes, set });
  } else walk.variables.set(name, { sample: '', changes, set: [] });
  markNeedless(entryOf(state, line), 'conditions that use the variable are read with what sets it');
}

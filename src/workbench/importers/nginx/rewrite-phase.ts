/**
 * Translates the directives of nginx's rewrite phase (`return`, `rewrite`, `if`, `set`, `break`), in their order: they
 * become redirect, drop and rewrite rules.
 */
import { addDrop, addGuard, answerWith, type DraftEntry, markDifference, markNeedless } from '../draft.ts';
import { bothFilters, type ImportedFilter } from '../filter.ts';
import { type NginxCase, type NginxTest, testOfIf } from './conditions.ts';
import {
  differ,
  entryOf,
  loseDirective,
  type NginxImport,
  note,
  noteFilters,
  REPEATED_NOTE,
} from './context.ts';
import { answersItself } from './guards.ts';
import type { NginxDirective } from './parse-nginx.ts';
import { groupsOf } from './path-groups.ts';
import { listRedirects } from './redirect-lists.ts';
import {
  emitRedirects,
  emitRewritten,
  emitUpgrade,
  isRedirect,
  noteEarlier,
  returnedRedirect,
  runRewrite,
} from './redirects.ts';
import { useTables } from './tables.ts';
import {
  commonBindings,
  hasHost,
  type RewriteScope,
  valuePieces,
  type Worlds,
  withoutRequests,
} from './targets.ts';

/** Worlds of one block at most; with more, variables that an `if` sets depend on the request. */
const MAX_WORLDS = 16;

const ACTS = ['return', 'rewrite', 'if', 'set', 'break'];

/** Runs the directives of a block; true: every request of the scope is answered. */
export function runRewritePhase(
  state: NginxImport,
  block: readonly NginxDirective[],
  scope: RewriteScope,
): boolean {
  const { going, stopped } = runDirectives(state, block, scope);
  for (const world of going) if (world.rewritten !== undefined) emitRewritten(state, world);
  const left = [...going, ...stopped];
  for (const [name, value] of commonBindings(left.map(({ bindings }) => bindings)))
    scope.bindings.set(name, value);
  return left.length === 0;
}

/** Runs directives one after another, each for every world that goes on. */
function runDirectives(state: NginxImport, block: readonly NginxDirective[], scope: RewriteScope): Worlds {
  const directives = block.filter(({ name }) => ACTS.includes(name));
  let going: readonly RewriteScope[] = [scope];
  const stopped: RewriteScope[] = [];
  // Redirects are in their order among each other, and need no excludes of those before.
  const lastOther = directives.findLastIndex((one) => one.name !== 'rewrite' || !isRedirect(one));
  for (const [index, directive] of directives.entries()) {
    if (going.length === 0) {
      markNeedless(entryOf(state, directive), 'a directive before it ends every request');
      continue;
    }
    const isLast = index === directives.length - 1 || (isRedirect(directive) && index > lastOther);
    const after = going.map((world) => runDirective(state, directive, { world, isLast }));
    stopped.push(...after.flatMap((one) => one.stopped));
    const next = after.flatMap((one) => one.going);
    going = next.length <= MAX_WORLDS ? next : going.map((world) => forgetting(world, next));
  }
  return { going, stopped };
}

/** A world in which variables that differ in others depend on the request. */
function forgetting(world: RewriteScope, others: readonly RewriteScope[]): RewriteScope {
  return { ...world, bindings: commonBindings([world, ...others].map(({ bindings }) => bindings)) };
}

/** Runs one directive for the requests of one world (`RewriteScope`). */
function runDirective(
  state: NginxImport,
  directive: NginxDirective,
  { world, isLast }: { readonly world: RewriteScope; readonly isLast: boolean },
): Worlds {
  const entry = entryOf(state, directive);
  switch (directive.name) {
    case 'set':
      return { going: [setVariable(directive, entry, world)], stopped: [] };
    case 'break':
      markNeedless(entry, 'it ends the directives before');
      return { going: [], stopped: [world] };
    case 'return':
      runReturn(state, directive, world);
      return { going: [], stopped: [] };
    case 'if':
      return runListedIf(state, directive, world);
    default:
      return runRewrite(state, directive, { world, isLast });
  }
}

/** The world in which a variable has the value that it has here. */
function setVariable({ args }: NginxDirective, entry: DraftEntry, world: RewriteScope): RewriteScope {
  const [name = '', value = ''] = args;
  markNeedless(entry, 'its value is used where it is named');
  const pieces = valuePieces(value, world.bindings);
  // A capture is of the regex before, and a path may be rewritten later.
  const isKnown = pieces.every((piece) => piece.kind === 'text' || /^[a-z_]+$/.test(piece.name));
  const text = pieces.map((piece) => (piece.kind === 'text' ? piece.text : `\${${piece.name}}`)).join('');
  return { ...world, bindings: new Map(world.bindings).set(name.replace(/^\$/, ''), isKnown ? text : null) };
}

/** Runs an `if`; of a large table of redirects what is no entry of a list. */
function runListedIf(state: NginxImport, directive: NginxDirective, world: RewriteScope): Worlds {
  const left = listRedirects(state, directive, world);
  if (left === 'done') return { going: [world], stopped: [] };
  return runGroupedIf(left ?? state, directive, world);
}

/** Runs an `if`, in which `$1` is a group of its regex. Behind it, what `$1` is depends on the request. */
function runGroupedIf(state: NginxImport, directive: NginxDirective, world: RewriteScope): Worlds {
  const [, name = '', operator, source = ''] =
    /^\(\s*\$\{?(\w+)\}?\s*(!?~\*?)\s*(.*?)\s*\)$/s.exec(directive.args.join(' ')) ?? [];
  if (operator === undefined) return runIf(state, directive, world);
  const isOfPath = ['uri', 'document_uri'].includes(name) && !operator.startsWith('!');
  const groups = isOfPath ? groupsOf(source, operator === '~*') : null;
  const { going, stopped } = runIf(state, directive, { ...world, groups });
  return { going: going.map((one) => ({ ...one, groups: null })), stopped };
}

/** Conditions that hold over plain http, where the edge has redirects that https skips. */
const PLAIN =
  /^\(\s*\$(?:scheme (?:= http|!= https)|(?:http_)?x_forwarded_proto (?:= http|!= https)|http_x_forwarded_proto (?:= http|!= https)|https (?:= |!= on)|server_port (?:= 80|!= 443)|ssl_protocol = ?)\s*\)$/;

/** Whether the body of an `if` acts on plain http alone. What refuses there has a filter on the scheme. */
function isOnPlain({ args, block }: NginxDirective): boolean {
  const text = args.join(' ');
  if (!PLAIN.test(text)) return false;
  return !(text.includes('$scheme') && answersItself(block ?? []));
}

/** Runs the body of an `if` for each case of its condition. */
function runIf(state: NginxImport, directive: NginxDirective, world: RewriteScope): Worlds {
  const body = directive.block ?? [];
  if (isOnPlain(directive)) {
    runDirectives(state, body, { ...world, onPlain: true });
    return { going: [withUnknown(world, body)], stopped: [] };
  }
  const test = testOfIf(state, directive, world.bindings);
  if (typeof test === 'string') return loseIf(state, directive, { world, reason: test });
  const cases = answersItself(body) ? guardCases(test) : test.cases;
  if (typeof cases === 'string') return loseIf(state, directive, { world, reason: cases });
  const isExact = test.differences.length === 0;
  if (!isExact && body.some((one) => one.name === 'rewrite' && isChained(one)))
    return loseIf(state, directive, { world, reason: test.differences[0]! });
  const inner = innerWorlds(world, cases);
  if (typeof inner === 'string') return loseIf(state, directive, { world, reason: inner });
  const variable = /^\(?\s*\$\{?(\w+)/.exec(directive.args.join(' '))?.[1];
  if (variable !== undefined) useTables(state, variable);
  noteFilters(
    state,
    inner.map(({ filter }) => filter),
  );
  if (cases.length > test.cases.length) note(state, REPEATED_NOTE);
  differ(entryOf(state, directive), inner.length > 0 ? test.differences : []);
  const others = isExact ? restOf(world, test) : null;
  // Drop rules come first, so that what follows may act on their requests too.
  const isRefused = others !== null && others.length > 0 && body.every(isRefusal);
  return runCases(state, directive, { world, inner, others: isRefused ? [world] : others });
}

function isRefusal({ name, args }: NginxDirective): boolean {
  return name === 'return' && /^[45]\d\d$/.test(args[0] ?? '');
}

/** The cases of a guard; a text is the reason why no filters have all its requests. */
function guardCases({ guards }: NginxTest): readonly NginxCase[] | string {
  if (typeof guards === 'string') return guards;
  return guards.map((filter) => ({ filter, bindings: new Map() }));
}

/** Whether a `rewrite` changes the path for the directives after it. */
function isChained(directive: NginxDirective): boolean {
  return (directive.args[2] ?? '') === '' && !isRedirect(directive);
}

/** The worlds of an `if` inside another; a text: a case has no filter there. */
function innerWorlds(world: RewriteScope, cases: readonly NginxCase[]): readonly RewriteScope[] | string {
  const worlds: RewriteScope[] = [];
  for (const { filter, bindings } of cases) {
    const both = bothFilters(world.filter, filter);
    if (typeof both === 'string') return both;
    if (both === null) continue;
    worlds.push({ ...narrowed(world, both), bindings: new Map([...world.bindings, ...bindings]) });
  }
  return worlds;
}

/** The worlds of the requests that do not meet a condition; `null`: no filters have them. */
function restOf(world: RewriteScope, { cases, rest }: NginxTest): readonly RewriteScope[] | null {
  if (rest !== null) {
    const worlds = innerWorlds(
      world,
      rest.map((filter) => ({ filter, bindings: new Map() })),
    );
    return typeof worlds === 'string' ? null : worlds.filter((one) => !isEmptied(world, one));
  }
  let left: RewriteScope | null = world;
  for (const { filter } of cases) {
    if (cases.length > MAX_WORLDS) return null;
    const others = withoutRequests(left.filter, filter);
    if (typeof others === 'string') return null;
    left = others === null ? null : narrowed(left, others);
    if (left === null || isEmptied(world, left)) return [];
  }
  return [left];
}

/** Whether a world has none of the hosts of the one it is of. */
function isEmptied(world: RewriteScope, { hosts, hasOtherHosts }: RewriteScope): boolean {
  return hosts.length === 0 && !hasOtherHosts && world.hosts.length > 0;
}

/** Runs a body in the worlds that meet its condition; `others`: those that do not, `null`: unknown. */
function runCases(
  state: NginxImport,
  directive: NginxDirective,
  {
    world,
    inner,
    others,
  }: {
    readonly world: RewriteScope;
    readonly inner: readonly RewriteScope[];
    readonly others: readonly RewriteScope[] | null;
  },
): Worlds {
  const body = directive.block ?? [];
  const entry = entryOf(state, directive);
  if (inner.length === 0) {
    markNeedless(entry, 'no request meets its condition');
    return { going: [world], stopped: [] };
  }
  const after = inner.map((one) => runDirectives(state, body, one));
  const going = after.flatMap((one) => one.going);
  const stopped = after.flatMap((one) => one.stopped);
  // What changes nothing needs no world of its own.
  const isUnchanged = stopped.length === 0 && going.length === inner.length;
  if (isUnchanged && going.every((one) => sameState(one, world))) return { going: [world], stopped: [] };
  if (others !== null) return { going: [...going, ...others], stopped };
  if (stopped.length > 0) markDifference(entry, 'what follows acts on its requests too');
  return { going: [forgetting(withUnknown(world, body), going)], stopped: [] };
}

/** A world with fewer requests. */
function narrowed(world: RewriteScope, filter: ImportedFilter): RewriteScope {
  return { ...world, filter, hosts: world.hosts.filter((host) => hasHost(filter, host)) };
}

function sameState(one: RewriteScope, other: RewriteScope): boolean {
  const textOf = ({ bindings, rewritten }: RewriteScope): string =>
    JSON.stringify([[...bindings], rewritten?.replacement]);
  return textOf(one) === textOf(other);
}

/** An `if` that is not carried over: what it may refuse is refused, and what it sets depends on the request. */
function loseIf(
  state: NginxImport,
  directive: NginxDirective,
  { world, reason }: { readonly world: RewriteScope; readonly reason: string },
): Worlds {
  const body = directive.block ?? [];
  if (answersItself(body))
    addGuard(state.draft, entryOf(state, directive), { reason, filters: [world.filter] });
  else loseDirective(state, directive, reason);
  return { going: [withUnknown(world, body)], stopped: [] };
}

/** A world in which the variables that a block sets depend on the request. */
function withUnknown(world: RewriteScope, body: readonly NginxDirective[]): RewriteScope {
  const set = body.flatMap(({ name, args }) => (name === 'set' ? [args[0]?.replace(/^\$/, '') ?? ''] : []));
  if (set.length === 0) return world;
  return { ...world, bindings: new Map([...world.bindings, ...set.map((name) => [name, null] as const)]) };
}

function runReturn(state: NginxImport, directive: NginxDirective, scope: RewriteScope): void {
  const entry = entryOf(state, directive);
  const redirect = returnedRedirect(directive, scope.groups);
  if (redirect !== null) {
    emitRedirects(state, entry, redirect, scope);
    return;
  }
  const [first = '', second] = directive.args;
  const status = Number(first);
  if (status >= 400) {
    if (scope.onPlain === true) emitUpgrade(state, entry, scope, `nginx answers ${status} over plain http`);
    else emitDrop(state, entry, { status, hasText: second !== undefined }, scope);
    return;
  }
  const reason = `no rule answers ${status} with a text`;
  addGuard(state.draft, entry, { reason, filters: [scope.filter] });
}

/** What a `return` refuses requests with. */
interface Refusal {
  readonly status: number;
  readonly hasText: boolean;
}

/** Refuses the requests of the scope with the status of nginx, where a drop rule has it. */
function emitDrop(
  state: NginxImport,
  entry: DraftEntry,
  { status, hasText }: Refusal,
  scope: RewriteScope,
): void {
  if (!addDrop(state.draft, entry, scope.filter)) return;
  differ(entry, scope.differences);
  if (status === 444) markDifference(entry, 'the edge answers 403; nginx closes the connection');
  else answerWith(state.draft, entry, { status, product: 'nginx' });
  if (hasText) markDifference(entry, 'the edge answers with a page of its own, not with the text');
  noteEarlier(entry, scope.filter, scope.earlier);
}

/**
 * Prepares a signature program for inspections. In: a program (`engine/plan/signature-program.ts`). Out: a `WafProgram`.
 *
 * Each paranoia level is compiled, and each automaton built, when an inspection first needs it, so that a command that
 * inspects one request pays only for what it uses: for the Core Rule Set about 40 ms a level, most of it for the literal
 * index, and 1 to 50 ms for a pattern without compiled DFA. The step budget does not include this work; a server that
 * must not delay its first visitors uses `loadWarm`.
 */
import { assert } from '../../../base/diagnostics/assert.ts';
import { utf8Bytes } from '../../../base/octets/octets.ts';
import type { SignatureProgram } from '../../plan/signature-program.ts';
import { matcherOf, prepareGroups, prepareMatcher } from '../patterns/pattern.ts';
import { inspectWith } from '../request/inspect.ts';
import type { WafInput, WafProgram } from '../request/inspection.ts';
import type { CompiledRuleSet } from '../request/rule-set.ts';
import { compileRuleSet } from './compile-rule-set.ts';

/** A program whose levels are compiled on demand. */
export interface LoadedSignatures extends WafProgram {
  /**
   * Compiles every level and builds every automaton now: under a second for the Core Rule Set.
   * @throws PlanFault if `re2js` refuses a pattern of the program
   */
  warm(): void;
}

/** Prepares a program; compiles nothing yet. */
export function loadSignatures(program: SignatureProgram): LoadedSignatures {
  const matchers = program.patterns.map(matcherOf);
  const levels: (CompiledRuleSet | undefined)[] = [];
  const ids = new Set(program.levels.flatMap(({ rules }) => rules.map(({ id }) => id)));
  // Compiles a level at its first use; an unknown level is a mistake of the caller, since settings are 1 to 4.
  const levelAt = (paranoia: number): CompiledRuleSet => {
    const written = program.levels[paranoia - 1];
    assert(written !== undefined, `a signature program has no level ${paranoia}`);
    levels[paranoia] ??= compileRuleSet(program, written, { paranoia, matchers });
    return levels[paranoia];
  };
  return {
    inspect: (input, settings) => inspectWith(levelAt(settings.paranoia), input, settings),
    has: (id) => ids.has(id),
    warm: () => {
      for (const [at] of program.levels.entries()) warmLevel(levelAt(at + 1));
    },
  };
}

/**
 * Prepares a program and warms it up, so that no request waits: under a second for the Core Rule Set.
 * @throws PlanFault if `re2js` refuses a pattern of the program
 */
export function loadWarm(program: SignatureProgram): WafProgram {
  const loaded = loadSignatures(program);
  loaded.warm();
  return loaded;
}

// Builds ahead of the first request what an inspection otherwise builds on demand.

/** Builds the automata of a level's patterns, then inspects sample requests to fill its schedules. */
function warmLevel(level: CompiledRuleSet): void {
  for (const { links } of level.rules) {
    for (const { condition, captures } of links) {
      if (condition.operator.kind !== 'rx') continue;
      const matcher = level.matchers[condition.operator.pattern]!;
      prepareMatcher(matcher);
      if (captures) prepareGroups(matcher);
    }
  }
  // The threshold has no influence on which schedules are built.
  const settings = { paranoia: level.paranoia, threshold: 5, excludes: [], exclusions: [] };
  for (let turn = 0; turn < TURNS; turn++) for (const input of INPUTS) inspectWith(level, input, settings);
}

/** Rounds of sample requests after which V8 has compiled most of the functions they run. */
const TURNS = 3;

/** One value for each profile of `engine/waf/request/schedules.ts`; the last has octets of most kinds, so that few tests exclude it. */
const VALUES = [
  '1',
  'id',
  'Id',
  'a.b-c',
  'A b',
  'A, b: /c',
  `"a"='b';`,
  `%41+a\\x41&lt;\0é '"\`or 1=1--(/*<a b=c>[{$x}]*/)|../;\r\n`,
] as const;

/** The sample requests: a form and a JSON body. */
const INPUTS: readonly WafInput[] = [
  inputOf(
    'application/x-www-form-urlencoded',
    VALUES.map((value) => `a=${encodeURIComponent(value)}`).join('&'),
  ),
  inputOf('application/json', JSON.stringify(VALUES)),
];

/** A sample request with a body of a content type. */
function inputOf(type: string, body: string): WafInput {
  const headers = { host: 'edgeplan-self-test', 'content-type': type, cookie: 'a=b', accept: '*/*' };
  return {
    request: { scheme: 'https', method: 'POST', host: 'edgeplan-self-test', target: '/a?b=c', headers },
    body: utf8Bytes(body),
    truncated: false,
  };
}

/**
 * Makes a signature program ready to inspect. What its rules need beside their tables is made when the first request
 * asks for it, so that a command that inspects one request waits for no more than that: for the Core Rule Set some 40 ms
 * a paranoia level, most of them its literals, and 1 to 50 ms for the engine of a pattern without an automaton of its
 * own. The step budget does not count that; who serves visitors takes `loadWarm`.
 */
import { assert } from '../../base/assert.ts';
import type { SignatureProgram } from '../../plan/signature-program.ts';
import { matcherOf } from '../patterns/pattern.ts';
import { inspectWith } from '../request/inspect.ts';
import type { WafProgram } from '../request/inspection.ts';
import type { CompiledRuleSet } from '../request/rule-set.ts';
import { compileRuleSet } from './compile-rule-set.ts';
import { warmLevel } from './warm.ts';

export interface LoadedSignatures extends WafProgram {
  /**
   * Makes all that any inspection may need, so that none has to: under a second for the Core Rule Set.
   * @throws PlanFault where the program holds a pattern that is none
   */
  warm(): void;
}

export function loadSignatures(program: SignatureProgram): LoadedSignatures {
  const matchers = program.patterns.map(matcherOf);
  const levels: (CompiledRuleSet | undefined)[] = [];
  const ids = new Set(program.levels.flatMap(({ rules }) => rules.map(({ id }) => id)));
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
 * The same for who serves visitors: all is made now, under a second for the Core Rule Set, and no request waits for it.
 * @throws PlanFault where the program holds a pattern that is none
 */
export function loadWarm(program: SignatureProgram): WafProgram {
  const loaded = loadSignatures(program);
  loaded.warm();
  return loaded;
}

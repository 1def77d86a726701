/** Paths that are tried before a search: most questions have an answer among them. */
import type { LetterAutomaton } from './automaton.ts';
import { createBudget } from './budget.ts';
import type { Language } from './language.ts';
import type { Letters } from './letters.ts';
import { findText, fulfils } from './search.ts';

/** Automata visited while the shortest path of a language is searched; a longer search is left to the question itself. */
const PROBE_STEPS = 2_000;

/** Returns the probes of a language, or of all paths: short ones, with characters that no pattern names where possible. */
export function createProbes(
  canonical: LetterAutomaton,
  letters: Letters,
): (paths: Language | null) => readonly (readonly number[])[] {
  const slash = letters.letterOf(0x2f);
  const fresh = letters.preferred[0]!;
  const endings = [[], [fresh], [fresh, fresh], [slash, fresh], [fresh, slash, fresh], [slash]];
  const cache = new Map<string, readonly (readonly number[])[]>();
  return (paths) => {
    const name = paths === null ? '' : paths.name;
    const known = cache.get(name);
    if (known !== undefined) return known;
    const within = paths === null ? [canonical] : [canonical, paths.automaton];
    const shortest = findText({ within, outside: [] }, letters, createBudget(PROBE_STEPS));
    const made =
      shortest.kind === 'text'
        ? endings
            .map((ending) => [...shortest.letters, ...ending])
            .filter((text) => fulfils(text, { within, outside: [] }))
        : [];
    cache.set(name, made);
    return made;
  };
}

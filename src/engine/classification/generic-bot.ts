/**
 * Classifies the User-Agents of programs. The evaluator has only the named bots (semantics §1); an embedder may pass
 * `generic-bot` for all others, as decided here.
 */
import { isbot } from 'isbot';

/** Characters of a User-Agent that are matched: isbot's fixed pattern runs on V8's RegExp, so its input stays short. */
const MATCHED_CHARACTERS = 512;

/** Matches isbot's own list; an absent or empty User-Agent is not a bot. */
export function isGenericBot(userAgent: string | undefined): boolean {
  return userAgent !== undefined && isbot(userAgent.slice(0, MATCHED_CHARACTERS));
}

/**
 * Whether a User-Agent is a program's. The evaluator knows the named bots only (semantics §1); who feeds it may add
 * `generic-bot` for the rest with this.
 */
import { isbot } from 'isbot';

/** Characters of a User-Agent that are looked at: isbot's fixed pattern runs on V8's RegExp, so its input stays short. */
const LOOKED_AT = 512;

/** Judges by isbot's own list; an absent or empty User-Agent is nobody's. */
export function isGenericBot(userAgent: string | undefined): boolean {
  return userAgent !== undefined && isbot(userAgent.slice(0, LOOKED_AT));
}

/**
 * Classifies the User-Agents of a log as a node does: a named bot, else a `generic-bot` (isbot), else none. Answers are
 * cached, since a log has few different User-Agents.
 */
import { BOT_KINDS } from '../../base/vocabulary/vocabulary.ts';
import { isGenericBot } from '../../engine/classification/generic-bot.ts';
import { classifyUserAgent } from '../../engine/evaluator/user-agent.ts';

/** A declared bot; `null`: none. */
type DeclaredBot = { readonly kind: string; readonly verified: boolean } | null;

/** User-Agents whose bot is cached; beyond, all are forgotten: some 1 MB. */
const MAX_AGENTS = 4_096;
/** Characters of the longest User-Agent that is cached. */
const LONGEST_CACHED = 512;

/** Creates a classifier with a cache of its own. */
export function createAgentClassifier(): (userAgent: string | undefined) => DeclaredBot {
  const known = new Map<string, DeclaredBot>();
  return (userAgent) => {
    if (userAgent === undefined) return null;
    const cached = known.get(userAgent);
    if (cached !== undefined) return cached;
    const bot = botOf(userAgent);
    if (userAgent.length <= LONGEST_CACHED) {
      if (known.size >= MAX_AGENTS) known.clear();
      // A copy: a part of a line refers to the whole chunk of the log.
      known.set(Buffer.from(userAgent).toString(), bot);
    }
    return bot;
  };
}

function botOf(userAgent: string): DeclaredBot {
  const kind = classifyUserAgent(userAgent);
  if (kind >= 0) return { kind: BOT_KINDS[kind]!, verified: false };
  return isGenericBot(userAgent) ? { kind: 'generic-bot', verified: false } : null;
}

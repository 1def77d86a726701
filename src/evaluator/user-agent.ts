/**
 * The named bots a User-Agent declares (semantics §1, fact `bot`). In goes the header's text, out comes the kind that
 * stands first in the API's order among those whose token occurs anywhere in it, in whatever ASCII case. A declared
 * name proves nothing; verification happens outside the evaluator.
 *
 * All tokens are looked for at once in one pass over the text: Aho and Corasick, "Efficient string matching", 1975,
 * with the automaton completed to a table when the module loads.
 */
import { BOT_KINDS, type BotKind } from '../base/vocabulary.ts';

/**
 * The token of each kind, in the API's order, with where its operator publishes it. Two kinds have no token:
 * `google-extended` is a robots.txt product token that no crawler sends as its User-Agent (Google, "Google's common
 * crawlers", developers.google.com/search/docs/crawling-indexing/google-common-crawlers), and `generic-bot` is
 * established outside.
 */
const TOKENS: readonly BotKind[] = [
  // OpenAI, platform.openai.com/docs/bots
  'gptbot',
  'oai-searchbot',
  'chatgpt-user',
  // Anthropic, support.claude.com, article 8896518 "Does Anthropic crawl data from the web"
  'claudebot',
  'claude-user',
  // Perplexity, docs.perplexity.ai/guides/bots
  'perplexitybot',
  'perplexity-user',
  // Google, developers.google.com/search/docs/crawling-indexing/googlebot
  'googlebot',
  // Microsoft, bing.com/webmasters/help/which-crawlers-does-bing-use-8c184ec0
  'bingbot',
  // Common Crawl, commoncrawl.org/ccbot
  'ccbot',
  // ByteDance publishes no page; the crawler names itself "Bytespider" with the address spider-feedback@bytedance.com
  'bytespider',
  // Meta, developers.facebook.com/docs/sharing/webmasters/web-crawlers
  'meta-externalagent',
  // Amazon, developer.amazon.com/amazonbot
  'amazonbot',
  // Apple, support.apple.com/en-us/119829
  'applebot',
  // DuckDuckGo, duckduckgo.com/duckduckgo-help-pages/results/duckduckbot
  'duckduckbot',
  // Yandex, yandex.com/support/webmaster/robot-workings/check-yandex-robots.html
  'yandexbot',
  // Ahrefs, ahrefs.com/robot
  'ahrefsbot',
  // Semrush, semrush.com/bot
  'semrushbot',
  // Majestic, mj12bot.com
  'mj12bot',
];

/** No kind found. Also what a state holds whose text ends no token. */
const NONE = 127;

/** Letters of the automaton: 0 for every character no token has, then one for each that some token has. */
const LETTERS = buildLetters();
const LETTER_COUNT = Math.max(...LETTERS) + 1;
const AUTOMATON = buildAutomaton();

/**
 * The kind a User-Agent declares, as an index into `BOT_KINDS`, or -1. Of several the first in the API's order.
 * One step per character, nothing allocated.
 */
export function classifyUserAgent(text: string): number {
  const { next, found } = AUTOMATON;
  let state = 0;
  let kind = NONE;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // Case is folded by the table of letters, for ASCII only: the Kelvin sign is not a k.
    state = next[state + (unit < 128 ? LETTERS[unit]! : 0)]!;
    if (found[state]! < kind) kind = found[state]!;
  }
  return kind === NONE ? -1 : kind;
}

function buildLetters(): Uint8Array {
  const letters = new Uint8Array(128);
  const used = [...new Set(TOKENS.join(''))].sort();
  for (const [i, letter] of used.entries()) {
    letters[letter.charCodeAt(0)] = i + 1;
    letters[letter.toUpperCase().charCodeAt(0)] = i + 1;
  }
  return letters;
}

interface Automaton {
  /** State after a letter, at `state + letter`. A state is the index of its row, so no step multiplies. */
  readonly next: Uint16Array;
  /** The best kind whose token ends in the state, or `NONE`. */
  readonly found: Uint8Array;
}

function buildAutomaton(): Automaton {
  const most = TOKENS.join('').length + 1;
  const next = new Uint16Array(most * LETTER_COUNT);
  const found = new Uint8Array(most * LETTER_COUNT).fill(NONE);
  let end = LETTER_COUNT;
  for (const token of TOKENS) {
    let state = 0;
    for (const character of token) {
      const edge = state + LETTERS[character.charCodeAt(0)]!;
      if (next[edge] === 0) {
        next[edge] = end;
        end += LETTER_COUNT;
      }
      state = next[edge]!;
    }
    found[state] = Math.min(found[state]!, BOT_KINDS.indexOf(token));
  }
  completeAutomaton({ next, found });
  return { next: next.slice(0, end), found: found.slice(0, end) };
}

/** Gives every state the steps, and the finds, of the longest other beginning of a token that its text ends in. */
function completeAutomaton({ next, found }: Automaton): void {
  const fallback = new Uint16Array(next.length);
  const queue = [0];
  for (const state of queue) {
    found[state] = Math.min(found[state]!, found[fallback[state]!]!);
    for (let letter = 1; letter < LETTER_COUNT; letter++) {
      const target = next[state + letter]!;
      const other = state === 0 ? 0 : next[fallback[state]! + letter]!;
      if (target === 0) {
        next[state + letter] = other;
      } else {
        fallback[target] = other;
        queue.push(target);
      }
    }
  }
}

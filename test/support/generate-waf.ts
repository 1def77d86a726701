/** A WAF program with predictable results: its score depends only on a few words in the request. */
import type { WafFinding, WafInput, WafProgram } from '../../src/engine/waf/request/inspection.ts';

const SIGNATURES = [
  { id: 941100, word: 'script', paranoia: 1, score: 5 },
  { id: 942100, word: 'select', paranoia: 1, score: 5 },
  { id: 942110, word: 'union', paranoia: 1, score: 4 },
  { id: 920100, word: '=1', paranoia: 2, score: 3 },
  { id: 920200, word: 'p', paranoia: 3, score: 2 },
];

/** A finding of nothing but what is given. */
export function finding(given: Partial<WafFinding> = {}): WafFinding {
  const nothing = { score: 0, ids: [], matches: [], categories: {}, denied: false, bodyError: null };
  return { ...nothing, exhausted: false, ...given };
}

/** Adds up the scores of the words found in target and body; `%zz` exhausts its budget, `%yy` is denied. */
export const wordProgram: WafProgram = {
  inspect({ request, body }: WafInput, { paranoia, excludes, exclusions }): WafFinding {
    const left = new Set(exclusions.flatMap(({ id, target }) => (target === null ? [id] : [])));
    const gone = exclusions.some(({ tag }) => tag === 'words');
    const text = `${request.target} ${body === null ? '' : new TextDecoder().decode(body)}`;
    const found = SIGNATURES.filter(
      (one) =>
        one.paranoia <= paranoia &&
        !excludes.includes(String(one.id)) &&
        !(gone || left.has(one.id)) &&
        text.includes(one.word),
    );
    const matches = found.map(({ id, word, score }) => ({
      id,
      message: `the word ${word}`,
      severity: 2,
      category: 'words',
      score,
      variable: 'REQUEST_URI',
      value: word,
    }));
    const score = found.reduce((sum, one) => sum + one.score, 0);
    return finding({
      score,
      ids: found.map((one) => one.id),
      matches,
      categories: score === 0 ? {} : { words: score },
      bodyError: text.includes('{') ? 'json: a `{` without end' : null,
      denied: text.includes('%yy'),
      exhausted: text.includes('%zz'),
    });
  },
  has: (id) => SIGNATURES.some((one) => one.id === id),
};

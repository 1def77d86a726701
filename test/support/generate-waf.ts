/** A waf program small enough to foresee: its score depends on a few words of the request alone. */
import type { EdgeRequest } from '../../src/evaluator/request.ts';

const SIGNATURES = [
  { id: 941100, word: 'script', paranoia: 1, score: 5 },
  { id: 942100, word: 'select', paranoia: 1, score: 5 },
  { id: 942110, word: 'union', paranoia: 1, score: 4 },
  { id: 920100, word: '=1', paranoia: 2, score: 3 },
  { id: 920200, word: 'p', paranoia: 3, score: 2 },
];

/** Adds up the scores of the words found in target and body; `%zz` exhausts its budget. */
export const wordProgram = {
  inspect(
    { request, body }: { readonly request: EdgeRequest; readonly body: Uint8Array | null },
    { paranoia, excludes }: { readonly paranoia: number; readonly excludes: readonly string[] },
  ): { score: number; ids: number[]; exhausted: boolean } {
    const text = `${request.target} ${body === null ? '' : new TextDecoder().decode(body)}`;
    const found = SIGNATURES.filter(
      (one) => one.paranoia <= paranoia && !excludes.includes(String(one.id)) && text.includes(one.word),
    );
    return {
      score: found.reduce((sum, one) => sum + one.score, 0),
      ids: found.map((one) => one.id),
      exhausted: text.includes('%zz'),
    };
  },
};

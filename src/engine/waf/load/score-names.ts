/** Finds the TX variables in which a program sums its anomaly scores. */
import type { SignatureProgram } from '../../plan/signature-program.ts';
import { plainText } from '../request/macros.ts';

/**
 * Returns the first of these groups of which the program writes a variable at any level: `inbound_anomaly_score_pl1` up to
 * the paranoia level (CRS 4), `anomaly_score_pl1` up to it (CRS 3.3), else `anomaly_score` alone (older programs).
 */
export function scoreNames({ levels }: SignatureProgram, paranoia: number): ReadonlySet<string> {
  // Names that the program sets initially or in any rule.
  const written = new Set(levels.flatMap(({ initial }) => Object.keys(initial)));
  for (const { conditions } of levels.flatMap(({ rules }) => rules)) {
    for (const { name } of conditions.flatMap(({ setVars }) => setVars))
      written.add(plainText(name)?.toLowerCase() ?? '');
  }
  for (const stem of ['inbound_anomaly_score_pl', 'anomaly_score_pl']) {
    const names = [1, 2, 3, 4].map((number) => `${stem}${number}`);
    if (names.some((name) => written.has(name))) return new Set(names.slice(0, paranoia));
  }
  return new Set(['anomaly_score']);
}

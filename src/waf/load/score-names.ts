/** Which TX variables a program adds its scores up in. */
import type { SignatureProgram } from '../../plan/signature-program.ts';
import { plainText } from '../request/macros.ts';

/**
 * `inbound_anomaly_score_pl1…` up to the level as CRS 4 names them, `anomaly_score_pl1…` as CRS 3.3 does, else the one
 * `anomaly_score` of older programs: the first of these that the program writes, at whatever level.
 */
export function scoreNames({ levels }: SignatureProgram, paranoia: number): ReadonlySet<string> {
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

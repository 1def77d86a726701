/** Writes the golden plans of the current version; see `golden-plans.ts`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { makeGoldenPlans } from './golden-plans.ts';

const FOLDER = 'fixtures/plans';

mkdirSync(FOLDER, { recursive: true });
for (const { name, bytes, revision, answers } of makeGoldenPlans()) {
  writeFileSync(`${FOLDER}/${name}.edgeplan`, bytes);
  writeFileSync(`${FOLDER}/${name}.json`, `${JSON.stringify({ revision, answers }, null, 1)}\n`);
  console.info(`${FOLDER}/${name}.edgeplan: ${bytes.length} octets, ${answers.length} answers`);
}

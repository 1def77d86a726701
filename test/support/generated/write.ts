/** `npm run generate`: writes the generated files that differ from the source. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { GENERATED } from './files.ts';

for (const { path, content } of GENERATED) {
  const text = await content();
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
  writeFileSync(path, text);
  process.stdout.write(`${path}\n`);
}

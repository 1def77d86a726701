/** The generated files are those that today's source generates. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { builtCli } from '../support/built.ts';
import { GENERATED } from '../support/generated/files.ts';

beforeAll(builtCli, 120_000);

test.each(GENERATED)('$path is what `npm run generate` writes', async ({ path, content }) => {
  expect(readFileSync(path, 'utf8') === (await content()), 'run `npm run generate`').toBe(true);
});

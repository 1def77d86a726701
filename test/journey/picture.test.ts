/** The README's picture shows what the command prints today. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { builtCli } from '../support/built.ts';
import { commandOutput, drawTerminal, PICTURE_FILE } from '../support/picture.ts';

beforeAll(builtCli, 120_000);

test('the picture in the README equals the command’s output; `npm run picture` renders it', () => {
  expect(readFileSync(PICTURE_FILE, 'utf8')).toBe(drawTerminal(commandOutput()));
});

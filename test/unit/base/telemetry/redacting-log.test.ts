/** Lines of the log come out whole, in order, and without keys, however they were gathered. */
import { expect, it } from 'vitest';
import { createLog } from '../../../../src/base/telemetry/redacting-log.ts';
import { makeKey } from '../../../../src/control/accounts/authenticate.ts';

function gather() {
  const written: string[] = [];
  const log = createLog('info', (lines) => written.push(lines));
  const told = () =>
    written
      .join('')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { msg: string; text?: string });
  return { log, written, told };
}

it('writes lines of one moment in one batch', async () => {
  const { log, written, told } = gather();
  for (const msg of ['first', 'zweite Zeile: äöü €', 'third']) log.info(msg);
  expect(written).toEqual([]);
  await expect.poll(() => written.length).toBe(1);
  expect(told().map(({ msg }) => msg)).toEqual(['first', 'zweite Zeile: äöü €', 'third']);
});

it('writes lines of any length in their order', async () => {
  const { log, told } = gather();
  const texts = ['a', 'ж'.repeat(9_000), 'b', '€'.repeat(100_000), 'c', 'x'.repeat(30_000), 'd'];
  for (const text of texts) log.info({ text }, 'line');
  await expect.poll(() => told().length).toBe(texts.length);
  expect(told().map(({ text }) => text)).toEqual(texts);
});

it('redacts keys in short and long lines', async () => {
  const { log, written, told } = gather();
  const key = makeKey();
  log.info({ text: key }, 'short');
  log.info({ text: `${'x'.repeat(100_000)} ${key}` }, 'long');
  await expect.poll(() => told().length).toBe(2);
  expect(written.join('')).not.toContain(key);
  expect(told()[0]!.text).toBe(`${key.slice(0, 8)}…`);
});

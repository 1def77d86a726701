/** Uses that could not be written are neither lost nor counted twice. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createKeyUses } from '../../../../src/control/accounts/key-uses.ts';
import { createAccount, createKey } from '../../../../src/control/accounts/keys.ts';
import { openStore } from '../../../../src/control/store/database/open.ts';
import type { Store } from '../../../../src/control/store/store.ts';

const DAY = 86_400_000;
const AT = 20 * DAY;

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-uses-'));
  store = await openStore({ database: folder });
  await createAccount(store, { name: 'owner', now: AT });
  for (const name of ['a', 'b'])
    await createKey(store, { account: 'owner', name, expiry: null, readOnly: false, now: AT });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

it('flush writes the sum of the uses of each key and day', async () => {
  const uses = createKeyUses(store);
  for (const at of [AT, AT + 9, AT + 3, AT + DAY]) uses.note(1, at);
  uses.note(2, AT + 5);
  await uses.flush();
  await uses.flush();
  expect(await store.latest.keys.uses(1, 0)).toEqual([
    { key_id: 1, day: 20, requests: 3, last_used_at: AT + 9 },
    { key_id: 1, day: 21, requests: 1, last_used_at: AT + DAY },
  ]);
  expect(await store.latest.keys.uses(2, 0)).toEqual([
    { key_id: 2, day: 20, requests: 1, last_used_at: AT + 5 },
  ]);
});

it('the counts of a failed flush are written by the next', async () => {
  const state = { full: true };
  const uses = createKeyUses({
    write: (work) =>
      store.write(async (tx) => {
        const result = await work(tx);
        if (state.full) throw new Error('the disk is full');
        return result;
      }),
  });
  for (let round = 0; round < 5; round++) {
    uses.note(1, AT + round * (DAY / 4));
    await expect(uses.flush()).rejects.toThrow('the disk is full');
  }
  state.full = false;
  uses.note(1, AT + DAY + 7);
  await uses.flush();
  expect(await store.latest.keys.uses(1, 0)).toEqual([
    { key_id: 1, day: 20, requests: 4, last_used_at: AT + 0.75 * DAY },
    { key_id: 1, day: 21, requests: 2, last_used_at: AT + DAY + 7 },
  ]);
});

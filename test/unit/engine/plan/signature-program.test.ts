/** What an exclusion may name is what signatures look at: customers' words and the program's must not drift apart. */
import { expect, test } from 'vitest';
import { WAF_TARGETS } from '../../../../src/base/vocabulary/vocabulary.ts';
import { WAF_COLLECTIONS, WAF_SCALARS } from '../../../../src/engine/plan/signature-program.ts';

test.each(Object.entries(WAF_TARGETS))('%s, with %s', (name, kind) => {
  const known: readonly string[] = kind === 'members' ? WAF_COLLECTIONS : WAF_SCALARS;
  expect(known).toContain(name);
});

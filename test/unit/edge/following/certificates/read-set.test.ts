import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { sealBox, sha256Hex } from '../../../../../src/base/platform/cryptography.ts';
import { openSet, SetRefusal } from '../../../../../src/edge/following/certificates/set-files.ts';
import { MAX_SET_CERTIFICATES } from '../../../../../src/edge/following/limits.ts';
import { certificateSetContext } from '../../../../../src/engine/plan/manifest.ts';
import { setText } from '../../../../support/scripted-control.ts';

const own = generateKeyPairSync('x25519').privateKey;
const other = generateKeyPairSync('x25519').privateKey;
const one = { id: 1, source: 'custom', chain: 'CHAIN', key: 'TOP-SECRET' } as const;
const domain = 'shop.test';

/** A box of a text, as an honest control plane seals it. */
function boxOf(text: string, changes: { readonly key?: typeof own; readonly context?: string } = {}) {
  const digest = sha256Hex(text);
  const context = changes.context ?? certificateSetContext(domain, digest);
  const box = sealBox(createPublicKey(changes.key ?? own), Buffer.from(text), context);
  return { domain, digest, box };
}

test('a set that was sealed for this node is opened', () => {
  expect(openSet(own, boxOf(setText(domain, [one])))).toEqual([one]);
  expect(openSet(own, boxOf(setText(domain, [])))).toEqual([]);
});

const honest = setText(domain, [one]);
const REFUSED: readonly (readonly [string, ReturnType<typeof boxOf>, RegExp])[] = [
  ['a box for another node', boxOf(honest, { key: other }), /another node/],
  ['a box of another domain', { ...boxOf(honest), domain: 'other.test' }, /another node, domain or set/],
  [
    'a box of an older set',
    { ...boxOf(setText(domain, [])), digest: sha256Hex(honest) },
    /another node, domain or set/,
  ],
  [
    'a box that claims the digest of another set',
    boxOf(setText(domain, []), { context: certificateSetContext(domain, sha256Hex(honest)) }),
    /damaged/,
  ],
  [
    'a forged set under the digest of the manifest',
    {
      ...boxOf(setText(domain, []), { context: certificateSetContext(domain, sha256Hex(honest)) }),
      digest: sha256Hex(honest),
    },
    /digest of the set is/,
  ],
  ['no box', { ...boxOf(honest), box: Buffer.from('') }, /damaged/],
  ['what is no JSON', boxOf('TOP-SECRET {'), /no set of the format/],
  ['another format', boxOf(honest.replace('/v1', '/v2')), /no set of the format/],
  ['a set for another domain', boxOf(setText('other.test', [one])), /another domain/],
  ['a source that is unknown', boxOf(honest.replace('custom', 'found')), /no set of the format/],
  ['a certificate without a key', boxOf(honest.replace('"key"', '"kee"')), /no set of the format/],
  ['too many certificates', boxOf(setText(domain, Array(MAX_SET_CERTIFICATES + 1).fill(one))), /at most 500/],
];

test.each(REFUSED)('%s is refused with a sentence that has nothing of the content', (_what, box, reason) => {
  let fault: unknown = null;
  try {
    openSet(own, box);
  } catch (error) {
    fault = error;
  }
  expect(fault).toBeInstanceOf(SetRefusal);
  expect((fault as Error).message).toMatch(reason);
  expect((fault as Error).message).not.toContain('TOP-SECRET');
});

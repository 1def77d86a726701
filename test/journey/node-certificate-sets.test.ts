/** A node follows the certificates of its domains, whatever the network, the disk or an attacker in between does. */
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sealBox, sha256Hex } from '../../src/base/platform/cryptography.ts';
import { compile, parseRuleSet, seal } from '../../src/engine/compiler/index.ts';
import { certificateSetContext, type SetCertificate } from '../../src/engine/plan/manifest.ts';
import { newFolder, startFollower, type TestFollower } from '../support/edge-follower.ts';
import { type ScriptedControl, setText, startScriptedControl } from '../support/scripted-control.ts';
import { until } from '../support/until.ts';

let control: ScriptedControl;
let directory: string;
let node: TestFollower;
/** What is in use. */
let sets: Map<string, readonly SetCertificate[]>;
/** Every change, in order. */
let changes: string[];
/** Thrown by the sink for a certificate with this id. */
let refusedId: number;

const one: SetCertificate = { id: 1, source: 'custom', chain: 'ONE', key: 'KEY-ONE' };
const two: SetCertificate = { id: 2, source: 'custom', chain: 'TWO', key: 'KEY-TWO' };

async function start(): Promise<void> {
  sets = new Map();
  changes = [];
  node = await startFollower({
    url: control.url,
    token: 'token',
    directory,
    times: { compareMs: 60_000 },
    certificates: {
      set(domain, certificates) {
        if (certificates.some(({ id }) => id === refusedId))
          throw new Error(`certificate ${refusedId} is bad`);
        sets.set(domain, certificates);
        changes.push(`${domain} ${certificates.map(({ id }) => id).join()}`);
      },
      delete(domain) {
        sets.delete(domain);
        changes.push(`${domain} -`);
      },
    },
  });
}

function plan(domain: string, revision = 1): Uint8Array {
  const parsed = parseRuleSet({ domain: { name: domain }, records: [], rules: [] });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
  return seal(compile(parsed.ruleSet).plan, { revision });
}

const idsOf = (domain: string): string | null =>
  sets
    .get(domain)
    ?.map(({ id }) => id)
    .join() ?? null;
const inUse = (domain: string, ids: string | null): Promise<true> =>
  until(() => idsOf(domain) === ids, `${domain} to have ${ids}`, 15_000);
const warned = (pattern: RegExp): readonly string[] => node.warnings.filter((line) => pattern.test(line));
/** The stored sets; a file that is being written has another name. */
const files = (): readonly string[] =>
  readdirSync(join(directory, 'certificates'))
    .filter((file) => !file.endsWith('.tmp'))
    .map((file) => join(directory, 'certificates', file));

/** Stops the node with everything stored: a set is in use before it is on the disk. */
async function stopStored(): Promise<void> {
  await until(() => node.state().pendingCertificates === 0, 'the stored sets');
  await node.stop();
}

beforeEach(async () => {
  control = await startScriptedControl();
  directory = newFolder();
  refusedId = -1;
  control.change('shop.test', { plan: plan('shop.test'), certificates: [one] });
  await start();
  await inUse('shop.test', '1');
});
afterEach(async () => {
  await node.stop();
  await control.close();
  rmSync(directory, { recursive: true });
});

test('a changed set is in use at once, and is fetched independently of the plan', async () => {
  const { revision } = control.change('shop.test', { certificates: [one, two] });
  await inUse('shop.test', '1,2');
  expect(revision).toBe(1);
  control.change('shop.test', { plan: plan('shop.test', 2) });
  await until(() => node.revision('shop.test') === 2, 'the plan');
  expect(control.asked).toHaveLength(2);
  expect(new Set(control.introduced)).toEqual(new Set([control.asked[0]!.nodeKey]));
});

test('a set is in use although its plan is refused, and a plan although its set is', async () => {
  await until(() => node.revision('shop.test') === 1, 'the first plan');
  control.change('shop.test', { plan: Buffer.from('no plan'), certificates: [two] });
  await inUse('shop.test', '2');
  expect(node.revision('shop.test')).toBe(1);
  refusedId = 7;
  control.change('shop.test', { plan: plan('shop.test', 3), certificates: [{ ...one, id: 7 }] });
  await until(() => node.revision('shop.test') === 3, 'the plan');
  expect(idsOf('shop.test')).toBe('2');
});

test.each(['refused', 'gone'] as const)(
  'a removed set, and one of a name that is %s, is removed',
  async (tombstone) => {
    const box = control.asked[0]!.box;
    // A set is in use before it is stored.
    await until(() => files().some((file) => readFileSync(file).includes(box)), 'the stored box');
    control.change('shop.test', { certificates: null });
    await inUse('shop.test', null);
    await until(() => !readFileSync(files()[0]!).includes(box), 'the end of the box');
    control.change('shop.test', { certificates: [two] });
    await inUse('shop.test', '2');
    control.change('shop.test', { tombstone });
    await inUse('shop.test', null);
    await stopStored();
    control.away(true);
    await start();
    expect(sets.size).toBe(0);
  },
);

test('a node that restarts without a control plane has its sets', async () => {
  await stopStored();
  control.away(true);
  await start();
  expect(sets.get('shop.test')).toEqual([one]);
  for (const file of files()) expect(readFileSync(file, 'latin1')).not.toContain('KEY-ONE');
});

test('a damaged file is logged and fetched again, and others are not affected', async () => {
  control.change('other.test', { plan: plan('other.test'), certificates: [two] });
  await inUse('other.test', '2');
  await stopStored();
  const damaged = join(directory, 'certificates', sha256Hex('shop.test'));
  writeFileSync(damaged, readFileSync(damaged).subarray(1));
  control.away(true);
  await start();
  expect([...sets.keys()]).toEqual(['other.test']);
  expect(warned(/a file of certificates is damaged/)).toHaveLength(1);
  control.away(false);
  await inUse('shop.test', '1');
});

test('a node that lost its key makes another one and fetches its sets again', async () => {
  await stopStored();
  rmSync(join(directory, 'box.key'));
  await start();
  await inUse('shop.test', '1');
  expect(new Set(control.asked.map(({ nodeKey }) => nodeKey)).size).toBe(2);
});

const stranger = generateKeyPairSync('x25519');
type Lie = Parameters<NonNullable<ScriptedControl['answer']>>[0];
const LIES: readonly (readonly [string, RegExp, (asked: Lie) => object])[] = [
  [
    'a box for the key of another node',
    /sealed for another node/,
    ({ domain, digest }) => ({
      box: sealBox(
        stranger.publicKey,
        Buffer.from(setText(domain, [two])),
        certificateSetContext(domain, digest),
      ),
    }),
  ],
  ['a box that replays an older set', /sealed for another/, () => ({ box: control.asked[0]!.box })],
  [
    'an older set with its own digest',
    /the manifest names/,
    () => ({ box: control.asked[0]!.box, digest: control.asked[0]!.digest }),
  ],
  ['octets that are no box', /damaged/, () => ({ box: Buffer.alloc(500) })],
  ['an answer without a digest that fits', /the manifest names/, () => ({ digest: 'x' })],
  ['404', /404/, () => ({ status: 404 })],
  ['500', /500/, () => ({ status: 500 })],
  ['a box that is too long', /longer than/, () => ({ box: Buffer.alloc(9 * 1024 * 1024) })],
];

test.each(LIES)(
  '%s is logged once, and the set before stays in use',
  { timeout: 240_000 },
  async (_what, reason, lie) => {
    control.answer = lie;
    control.change('shop.test', { certificates: [two] });
    await until(() => control.asked.length >= 4, 'three attempts', 15_000);
    expect(idsOf('shop.test')).toBe('1');
    expect(warned(/cannot be installed/)).toEqual([expect.stringMatching(reason)]);
    expect(node.warnings.join()).not.toMatch(/KEY-/);
    expect(node.state().pendingCertificates).toBe(1);
    control.answer = null;
    await inUse('shop.test', '2');
    expect(changes).toEqual(['shop.test 1', 'shop.test 2']);
    await until(() => node.state().pendingCertificates === 0, 'the end of the task');
  },
);

test('a set that anybody can seal to the public key of a node is refused without the digest of the manifest', async () => {
  control.answer = ({ domain, digest, nodeKey }) => {
    const key = createPublicKey({
      key: { kty: 'OKP', crv: 'X25519', x: Buffer.from(nodeKey, 'base64').toString('base64url') },
      format: 'jwk',
    });
    const forged = setText(domain, [{ ...one, id: 66 }]);
    return { box: sealBox(key, Buffer.from(forged), certificateSetContext(domain, digest)) };
  };
  control.change('shop.test', { certificates: [two] });
  await until(() => warned(/the digest of the set is/).length === 1, 'the refusal');
  expect(idsOf('shop.test')).toBe('1');
});

test('a replayed page brings back no older set, neither after a removal nor after a restart', async () => {
  const old = control.change('shop.test', { certificates: [two] });
  await inUse('shop.test', '2');
  const { box, digest } = control.asked.at(-1)!;
  control.change('shop.test', { certificates: [one] });
  await inUse('shop.test', '1');
  // An attacker has the box of the set, whose key is known to others.
  control.answer = ({ domain }) => (domain === 'shop.test' ? { box, digest } : null);
  const settle = async (): Promise<void> => {
    const marker = `marker-${control.asked.length}.test`;
    control.change(marker, { plan: plan(marker), certificates: [one] });
    await inUse(marker, '1');
  };
  control.replay([old]);
  await settle();
  expect(idsOf('shop.test')).toBe('1');
  control.change('shop.test', { certificates: null });
  await inUse('shop.test', null);
  control.replay([old]);
  await settle();
  expect(idsOf('shop.test')).toBeNull();
  await stopStored();
  await start();
  await until(() => node.state().mode === 'stream', 'the stream');
  control.replay([old]);
  await settle();
  expect(idsOf('shop.test')).toBeNull();
  expect(changes.filter((change) => change.startsWith('shop.test'))).toEqual([]);
});

test('a set that one failing domain has delays no other', async () => {
  control.answer = ({ domain }) => (domain === 'shop.test' ? { status: 500 } : null);
  control.change('shop.test', { certificates: [two] });
  await until(() => control.asked.length >= 2, 'the failure');
  control.change('other.test', { plan: plan('other.test'), certificates: [two] });
  await inUse('other.test', '2');
});

test('names that the control plane does not list any more lose their sets and files', async () => {
  await stopStored();
  await control.close();
  // Set up again: another key, other names.
  control = await startScriptedControl();
  control.change('new.test', { plan: plan('new.test'), certificates: [two] });
  rmSync(join(directory, 'control.json'));
  await start();
  expect(idsOf('shop.test')).toBe('1');
  await inUse('new.test', '2');
  await inUse('shop.test', null);
  await until(() => files().length === 1, 'the end of the file');
});

test('a node without TLS sends no key, and removes stored sets', async () => {
  await stopStored();
  control.introduced.length = 0;
  node = await startFollower({ url: control.url, token: 'token', directory });
  await until(() => node.state().comparisons > 0, 'a comparison');
  expect(new Set(control.introduced)).toEqual(new Set([undefined]));
  expect(readdirSync(directory)).not.toContain('certificates');
});

test('1,000 sets are installed, and restored without a control plane', { timeout: 120_000 }, async () => {
  const names = Array.from({ length: 1_000 }, (_, at) => `d${at}.test`);
  control.changeAll(new Map(names.map((name) => [name, { plan: plan(name), certificates: [one] }])));
  const began = performance.now();
  await until(() => sets.size === 1_001, 'all sets', 60_000);
  console.info(`1,000 sets installed in ${(performance.now() - began).toFixed(0)} ms`);
  expect(control.asked).toHaveLength(1_001);
  await until(() => node.state().pending === 0, 'all plans', 60_000);
  await stopStored();
  control.away(true);
  await start();
  expect(sets.size).toBe(1_001);
});

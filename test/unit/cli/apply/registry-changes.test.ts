/** The order in which `apply` changes a registry: what frees a name or a key comes before what takes it. */
import { expect, test } from 'vitest';
import type { DesiredState } from '../../../../src/cli/apply/desired-state.ts';
import { changesOfRegistry } from '../../../../src/cli/apply/registry-changes.ts';
import type { RemoteDomain } from '../../../../src/cli/remote/remote-domain.ts';
import type { RemoteConsumer } from '../../../../src/cli/remote/remote-registry.ts';
import { parseRuleSet } from '../../../../src/rules/model/parse.ts';
import { EMPTY_REGISTRY } from '../../../../src/rules/model/registry/registry.ts';
import type { Consumer, Registry } from '../../../../src/rules/model/types.ts';

const HASH = 'ab'.repeat(32);

function registryWith(consumers: readonly object[]): Registry {
  const read = parseRuleSet({
    domain: { name: 'example.com' },
    records: [],
    rules: [],
    registry: { ...EMPTY_REGISTRY, consumers },
  });
  if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
  return read.ruleSet.registry as Registry;
}

function onServer({ keys = [], ...value }: Consumer, id: number): RemoteConsumer {
  return { id, value, keys: keys.map((key, index) => ({ ...key, id: id * 10 + index, isRevoked: false })) };
}

/** The titles of the changes that make the consumers on the server those of the file. */
function titles(file: readonly object[], server: readonly object[], prune = true) {
  const consumers = registryWith(server).consumers.map((one, index) => onServer(one, index + 1));
  const { first, last } = changesOfRegistry(
    { registry: registryWith(file) } as DesiredState,
    { registry: { ...EMPTY_REGISTRY, consumers } } as unknown as RemoteDomain,
    { prune },
  );
  return [first, last].map((changes) => changes.map(({ verb, title }) => `${verb} ${title}`));
}

test.each([
  ['username', { username: 'new', custom_id: 'old' }, { username: 'old' }],
  ['custom_id', { username: 'new', custom_id: 'x' }, { username: 'old', custom_id: 'x' }],
  ['custom_id as a username', { username: 'x' }, { username: 'old', custom_id: 'x' }],
])('a consumer that is deleted leaves its %s to a new one', (_, file, server) => {
  expect(titles([file], [server])).toEqual([[`delete consumer old`, `create consumer ${file.username}`], []]);
  expect(titles([file], [server], false)[1]).toEqual([]);
});

test('a consumer that is deleted, as late as others, leaves its keys to another one', () => {
  const keys = [{ sha256: HASH }];
  expect(titles([{ username: 'new', keys }], [{ username: 'old', keys }])).toEqual([
    ['create consumer new'],
    ['delete consumer old', 'create key abababab of consumer new'],
  ]);
});

test('a consumer that takes nothing of a deleted one is created before the deletion', () => {
  expect(titles([{ username: 'new' }], [{ username: 'old' }])).toEqual([
    ['create consumer new'],
    ['delete consumer old'],
  ]);
});

test('a consumer that is changed leaves its custom_id to a new one, whichever is first in the file', () => {
  const server = [{ username: 'old', custom_id: 'x' }];
  expect(titles([{ username: 'new', custom_id: 'x' }, { username: 'old' }], server)).toEqual([
    ['update consumer old', 'create consumer new'],
    [],
  ]);
});

/** apply against somebody else's changes: nothing that was changed since the plan was made is overwritten. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DesiredState } from '../../src/cli/apply/desired-state.ts';
import { executeChanges } from '../../src/cli/apply/execute-changes.ts';
import { planChanges } from '../../src/cli/apply/plan-changes.ts';
import { readRemote } from '../../src/cli/remote/remote-domain.ts';
import { readEdgeFile } from '../../src/rules/files/edge-file.ts';
import { EMPTY_REGISTRY } from '../../src/rules/model/registry/registry.ts';
import { type Person, startApi, type TestApi } from '../support/api.ts';
import { testDatabases } from '../support/databases.ts';

const DATABASES = testDatabases();

describe.each(DATABASES)('apply on $kind', (database) => {
  let api: TestApi;
  let owner: Person;
  beforeAll(async () => {
    api = await startApi(database, {
      publication: { waitForOutbox: async () => ({ revision: 7 }) as never },
    });
    owner = await api.person('owner');
    await owner.call('POST', '/domains/', { name: 'race.test' });
  });
  afterAll(() => api.close());

  const options = () => ({ server: api.url, key: owner.key, domain: 'race.test' });

  function wanted(text: string): DesiredState {
    const read = readEdgeFile(`domain: race.test\n${text}`, 'edge.yaml');
    if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
    const { records, rules } = read.ruleSet;
    return {
      domain: 'race.test',
      settings: {},
      records,
      rules,
      lists: [],
      registry: EMPTY_REGISTRY,
      sources: read.sources,
    };
  }

  test('apply stops when a rule or record was changed since it was read', async () => {
    const path = '/domains/race.test/rules/drop/';
    const { id } = (await owner.call('POST', path, { countries: ['RU'] })).body;
    const file = wanted('rules: [{ type: drop, countries: [RU], priority: 5 }]');
    const plan = planChanges(file, await readRemote('race.test', options()), { ids: false, prune: false });
    expect(plan.changes).toHaveLength(1);
    await owner.call('PUT', `${path}${id}`, { enabled: false });
    const stopped = await executeChanges(plan, options());
    expect(stopped).toMatchObject({ ok: false, made: 0, fault: { exitCode: 4 } });
    expect(!stopped.ok && stopped.fault.message).toContain('has changed since the changes were planned');
    expect((await owner.call('GET', `${path}${id}`)).body).toMatchObject({ priority: 100, enabled: false });
    const again = planChanges(file, await readRemote('race.test', options()), { ids: false, prune: false });
    expect(await executeChanges(again, options())).toMatchObject({ ok: true, revision: '7' });
    expect((await owner.call('GET', `${path}${id}`)).body).toMatchObject({ priority: 5, enabled: true });
  });

  test('apply replaces a record and updates the rules that name it in one run', async () => {
    const { id } = (
      await owner.call('POST', '/domains/race.test/records/', {
        name: 'shop',
        type: 'CNAME',
        destination: 'a.test',
        proxied: false,
      })
    ).body;
    const path = '/domains/race.test/rules/captcha/';
    const rule = (await owner.call('POST', path, { record_ids: [id] })).body;
    const file = wanted(
      'records:\n  - { name: shop, type: A, destination: 192.0.2.1, proxied: true }\n' +
        '  - { name: shop, type: AAAA, destination: "2001:db8::1", proxied: true }\n' +
        'rules: [{ type: captcha, records: [shop] }]\n',
    );
    const plan = planChanges(file, await readRemote('race.test', options()), { ids: false, prune: true });
    expect(await executeChanges(plan, options())).toMatchObject({ ok: true });
    const left = planChanges(file, await readRemote('race.test', options()), { ids: false, prune: true });
    expect(left.changes).toEqual([]);
    const shown = (await owner.call('GET', `${path}${rule.id}`)).body;
    expect([shown.enabled, shown.record_ids.length]).toEqual([true, 2]);
  });
});

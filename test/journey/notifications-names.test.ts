/** Names that the server resolves for customers: those whose name servers are silent delay nobody else. */
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  createHostNames,
  type HostNames,
  NAMES_AT_ONCE,
  NAMES_OF_ACCOUNT,
  type NameOwner,
} from '../../src/control/dns/host-names.ts';
import { ATTEMPTS_AT_ONCE } from '../../src/control/notices/limits.ts';
import { testDatabases } from '../support/databases.ts';
import { a, NXDOMAIN, type ScriptedServer, SERVFAIL, startDnsServer } from '../support/dns-server.ts';
import { type NotifyRig, openNotifyRig } from '../support/notify-rig.ts';
import { until } from '../support/until.ts';

/** Enough for two attempts of each place. */
const HOSTILE = 12;
const [database] = testDatabases();

/** Silent about names below `silent.test`, also for one family of `four.test`; knows nothing but `*.good.test`. */
async function startNames(): Promise<ScriptedServer> {
  return startDnsServer('127.0.0.1', 0, ({ name, type }) => {
    if (name.endsWith('silent.test')) return null;
    if (name === 'broken.test') return { rcode: SERVFAIL };
    if (name === 'four.test' && type === 'AAAA') return null;
    if (name !== 'four.test' && !name.endsWith('good.test')) return { rcode: NXDOMAIN };
    return type === 'A' ? { answers: a(name, '127.0.0.1') } : {};
  });
}

/** The first address of a name, or the code of the error. */
function ask(names: HostNames, owner: NameOwner, name: string): Promise<string> {
  return new Promise((resolve) => {
    names.lookupFor(owner)(name, {}, (error, address) =>
      resolve(error === null ? String(address) : String(error.code)),
    );
  });
}

describe('with name servers that are silent', () => {
  let dns: ScriptedServer;
  let names: HostNames;
  beforeEach(async () => {
    dns = await startNames();
    const resolvers = [`127.0.0.1:${dns.port}`];
    names = createHostNames({ accounts: resolvers, operator: resolvers });
  });
  afterEach(() => dns.stop());

  test('many accounts that resolve silent names delay no name of another account or of the operator', async () => {
    const ended: string[] = [];
    const note = (what: string) => (found: string) => void ended.push(`${what} ${found}`);
    const hostile = Array.from({ length: 3 * NAMES_AT_ONCE }, (_, at) =>
      ask(names, Math.floor(at / NAMES_OF_ACCOUNT) + 100, `h${at}.silent.test`).then(note('silent')),
    );
    await until(() => dns.queries.length > 0, 'the first silent query');
    await Promise.all([
      ask(names, 1, 'hooks.good.test').then(note('hooks')),
      ask(names, 'operator', 'relay.good.test').then(note('relay')),
    ]);
    expect(ended).toEqual(['relay 127.0.0.1', 'hooks 127.0.0.1']);
    await Promise.all(hostile);
    expect(new Set(ended.slice(2))).toEqual(new Set(['silent EAI_AGAIN']));
  });

  test('one account that resolves many silent names asks for a few at once', async () => {
    const all = Array.from({ length: 20 }, (_, at) => ask(names, 7, `h${at}.silent.test`));
    await Promise.all(all);
    const asked = new Set(dns.queries.map(({ name }) => name));
    // Each name of the account takes the whole of its time, so the others end before their turn.
    expect(asked.size).toBeLessThan(20);
  });

  test('a name that one account asks for behind silent ones is found for another account at once', async () => {
    const order: string[] = [];
    const silent = ['a.silent.test', 'b.silent.test'].map((name) => ask(names, 7, name));
    await until(() => new Set(dns.queries.map(({ name }) => name)).size === 2, 'both silent names');
    const own = ask(names, 7, 'shared.good.test').then(() => void order.push('own'));
    expect(await ask(names, 8, 'shared.good.test')).toBe('127.0.0.1');
    order.push('other');
    await Promise.all([...silent, own]);
    expect(order).toEqual(['other', 'own']);
  });

  test('an account with a silent name still resolves names that were found before', async () => {
    expect(await ask(names, 7, 'hooks.good.test')).toBe('127.0.0.1');
    expect(await ask(names, 7, 'a.silent.test')).toBe('EAI_AGAIN');
    expect(await ask(names, 7, 'hooks.good.test')).toBe('127.0.0.1');
    expect(await ask(names, 7, 'new.good.test')).toBe('127.0.0.1');
  });

  test('a server that never answers for IPv6 delays a name less than its deadline', async () => {
    const order: string[] = [];
    const silent = ask(names, 2, 'a.silent.test').then(() => void order.push('silent'));
    await ask(names, 1, 'four.test').then((found) => void order.push(found));
    await silent;
    expect(order).toEqual(['127.0.0.1', 'silent']);
  });

  test('names that do not exist and names whose servers fail have the codes of getaddrinfo', async () => {
    expect(await ask(names, 1, 'nowhere.test')).toBe('ENOTFOUND');
    expect(await ask(names, 1, 'broken.test')).toBe('EAI_AGAIN');
  });

  test('names of the hosts file and below localhost are resolved without a query', async () => {
    expect(['127.0.0.1', '::1']).toContain(await ask(names, 1, 'localhost'));
    expect(await ask(names, 1, 'a.LOCALHOST')).toBe('127.0.0.1');
    const hosts = (await readFile('/etc/hosts', 'utf8'))
      .split('\n')
      .map((line) => line.split('#', 1)[0]!.trim());
    const listed = hosts
      .map((line) => line.split(/\s+/))
      .find(([address, name]) => /^\d/.test(address!) && name);
    expect(await ask(names, 'operator', listed![1]!)).toMatch(/^[\d.:a-f]+$/);
    expect(dns.queries).toEqual([]);
  });
});

describe('deliveries', () => {
  let rig: NotifyRig;
  let dns: ScriptedServer;
  beforeAll(async () => {
    rig = await openNotifyRig(database!);
    dns = await startNames();
  });
  afterEach(() => rig.reset());
  afterAll(async () => {
    await rig.close();
    await dns.stop();
  });

  test('to silent names of many accounts delay no mail and no webhook of another account', {
    timeout: 120_000,
  }, async () => {
    const hostile = [];
    for (let at = 0; at < HOSTILE; at++) {
      const subject = await rig.subject();
      for (const hook of [1, 2, 3]) await rig.hook(subject.accountId, `http://h${at}-${hook}.silent.test/`);
      hostile.push((await rig.ban(subject))[0]!.id);
    }
    const port = new URL(rig.receiver.url).port;
    const resolvers = [`127.0.0.1:${dns.port}`];
    const smtp = rig.mail.url.replace('127.0.0.1', 'relay.good.test');
    rig.startWorker({ smtp, names: { accounts: resolvers, operator: resolvers } });
    await until(
      () => dns.queries.filter(({ name }) => name.endsWith('silent.test')).length >= ATTEMPTS_AT_ONCE.webhook,
      'silent names',
    );
    const ann = await rig.subject();
    await rig.hook(ann.accountId, `http://hooks.good.test:${port}/ann`);
    const [honest] = await rig.ban(ann);
    await rig.settled(honest!.id, 'delivered');
    // By order, not by time: the first attempts to silent names are under way.
    const rows = (await Promise.all(hostile.map((id) => rig.deliveries(id)))).flat();
    const ended = rows.filter(({ channel, last_error }) => channel === 'webhook' && last_error !== '');
    expect(ended.length).toBeLessThan(ATTEMPTS_AT_ONCE.webhook);
    for (const id of hostile) {
      await until(
        async () =>
          (await rig.deliveries(id)).some(
            ({ channel, state }) => channel === 'email' && state === 'delivered',
          ),
        'mail',
      );
    }
  });
});

/** What `edgeplan node` is asked for and cannot do: a sentence, the remedy, and an exit code that tells which kind. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtCli, edgeplan } from '../support/built.ts';
import { makeCertificate } from '../support/make-certificate.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-refusals-'));
const EDGE = `domain: example.com
records:
  - { name: shop, type: A, destination: 198.51.100.20, proxied: true }
rules: []
`;

beforeAll(async () => {
  await builtCli();
  writeFileSync(join(folder, 'edge.yaml'), EDGE);
  writeFileSync(join(folder, 'file'), 'no folder');
  for (const name of ['empty', 'certs']) mkdirSync(join(folder, name));
  const [cert, key] = [join(folder, 'certs', 'shop.crt'), join(folder, 'certs', 'shop.key')];
  await makeCertificate({ names: ['shop.test'], cert, key });
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FROM_FILE = ['--file', 'edge.yaml', '--port', '0', '--data', 'data'];
const TOKEN = `edn_${'x'.repeat(43)}`;
const FROM_CONTROL = ['--control', 'http://127.0.0.1:1', '--port', '0', '--data', 'data'];

test.each([
  [
    [...FROM_FILE, '--trust-proxy', '10.0.0.0/99'],
    2,
    /--trust-proxy.*10\.0\.0\.0\/99.*an address or a prefix/s,
  ],
  [[...FROM_FILE, '--proxy-protocol', 'banana'], 2, /--proxy-protocol.*banana.*an address or a prefix/s],
  [[...FROM_FILE, '--tls-port', '0', '--certificates', 'file'], 3, /`file` is no folder.*--certificates/s],
  [
    [...FROM_FILE, '--tls-port', '0', '--certificates', 'nowhere'],
    3,
    /`nowhere` is no folder.*--certificates/s,
  ],
  [[...FROM_FILE, '--certificates', 'empty'], 3, /no certificate in `empty`.*--acme/s],
  [
    [...FROM_FILE, '--certificates', 'certs', '--default-certificate', 'nope.test'],
    2,
    /--default-certificate.*`nope\.test`.*there are ones for shop\.test/s,
  ],
  [[...FROM_FILE, '--log', 'nowhere/log'], 3, /--log: .*there is no folder `nowhere`/],
  [[...FROM_FILE, '--log', 'empty'], 3, /--log: .*is a folder/],
  [[...FROM_FILE, '--countries', 'nope.mmdb'], 3, /--countries: `nope\.mmdb` cannot be used/],
  [[...FROM_FILE, '--countries', 'file'], 3, /--countries: `file` cannot be used/],
  [[...FROM_FILE, '--asns', 'nope.mmdb'], 3, /--asns: `nope\.mmdb` cannot be used/],
  [[...FROM_FILE, '--asns', 'file'], 3, /--asns: `file` cannot be used/],
  [[...FROM_FILE, '--bot-ranges', 'nowhere'], 3, /--bot-ranges: `nowhere` cannot be used/],
  [
    [...FROM_FILE, '--certificates', 'certs', '--acme', 'nope', '--acme-name', 'a.test'],
    2,
    /--acme: .*`nope`/,
  ],
  [
    [...FROM_FILE, '--acme', 'https://ca.test/directory'],
    2,
    /--acme has no effect without --certificates\n.*folder/,
  ],
  [[...FROM_FILE, '--acme-name', 'a.test'], 2, /--acme-name has no effect without --certificates/],
  [
    [...FROM_FILE, '--certificates', 'certs', '--acme-email', 'a@b.test'],
    2,
    /--acme-email has no effect without --acme\n.*directory/,
  ],
  [[...FROM_FILE, '--token', 'x'], 2, /--token has no effect without --control\n.*--file/],
  [[...FROM_FILE, '--trust', 'x'], 2, /--trust has no effect without --control\n.*--file/],
  [[...FROM_FILE, '--origin-connections', '0'], 2, /a whole number from 1 to 65535/],
  [[...FROM_FILE, '--public-port', '0'], 2, /a whole number from 1 to 65535/],
  [['--file', 'edge.yaml', '--port', '0', '--data', 'file'], 3, /`file` is no folder.*--data/s],
  [[...FROM_CONTROL, '--token', ''], 2, /asks for a token.*EDGEPLAN_NODE_TOKEN.*--token/s],
  [[...FROM_CONTROL, '--token', TOKEN, '--trust', 'garbage'], 2, /--trust: .*EDGEPLAN_NODE_TRUST/s],
  [[...FROM_CONTROL, '--token', `${TOKEN}\nEDGEPLAN_NODE_TRUST=x`], 2, /43 characters, found several lines/],
  [[...FROM_CONTROL, '--token', `EDGEPLAN_NODE_TOKEN=${TOKEN}`], 2, /found 67 characters of another form/],
])('node %j ends with %i', async (args, exit, says) => {
  const { code, err } = await edgeplan(['node', ...args], { cwd: folder });
  expect([code, err]).toEqual([exit, expect.stringMatching(says)]);
  expect(err).not.toContain("edgeplan's own");
  expect(err).not.toContain('is served');
});

test('a token in the environment has no effect on a node that serves a file', async () => {
  const env = { EDGEPLAN_NODE_TOKEN: 'x' };
  const { code, err } = await edgeplan(['node', '--file', 'missing.yaml', '--port', '0', '--data', 'data'], {
    cwd: folder,
    env,
  });
  expect([code, err]).toEqual([3, expect.stringContaining('missing.yaml')]);
});

test.each([
  ['key', ['create', 'shop', '--data', 'typo']],
  ['subscription', ['show', 'example.com', '--data', 'typo']],
  ['node-token', ['create', 'edge-1', '--data', 'typo']],
  ['account', ['list', '--data', 'typo']],
])('%s makes no store in a folder that was mistyped', async (command, args) => {
  const { code, err } = await edgeplan([command, ...args], { cwd: folder });
  expect([code, err]).toEqual([3, expect.stringMatching(/there is no store in `.*typo`\n.*--data/)]);
});

test('account create notes that the folder had no store before', async () => {
  const create = (name: string) => edgeplan(['account', 'create', name, '--data', 'fresh'], { cwd: folder });
  const [first, second] = [await create('one'), await create('two')];
  expect([first.code, second.code]).toEqual([0, 0]);
  expect(first.err).toContain(`a new store was made in ${join(folder, 'fresh')}\n`);
  expect(second.err).not.toContain('new store');
});

test('serve on a PostgreSQL that does not listen names what to check', async () => {
  const address = 'postgres://edgeplan@127.0.0.1:1/edgeplan';
  const { code, err } = await edgeplan(['serve', '--database', address, '--port', '0'], { cwd: folder });
  const says = /ECONNREFUSED.*\n {2}check host and port of --database, and that PostgreSQL runs\n/;
  expect([code, err]).toEqual([4, expect.stringMatching(says)]);
});

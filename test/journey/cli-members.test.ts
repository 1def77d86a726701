/** `edgeplan member` and `edgeplan invitation` against a server: a domain is shared, and every wrong request. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtCli, edgeplan, type Run } from '../support/built.ts';
import { type Served, serve } from '../support/served.ts';

let served: Served;
let bobsKey: string;

beforeAll(async () => {
  await builtCli();
  served = await serve();
  await served.domain('shop.example');
  await edgeplan(['account', 'create', 'bob', ...served.data], { cwd: served.folder });
  bobsKey = (await edgeplan(['key', 'create', 'bob', ...served.data], { cwd: served.folder })).out.trim();
}, 120_000);
afterAll(() => served.stop());

const owner = (args: readonly string[]): Promise<Run> => served.run(args);
const bob = (args: readonly string[]): Promise<Run> =>
  edgeplan(args, { cwd: served.folder, env: { ...served.env, EDGEPLAN_KEY: bobsKey } });

test('an account is invited, accepts, changes its role, and leaves', async () => {
  const invited = await owner(['member', 'invite', 'shop.example', 'bob', '--role', 'editor']);
  expect([invited.code, invited.out]).toEqual([
    0,
    expect.stringMatching(/^bob is invited to shop\.example as editor until \d{4}-\d\d-\d\d\n$/),
  ]);
  const pending = await owner(['member', 'list', 'shop.example']);
  expect(pending.out).toMatch(
    /^account {2}role {4}state\nowner {4}owner {3}since \S+\nbob {6}editor {2}invited until \S+\n$/,
  );
  const received = await bob(['invitation', 'list']);
  expect(received.out).toMatch(/^id {2}domain {8}role {4}until\n1 {3}shop\.example {2}editor {2}\S+\n$/);
  const accepted = await bob(['invitation', 'accept', '1']);
  expect([accepted.code, accepted.out]).toEqual([0, 'invitation 1 is accepted: the account is editor\n']);
  expect((await bob(['invitation', 'list'])).err).toBe('no pending invitations\n');
  const seen = await bob(['member', 'list', 'shop.example']);
  expect(seen.out).toMatch(/\nbob {6}editor {2}since \S+\n$/);
  expect(seen.err).toBe('pending invitations are shown to the owner and admins only\n');
  const changed = await owner(['member', 'role', 'shop.example', 'bob', 'admin']);
  expect(changed.out).toBe('bob is admin of shop.example\n');
  expect((await bob(['member', 'list', 'shop.example'])).err).toBe('');
  const left = await bob(['member', 'remove', 'shop.example', 'bob']);
  expect([left.code, left.out]).toEqual([0, 'bob is no member of shop.example any more\n']);
  expect((await bob(['member', 'list', 'shop.example'])).code).toBe(4);
});

test('an invitation is declined, or withdrawn, also that of an account that does not exist', async () => {
  await owner(['member', 'invite', 'shop.example', 'bob', '--role', 'viewer']);
  const { invitations } = JSON.parse((await bob(['invitation', 'list', '--json'])).out);
  const declined = await bob(['invitation', 'decline', String(invitations[0].id)]);
  expect([declined.code, declined.out]).toEqual([0, `invitation ${invitations[0].id} is declined\n`]);
  await owner(['member', 'invite', 'shop.example', 'nobody yet', '--role', 'viewer']);
  const withdrawn = await owner(['member', 'remove', 'shop.example', 'nobody yet']);
  expect(withdrawn.out).toBe('the invitation of nobody yet to shop.example is withdrawn\n');
  const after = JSON.parse((await owner(['member', 'list', 'shop.example', '--json'])).out);
  expect([after.members.length, after.invitations]).toEqual([1, []]);
});

test('--json prints one object of a format', async () => {
  const made = JSON.parse(
    (await owner(['member', 'invite', 'shop.example', 'bob', '--role', 'viewer', '--json'])).out,
  );
  expect(made).toMatchObject({
    format: 'edgeplan.invitation/v1',
    domain: 'shop.example',
    name: 'bob',
    role: 'viewer',
  });
  const listed = JSON.parse((await owner(['member', 'list', 'shop.example', '--json'])).out);
  expect(listed).toMatchObject({
    format: 'edgeplan.members/v1',
    domain: 'shop.example',
    members: [{ name: 'owner', role: 'owner' }],
    invitations: [{ id: made.id, name: 'bob', role: 'viewer' }],
  });
  const received = JSON.parse((await bob(['invitation', 'list', '--json'])).out);
  expect(received).toMatchObject({
    format: 'edgeplan.invitations/v1',
    invitations: [{ id: made.id, domain: 'shop.example', role: 'viewer' }],
  });
  await bob(['invitation', 'accept', String(made.id)]);
  expect(JSON.parse((await bob(['member', 'list', 'shop.example', '--json'])).out).invitations).toBeNull();
  await owner(['member', 'remove', 'shop.example', 'bob']);
});

test.each([
  [
    'a domain that is not there',
    ['member', 'list', 'none.example'],
    4,
    'the key has access to no domain `none.example`',
  ],
  [
    'no role',
    ['member', 'invite', 'shop.example', 'eve'],
    2,
    "required option '--role <role>' not specified",
  ],
  [
    'a role that cannot be granted',
    ['member', 'invite', 'shop.example', 'eve', '--role', 'owner'],
    2,
    'Allowed choices are viewer, editor, admin.',
  ],
  [
    'a name that none can have',
    ['member', 'invite', 'shop.example', 'a\nb', '--role', 'viewer'],
    4,
    'name: must be printable text',
  ],
  [
    'the owner',
    ['member', 'invite', 'shop.example', 'owner', '--role', 'viewer'],
    4,
    'the account owns this domain',
  ],
  [
    'the role of no member',
    ['member', 'role', 'shop.example', 'eve', 'viewer'],
    1,
    '`shop.example` has no member `eve`',
  ],
  [
    'the role of the owner',
    ['member', 'role', 'shop.example', 'owner', 'viewer'],
    4,
    'the account owns this domain',
  ],
  [
    'no member to remove',
    ['member', 'remove', 'shop.example', 'eve'],
    1,
    '`shop.example` has no member `eve`',
  ],
  [
    'an invitation that is not there',
    ['invitation', 'accept', '999'],
    1,
    'the server answered 404: not found',
  ],
  [
    'an invitation named by its domain',
    ['invitation', 'decline', 'shop.example'],
    2,
    'an id is a whole number; edgeplan invitation list has it.',
  ],
] as const)('%s exits with its code and a sentence', async (_name, args, code, sentence) => {
  const run = await owner(args);
  expect([run.code, run.out]).toEqual([code, '']);
  expect(run.err).toContain(sentence);
});

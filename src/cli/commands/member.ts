/** `edgeplan member`: who sees a domain of a server: members and pending invitations, listed and changed. */
import { Argument, Command, Option } from 'commander';
import { MEMBER_ROLES, type MemberRole } from '../../control/store/tables/domains.ts';
import { visible } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT } from '../exit.ts';
import { jsonOption } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import { tableText } from '../print/table.ts';
import { keyOption, type ServerAccess, ServerRefusal, serverOption } from '../remote/call-api.ts';
import { callDomainApi, domainPath } from '../remote/remote-domain.ts';

/** The options of every command, as commander parses them. */
interface Flags extends ServerAccess {
  /** Prints JSON. */
  readonly json?: boolean;
}

/** The options of `invite`. */
interface InviteFlags extends Flags {
  readonly role: MemberRole;
}

/** A member, as the API answers it. */
interface Member {
  readonly user_id: number;
  readonly name: string;
  readonly role: string;
  readonly created_at: string;
}

/** A pending invitation, as the API answers it. */
interface Invitation {
  readonly id: number;
  readonly name: string;
  readonly role: string;
  readonly expires_at: string;
}

/** The day of a time. */
function dayOf(time: string): string {
  return time.slice(0, 10);
}

/** The members of a domain, its owner first. */
async function membersOf(domain: string, access: ServerAccess): Promise<readonly Member[]> {
  const path = domainPath(domain, '/members/');
  return (await callDomainApi(domain, access, { method: 'GET', path })).body as readonly Member[];
}

/** The pending invitations to a domain; `null`: the role of the key does not show them. */
async function invitationsTo(domain: string, access: ServerAccess): Promise<readonly Invitation[] | null> {
  const path = domainPath(domain, '/invitations/');
  try {
    return (await callDomainApi(domain, access, { method: 'GET', path })).body as readonly Invitation[];
  } catch (error) {
    if (error instanceof ServerRefusal && error.status === 403) return null;
    throw error;
  }
}

/** Lists members, then pending invitations. */
async function list(domain: string, flags: Flags): Promise<void> {
  const members = await membersOf(domain, flags);
  const invitations = await invitationsTo(domain, flags);
  if (flags.json === true) return writeDocument('members', { domain, members, invitations });
  const rows = [
    ...members.map(({ name, role, created_at }) => [name, role, `since ${dayOf(created_at)}`]),
    ...(invitations ?? []).map(({ name, role, expires_at }) => [
      name,
      role,
      `invited until ${dayOf(expires_at)}`,
    ]),
  ];
  await write(tableText(['account', 'role', 'state'], rows));
  if (invitations === null) note('pending invitations are shown to the owner and admins only');
}

/** Invites an account, or renews its invitation with another role. */
async function invite(
  domain: string,
  account: string,
  { role, json, ...access }: InviteFlags,
): Promise<void> {
  const path = domainPath(domain, '/members/');
  const body = { name: account, role };
  const made = (await callDomainApi(domain, access, { method: 'POST', path, body })).body as Invitation;
  if (json === true) return writeDocument('invitation', { domain, ...made });
  const until = dayOf(made.expires_at);
  await write(`${visible(made.name)} is invited to ${domain} as ${visible(made.role)} until ${until}\n`);
}

/** The member of this name. @throws CommandFault if the domain has no such member */
async function findMember(domain: string, account: string, access: ServerAccess): Promise<Member> {
  const found = (await membersOf(domain, access)).find(({ name }) => name === account);
  if (found !== undefined) return found;
  const remedy = `edgeplan member list ${domain} lists them; edgeplan member invite invites an account`;
  throw new CommandFault(EXIT.no, `\`${domain}\` has no member \`${account}\``, { remedy });
}

/** Changes the role of a member. */
async function changeRole(
  domain: string,
  account: string,
  role: MemberRole,
  access: ServerAccess,
): Promise<void> {
  const { user_id } = await findMember(domain, account, access);
  const path = domainPath(domain, `/members/${user_id}`);
  await callDomainApi(domain, access, { method: 'PUT', path, body: { role } });
  await write(`${visible(account)} is ${role} of ${domain}\n`);
}

/** Removes a member, or withdraws the invitation of an account that is not a member yet. */
async function remove(domain: string, account: string, access: ServerAccess): Promise<void> {
  const invited = (await invitationsTo(domain, access))?.find(({ name }) => name === account);
  if (invited !== undefined) {
    const path = domainPath(domain, `/invitations/${invited.id}`);
    await callDomainApi(domain, access, { method: 'DELETE', path });
    return write(`the invitation of ${visible(account)} to ${domain} is withdrawn\n`);
  }
  const { user_id } = await findMember(domain, account, access);
  await callDomainApi(domain, access, { method: 'DELETE', path: domainPath(domain, `/members/${user_id}`) });
  await write(`${visible(account)} is no member of ${domain} any more\n`);
}

/** A command for a domain, with the options of a server. */
function ofDomain(name: string, description: string): Command {
  return new Command(name).description(description).argument('<domain>', 'its name');
}

/** Adds the server and its key. */
function atServer(command: Command): Command {
  return command.addOption(serverOption()).addOption(keyOption());
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'member list': ['edgeplan member list example.com', 'edgeplan member list example.com --json'],
  'member invite': ['edgeplan member invite example.com acme --role editor'],
  'member role': ['edgeplan member role example.com acme viewer'],
  'member remove': ['edgeplan member remove example.com acme'],
};

/** Creates the command. */
export function memberCommand(): Command {
  const command = new Command('member')
    .description('Share a domain: list, invite, change and remove its members.')
    .addCommand(
      atServer(
        ofDomain('list', 'List the owner, the members and pending invitations.').addOption(
          jsonOption('members'),
        ),
      ).action(list),
    )
    .addCommand(
      atServer(
        ofDomain('invite', 'Invite an account; it becomes a member when it accepts.')
          .argument('<account>', 'its name')
          .addOption(
            new Option('--role <role>', 'what it may do').choices(MEMBER_ROLES).makeOptionMandatory(),
          )
          .addOption(jsonOption('invitation')),
      ).action(invite),
    )
    .addCommand(
      atServer(
        ofDomain('role', 'Change the role of a member.')
          .argument('<account>', 'its name')
          .addArgument(new Argument('<role>', 'what it may do').choices(MEMBER_ROLES)),
      ).action(changeRole),
    )
    .addCommand(
      atServer(
        ofDomain('remove', 'Remove a member, or withdraw an invitation.').argument('<account>', 'its name'),
      ).action(remove),
    );
  return withExamples(command, EXAMPLES);
}

/** `edgeplan invitation`: the pending invitations of an account to domains of others, accepted or declined. */
import { Command } from 'commander';
import { visible } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { idParser, jsonOption } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import { tableText } from '../print/table.ts';
import { callApi, keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';

/** The options of `list`, as commander parses them. */
interface ListFlags extends ServerAccess {
  /** Prints JSON. */
  readonly json?: boolean;
}

/** An invitation, as the API answers it to the invited account. */
interface Received {
  readonly id: number;
  readonly domain: string;
  readonly role: string;
  readonly expires_at: string;
}

/** Lists the invitations. */
async function list(flags: ListFlags): Promise<void> {
  const { body } = await callApi(flags, { method: 'GET', path: '/invitations/' });
  const invitations = body as readonly Received[];
  if (flags.json === true) return writeDocument('invitations', { invitations });
  const rows = invitations.map(({ id, domain, role, expires_at }) => [
    String(id),
    domain,
    role,
    expires_at.slice(0, 10),
  ]);
  await write(tableText(['id', 'domain', 'role', 'until'], rows));
  if (rows.length === 0) note('no pending invitations');
}

/** Accepts or declines one. Prints what follows from it. */
async function answer(id: number, verb: 'accept' | 'decline', access: ServerAccess): Promise<void> {
  const { body } = await callApi(access, { method: 'POST', path: `/invitations/${id}/${verb}` });
  const { role } = body as { readonly role?: string };
  await write(
    verb === 'accept'
      ? `invitation ${id} is accepted: the account is ${visible(String(role))}\n`
      : `invitation ${id} is declined\n`,
  );
}

/** A command that answers an invitation. */
function answering(verb: 'accept' | 'decline', description: string): Command {
  return new Command(verb)
    .description(description)
    .argument('<id>', 'the id of the invitation', idParser('edgeplan invitation list has it'))
    .addOption(serverOption())
    .addOption(keyOption())
    .action((id: number, access: ServerAccess) => answer(id, verb, access));
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'invitation list': ['edgeplan invitation list', 'edgeplan invitation list --json'],
  'invitation accept': ['edgeplan invitation accept 7'],
  'invitation decline': ['edgeplan invitation decline 7'],
};

/** Creates the command. */
export function invitationCommand(): Command {
  const command = new Command('invitation')
    .description('List, accept and decline invitations of your account to domains of others.')
    .addCommand(
      new Command('list')
        .description('List pending invitations.')
        .addOption(jsonOption('invitations'))
        .addOption(serverOption())
        .addOption(keyOption())
        .action(list),
    )
    .addCommand(answering('accept', 'Accept an invitation: the account becomes a member of the domain.'))
    .addCommand(answering('decline', 'Decline an invitation.'));
  return withExamples(command, EXAMPLES);
}

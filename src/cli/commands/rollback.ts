/** `edgeplan rollback`: publishes the content of an old revision as a new one. */
import { Command, InvalidArgumentError } from 'commander';
import { CommandFault, EXIT } from '../exit.ts';
import { write } from '../output.ts';
import {
  type ApiResponse,
  keyOption,
  type ServerAccess,
  ServerRefusal,
  serverOption,
} from '../remote/call-api.ts';
import { callDomainApi, domainPath } from '../remote/remote-domain.ts';

function readRevision(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new InvalidArgumentError('a revision is a whole number from 1 on.');
  return Number(text);
}

async function rollback(domain: string, revision: number, options: ServerAccess): Promise<void> {
  const { body } = await rollBack(domain, revision, options);
  const made = (body as { readonly revision?: number }).revision;
  await write(
    `${domain} is out as revision ${made}, with the content of revision ${revision}\n` +
      'the stored rules are as they were: the next change of the domain publishes them again\n',
  );
}

async function rollBack(domain: string, revision: number, options: ServerAccess): Promise<ApiResponse> {
  const path = domainPath(domain, `/plans/${revision}/rollback`);
  try {
    return await callDomainApi(domain, options, { method: 'POST', path });
  } catch (error) {
    if (!(error instanceof ServerRefusal) || error.status !== 404) throw error;
    throw new CommandFault(EXIT.no, `\`${domain}\` has no revision ${revision}`, {
      remedy: `GET ${domainPath(domain, '/plans/')} lists those it has`,
      cause: error,
    });
  }
}

export function rollbackCommand(): Command {
  return new Command('rollback')
    .summary('publish the content of an old revision again')
    .description(
      'Publishes what an old revision held as a new, higher one. Rules and records stay as they are stored, so the next ' +
        'change publishes those again: put them right before you change anything else.',
    )
    .argument('<domain>', 'its name')
    .argument('<revision>', 'the revision whose content is wanted back', readRevision)
    .addOption(serverOption())
    .addOption(keyOption())
    .action(rollback);
}

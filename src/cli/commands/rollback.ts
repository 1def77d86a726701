/** `edgeplan rollback`: publishes the content of an old revision as a new one. */
import { Command, InvalidArgumentError } from 'commander';
import { askServer, keyOption, type ServerOptions, serverOption } from '../ask-server.ts';
import { write } from '../output.ts';

function readRevision(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new InvalidArgumentError('a revision is a whole number from 1 on.');
  return Number(text);
}

async function rollback(domain: string, revision: number, options: ServerOptions): Promise<void> {
  const path = `/domains/${encodeURIComponent(domain)}/plans/${revision}/rollback`;
  const { body } = await askServer(options, { method: 'POST', path });
  const made = (body as { readonly revision?: number }).revision;
  await write(
    `${domain} is out as revision ${made}, with the content of revision ${revision}\n` +
      'the stored rules are as they were: the next change of the domain publishes them again\n',
  );
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

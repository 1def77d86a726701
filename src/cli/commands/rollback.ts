/** `edgeplan rollback`: publishes the content of an earlier revision as a new revision. */
import { Command, InvalidArgumentError } from 'commander';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT } from '../exit.ts';
import { jsonOption } from '../options.ts';
import { write, writeDocument } from '../output.ts';
import {
  type ApiResponse,
  keyOption,
  type ServerAccess,
  ServerRefusal,
  serverOption,
} from '../remote/call-api.ts';
import { callDomainApi, domainPath } from '../remote/remote-domain.ts';

/** Parses a revision. */
function readRevision(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new InvalidArgumentError('a revision is a whole number from 1 on.');
  return Number(text);
}

/** Rolls back and prints the new revision. */
async function rollback(
  domain: string,
  revision: number,
  { json, ...options }: ServerAccess & { readonly json?: boolean },
): Promise<void> {
  const { body } = await postRollback(domain, revision, options);
  // The revision that the API assigned to the copy.
  const made = (body as { readonly revision?: number }).revision;
  if (json === true)
    return writeDocument('rollback', { domain, revision: made ?? null, content_of: revision });
  await write(
    `${domain} is out as revision ${made}, with the content of revision ${revision}\n` +
      'the stored rules are unchanged: the next change of the domain publishes them again\n',
  );
}

/** Calls the API. @throws CommandFault with exit code 1 when the domain has no such revision */
async function postRollback(domain: string, revision: number, options: ServerAccess): Promise<ApiResponse> {
  const path = domainPath(domain, `/plans/${revision}/rollback`);
  try {
    return await callDomainApi(domain, options, { method: 'POST', path });
  } catch (error) {
    // `callDomainApi` has reported a domain without access, so a 404 is the revision.
    if (!(error instanceof ServerRefusal) || error.status !== 404) throw error;
    throw new CommandFault(EXIT.no, `\`${domain}\` has no revision ${revision}`, {
      remedy: `GET ${domainPath(domain, '/plans/')} lists those it has`,
      cause: error,
    });
  }
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  rollback: ['edgeplan rollback example.com 41'],
};

/** Creates the command. */
export function rollbackCommand(): Command {
  const command = new Command('rollback')
    .summary('publish the content of an old revision again')
    .description(
      'Publishes the content of an old revision as a new, higher one. The stored rules and records do not change, so the ' +
        'next change publishes those again: correct them before you change anything else.',
    )
    .argument('<domain>', 'its name')
    .argument('<revision>', 'the revision whose content to publish', readRevision)
    .addOption(jsonOption('rollback'))
    .addOption(serverOption())
    .addOption(keyOption())
    .action(rollback);
  return withExamples(command, EXAMPLES);
}

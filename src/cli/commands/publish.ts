/** `edgeplan publish`: publishes a domain again as it is stored, for example after an upgrade. */
import { Command } from 'commander';
import { askInDomain, domainPath } from '../apply/remote.ts';
import { keyOption, type ServerOptions, serverOption } from '../ask-server.ts';
import { note, write } from '../output.ts';
import { tellPublished } from '../published.ts';

async function publish(domain: string, options: ServerOptions): Promise<void> {
  const path = domainPath(domain, '/plans/?wait=published');
  const { headers } = await askInDomain(domain, options, { method: 'POST', path });
  const { clause, remedy } = await tellPublished(domain, headers.get('x-revision') ?? 'unknown', options);
  await write(`${clause}\n`);
  if (remedy !== null) note(`  ${remedy}`);
}

export function publishCommand(): Command {
  return new Command('publish')
    .summary('publish a domain again as the server has it')
    .description(
      'Compiles what the server has stored for a domain and publishes it as the next revision. Every change is published ' +
        'by itself; this is for after an upgrade, or to end a rollback.',
    )
    .argument('<domain>', 'its name')
    .addOption(serverOption())
    .addOption(keyOption())
    .action(publish);
}

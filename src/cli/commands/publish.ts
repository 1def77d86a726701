/** `edgeplan publish`: publishes a domain again as it is stored, for example after an upgrade. */
import { Command } from 'commander';
import { askServer, keyOption, type ServerOptions, serverOption } from '../ask-server.ts';
import { write } from '../output.ts';

async function publish(domain: string, options: ServerOptions): Promise<void> {
  const path = `/domains/${encodeURIComponent(domain)}/plans/?wait=published`;
  const { headers } = await askServer(options, { method: 'POST', path });
  await write(`${domain} is out as revision ${headers.get('x-revision') ?? 'unknown'}\n`);
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

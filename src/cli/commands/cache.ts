/** `edgeplan cache`: purges and refreshes what nodes have cached of a domain. */
import { Command, Option } from 'commander';
import { MAX_PURGE_VALUES } from '../../base/limits.ts';
import { write } from '../output.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { callDomainApi, domainPath } from '../remote/remote-domain.ts';

/** The options of `purge`, as commander parses them. */
interface PurgeFlags extends ServerAccess {
  readonly url?: readonly string[];
  readonly prefix?: readonly string[];
  readonly tag?: readonly string[];
}

/** Purges single responses, or all of a domain without options. */
async function purge(domain: string, { url, prefix, tag, ...access }: PurgeFlags): Promise<void> {
  const named = [
    { field: 'urls', values: url ?? [] },
    { field: 'prefixes', values: prefix ?? [] },
    { field: 'tags', values: tag ?? [] },
  ].filter(({ values }) => values.length > 0);
  if (named.length === 0) {
    await call(domain, access, { method: 'DELETE', below: '/cache/' });
    return;
  }
  for (const { field, values } of named) {
    for (const part of parts(values)) {
      await call(domain, access, { method: 'POST', below: '/cache/purge', body: { [field]: part } });
    }
  }
}

/** Marks responses as stale. */
async function refresh(domain: string, urls: readonly string[], access: ServerAccess): Promise<void> {
  for (const part of parts(urls)) {
    await call(domain, access, { method: 'POST', below: '/cache/refresh', body: { urls: part } });
  }
}

interface CacheCall {
  readonly method: 'DELETE' | 'POST';
  readonly below: string;
  readonly body?: object;
}

async function call(domain: string, access: ServerAccess, { below, ...request }: CacheCall): Promise<void> {
  const { body } = await callDomainApi(domain, access, { ...request, path: domainPath(domain, below) });
  await write(`${(body as { readonly message: string }).message}\n`);
}

/** The values by as many as one request has. */
function parts(values: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(values.length / MAX_PURGE_VALUES) }, (_, at) =>
    values.slice(at * MAX_PURGE_VALUES, (at + 1) * MAX_PURGE_VALUES),
  );
}

function purgeCommand(): Command {
  return new Command('purge')
    .summary('purge cached responses on every node: those named, or all of a domain')
    .description(
      'Purges cached responses by URL, prefix of the path or tag (`Cache-Tag`, `Surrogate-Key`) on every node; without ' +
        'options all of the domain. A node that is away applies it before it serves again.',
    )
    .argument('<domain>', 'its name')
    .addOption(new Option('--url <url...>', 'whole URLs'))
    .addOption(new Option('--prefix <prefix...>', 'hosts with the beginning of a path'))
    .addOption(new Option('--tag <tag...>', 'tags of the origin'))
    .addOption(serverOption())
    .addOption(keyOption())
    .action(purge);
}

function refreshCommand(): Command {
  return new Command('refresh')
    .summary('mark cached responses as stale: the next request revalidates them')
    .description(
      'Marks the cached responses to URLs as stale on every node: the next request revalidates each with the origin, and ' +
        'gets the stored one if the origin says that it is unchanged.',
    )
    .argument('<domain>', 'its name')
    .argument('<url...>', 'whole URLs')
    .addOption(serverOption())
    .addOption(keyOption())
    .action(refresh);
}

/** Creates the command. */
export function cacheCommand(): Command {
  return new Command('cache')
    .summary('purge and refresh what nodes have cached of a domain')
    .description('Purges and refreshes what nodes have cached of a domain.')
    .addCommand(purgeCommand())
    .addCommand(refreshCommand());
}

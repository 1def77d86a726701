/** `edgeplan cache`: shows, purges and refreshes what nodes have cached of a domain. */
import { Command, Option } from 'commander';
import { MAX_PURGE_VALUES } from '../../base/vocabulary/limits.ts';
import { visible } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { jsonOption, limitOption } from '../options.ts';
import { write, writeDocument } from '../output.ts';
import { entriesText, footprintText, type PrintedEntries, type PrintedFootprint } from '../print/cache.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { callDomainApi, domainPath } from '../remote/remote-domain.ts';

/** The options of `purge`, as commander parses them. */
interface PurgeFlags extends ServerAccess {
  readonly url?: readonly string[];
  readonly prefix?: readonly string[];
  readonly tag?: readonly string[];
}

/** The options of `show` and `entries`, as commander parses them. */
interface ShowFlags extends ServerAccess {
  readonly json?: boolean;
  readonly prefix?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

async function show(domain: string, flags: ShowFlags): Promise<void> {
  const request = { method: 'GET', path: domainPath(domain, '/cache/') } as const;
  const body = (await callDomainApi(domain, flags, request)).body as PrintedFootprint;
  if (flags.json === true) await writeDocument('cache-footprint', { domain, ...body });
  else await write(footprintText(body));
}

async function entries(domain: string, flags: ShowFlags): Promise<void> {
  const query = new URLSearchParams();
  for (const name of ['prefix', 'limit', 'cursor'] as const) {
    if (flags[name] !== undefined) query.set(name, String(flags[name]));
  }
  const path = domainPath(domain, query.size === 0 ? '/cache/entries' : `/cache/entries?${query}`);
  const body = (await callDomainApi(domain, flags, { method: 'GET', path })).body as PrintedEntries;
  if (flags.json === true) await writeDocument('cache-entries', { domain, ...body });
  else await write(entriesText(body));
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
  await write(`${visible((body as { readonly message: string }).message)}\n`);
}

/** The values by as many as one request has. */
function parts(values: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(values.length / MAX_PURGE_VALUES) }, (_, at) =>
    values.slice(at * MAX_PURGE_VALUES, (at + 1) * MAX_PURGE_VALUES),
  );
}

function showCommand(): Command {
  return new Command('show')
    .summary('how much nodes have cached of a domain')
    .description(
      'Prints how many responses of a domain each node has cached, in memory and on disk, and when it reported that. Nodes ' +
        'report within a minute of a change.',
    )
    .argument('<domain>', 'its name')
    .addOption(jsonOption('cache-footprint'))
    .addOption(serverOption())
    .addOption(keyOption())
    .action(show);
}

function entriesCommand(): Command {
  return new Command('entries')
    .summary('the cached URLs of a domain')
    .description(
      'Prints the URLs of a domain that nodes have cached, with their sizes, times and tags, by the last reports of nodes. A ' +
        'node lists those that were used last.',
    )
    .argument('<domain>', 'its name')
    .addOption(new Option('--prefix <prefix>', 'only URLs under a host with the beginning of a path'))
    .addOption(limitOption('URLs'))
    .addOption(new Option('--cursor <cursor>', 'go on after a page'))
    .addOption(jsonOption('cache-entries'))
    .addOption(serverOption())
    .addOption(keyOption())
    .action(entries);
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

/** Examples of the help. */
const EXAMPLES: Examples = {
  'cache show': ['edgeplan cache show example.com', 'edgeplan cache show example.com --json'],
  'cache entries': [
    'edgeplan cache entries example.com --prefix example.com/assets/',
    'edgeplan cache entries example.com --limit 1000 --json',
  ],
  'cache purge': [
    'edgeplan cache purge example.com --url https://example.com/assets/app.css',
    'edgeplan cache purge example.com --prefix example.com/assets/ --tag product-17',
    'edgeplan cache purge example.com',
  ],
  'cache refresh': [
    'edgeplan cache refresh example.com https://example.com/prices https://example.com/stock',
  ],
};

/** Creates the command. */
export function cacheCommand(): Command {
  const command = new Command('cache')
    .summary('what nodes have cached of a domain: show, purge, refresh')
    .description('Shows, purges and refreshes what nodes have cached of a domain.')
    .addCommand(showCommand())
    .addCommand(entriesCommand())
    .addCommand(purgeCommand())
    .addCommand(refreshCommand());
  return withExamples(command, EXAMPLES);
}

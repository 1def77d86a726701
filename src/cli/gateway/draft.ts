/**
 * `edgeplan gateway draft`: writes an OpenAPI document of the operations that traffic shows: of logs, or of what the nodes of a server
 * have counted.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import { stringify } from 'yaml';
import { createTargetFacts, parseTarget } from '../../base/paths/path.ts';
import { generalizePath } from '../../base/paths/segment-kind.ts';
import { DOCUMENT_METHODS, showsOperation } from '../../engine/counts/unknown-operation.ts';
import type { AccessEntry } from '../../workbench/access-logs/entry.ts';
import { LOG_FORMATS, type LogFormat } from '../../workbench/access-logs/format.ts';
import { createDiscovery, type DiscoveredOperation } from '../../workbench/discovery/discover.ts';
import { draftOpenApi } from '../../workbench/discovery/draft-openapi.ts';
import type { ParameterType } from '../../workbench/discovery/parameter-names.ts';
import { quantity, visible } from '../../workbench/simulation/render-text.ts';
import { inputFault, usageFault } from '../exit.ts';
import { gather, readDuration } from '../options.ts';
import { note, write } from '../output.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { callDomainApi, domainPath } from '../remote/remote-domain.ts';
import { openLogs } from '../replay/open-logs.ts';
import { createReadLogs, readerContext, takeRequests } from '../replay/replay-logs.ts';
import { writeWhole } from '../write-file.ts';

/** The options of the command, as commander parses them. */
interface Flags extends ServerAccess {
  readonly log?: readonly string[];
  readonly format: LogFormat | 'auto';
  readonly host?: string;
  readonly basePath?: string;
  readonly domain?: string;
  /** The id of the gateway. */
  readonly gateway?: string;
  /** Milliseconds. */
  readonly last: number;
  readonly minRequests: number;
  readonly title?: string;
  /** The path of the document; absent: stdout. */
  readonly output?: string;
}

/** What a document is drafted of. */
interface Traffic {
  readonly operations: readonly DiscoveredOperation[];
  readonly basePath: string;
  readonly title: string;
}

const DAY_MS = 86_400_000;

async function run(flags: Flags): Promise<void> {
  const { log = [], domain, gateway, minRequests, output, title } = flags;
  if (log.length > 0 === (domain !== undefined)) {
    const remedy = 'edgeplan gateway draft --log access.log, or --domain example.com --gateway 12';
    throw usageFault('a draft is made of logs, or of the traffic of one gateway of a server', remedy);
  }
  if ((gateway === undefined) !== (domain === undefined))
    throw usageFault('--domain and --gateway name a gateway of a server together');
  const traffic = log.length > 0 ? await readLogs(flags) : await readServer(flags);
  const operations = traffic.operations.filter(({ requests }) => requests >= minRequests);
  if (operations.length === 0) throw inputFault('no request shows an operation', { remedy: NO_OPERATION });
  const few = traffic.operations.length - operations.length;
  if (few > 0)
    note(`edgeplan: ${quantity(few, 'operation')} with fewer than ${minRequests} requests left out`);
  const document = draftOpenApi(operations, { ...traffic, title: title ?? traffic.title });
  const text = stringify(document, { lineWidth: 0 });
  if (output === undefined) await write(text);
  else await writeWhole(output, Buffer.from(text));
  note(`edgeplan: ${quantity(operations.length, 'operation')}`);
}

const NO_OPERATION =
  'requests count that an origin answered with a success: status 2xx, or 3xx other than 301 and 308';

/** What lines of a log came to, beside operations. */
interface Skipped {
  /** Requests without a success as the response. */
  failed: number;
  /** Requests of other hosts, or above the base path. */
  elsewhere: number;
  /** Requests with a path or method that no document can have. */
  unwritten: number;
}

/** A host that lines without one are given; it is in no answer. */
const NO_HOST = 'host.invalid';

/** Discovers the operations of logs. @throws CommandFault */
async function readLogs({ log = [], format, host, basePath = '/' }: Flags): Promise<Traffic> {
  const discovery = createDiscovery();
  const skipped: Skipped = { failed: 0, elsewhere: 0, unwritten: 0 };
  const read = createReadLogs();
  const logs = await openLogs(log, { format, onOctets: () => undefined, command: 'gateway draft' });
  const defaults = {
    host: host ?? NO_HOST,
    scheme: 'https',
    captures: [],
    countryOf: null,
    asnOf: null,
  } as const;
  const context = readerContext(defaults, read, { domain: '', hosts: () => [] });
  const pathOf = createPathReader({ host, base: basePath === '/' ? '' : basePath }, skipped);
  await takeRequests(logs, { read, context }, (entry) => {
    const path = pathOf(entry);
    const { status, weight, request } = entry;
    if (path !== null) discovery.add({ method: request.method, path, requests: weight, status });
  });
  const { operations, leftOut } = discovery.discover();
  printSkipped({ ...skipped, leftOut });
  const { unreadable, firstUnreadable } = read.tally;
  if (unreadable > 0)
    note(
      `edgeplan: ${quantity(unreadable, 'line')} could not be read; the first: ${visible(firstUnreadable ?? '')}`,
    );
  return { operations, basePath, title: host ?? 'API' };
}

const METHODS: ReadonlySet<string> = new Set(DOCUMENT_METHODS);

/** A reader of the generalized path of a request below the base path; it returns `null`, and counts, for what is no operation. */
function createPathReader(
  { host, base }: { readonly host: string | undefined; readonly base: string },
  skipped: Skipped,
): (entry: AccessEntry) => string | null {
  const facts = createTargetFacts();
  return ({ status, source, request, weight }) => {
    if (!showsOperation(status) || source === 'proxy' || source === 'failure') {
      skipped.failed += weight;
      return null;
    }
    if (parseTarget(request.target, facts) !== 0 || !METHODS.has(request.method)) {
      skipped.unwritten += weight;
      return null;
    }
    const { path } = facts;
    const isBelow = base === '' || path === base || path.startsWith(`${base}/`);
    if (!isBelow || (host !== undefined && String(request.host).toLowerCase() !== host.toLowerCase())) {
      skipped.elsewhere += weight;
      return null;
    }
    const general = generalizePath(path.slice(base.length) || '/');
    if (general === null) skipped.unwritten += weight;
    return general;
  };
}

function printSkipped({
  failed,
  elsewhere,
  unwritten,
  leftOut,
}: Skipped & { readonly leftOut: number }): void {
  const print = (count: number, why: string): void => {
    if (count > 0) note(`edgeplan: ${quantity(count, 'request')} ${why} skipped`);
  };
  print(failed, 'without a success of the origin');
  print(elsewhere, 'of other hosts or base paths');
  print(unwritten, 'with a path or method that a template cannot have');
  print(leftOut, 'beyond the number of paths that are discovered');
}

/** The operations that the nodes of a server have counted for a gateway. @throws CommandFault */
async function readServer(flags: Flags): Promise<Traffic> {
  const { domain = '', gateway = '', last } = flags;
  const one = domainPath(domain, `/gateways/${encodeURIComponent(gateway)}`);
  const get = async (path: string): Promise<unknown> =>
    (await callDomainApi(domain, flags, { method: 'GET', path })).body;
  const rule = (await get(one)) as { readonly name: string; readonly base_path: string };
  const from = new Date(Date.now() - last).toISOString();
  const found = (await get(`${one}/operations/discovered?${new URLSearchParams({ from })}`)) as {
    readonly operations: readonly {
      readonly methods: readonly [string];
      readonly path: string;
      readonly parameters: readonly { readonly name: string; readonly type: ParameterType }[];
      readonly requests: number;
    }[];
  };
  const operations = found.operations.map(({ methods: [method], ...rest }) => ({
    ...{ method, statuses: new Map<number, number>() },
    ...rest,
  }));
  return { operations, basePath: rule.base_path, title: rule.name === '' ? domain : rule.name };
}

/** Parses a number of requests. */
function readRequests(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('a whole number from 1 to 999999999.');
}

/** Parses a base path, as a gateway has it. */
function readBasePath(text: string): string {
  if (text === '/' || (/^\/[^?#;*%\s]*$/.test(text) && !text.endsWith('/'))) return text;
  throw new InvalidArgumentError('a path in plain characters without a slash at its end, such as /v1.');
}

/** Creates the command. */
export function gatewayDraftCommand(): Command {
  return new Command('draft')
    .summary('write an OpenAPI document of the operations that traffic shows')
    .description(
      'Writes an OpenAPI 3.1 document with every path and method that an origin has answered with a success: of access logs or ' +
        'decision logs, or of what the nodes of a server counted for a gateway. Segments that vary become parameters. What traffic ' +
        'does not show, such as descriptions and schemas of bodies, is not in it.',
    )
    .addOption(
      new Option('--log <path>', 'a log, also with gzip, - is stdin; may be repeated').argParser(gather),
    )
    .addOption(
      new Option('--format <format>', 'the format of the logs')
        .choices(['auto', ...LOG_FORMATS])
        .default('auto'),
    )
    .option('--host <host>', 'only requests of this host, and those whose line has none')
    .addOption(new Option('--base-path <path>', 'only requests below this path').argParser(readBasePath))
    .option('--domain <name>', 'the domain of a gateway of a server')
    .option('--gateway <id>', 'the id of the gateway; what its operations describe is left out')
    .addOption(
      new Option('--last <duration>', 'the traffic of the last 24h, 7d or 2w, of a server')
        .argParser(readDuration)
        .default(7 * DAY_MS, '7d'),
    )
    .addOption(
      new Option('--min-requests <number>', 'requests of an operation, at least')
        .argParser(readRequests)
        .default(1),
    )
    .option('--title <text>', 'the title of the document (default: the host, or the name of the gateway)')
    .option('-o, --output <file>', 'write the document here')
    .addOption(serverOption())
    .addOption(keyOption())
    .action(run);
}

/** Options of `replay` that name logs, and facts that their lines may lack. */
import { InvalidArgumentError, Option } from 'commander';
import { parseHost } from '../../base/addresses/host.ts';
import { gather, readNodeId } from '../options.ts';

/** `--log`: the logs to read. */
export function logOption(): Option {
  return new Option(
    '--log <path>',
    'a log, also with gzip, - is stdin; may be repeated: lines are merged by time',
  )
    .argParser(gather)
    .makeOptionMandatory();
}

/** Facts that a log may lack. */
export function factOptions(): readonly Option[] {
  return [
    new Option(
      '--host <host>',
      'the host of requests whose line has none (default: the only one of the rules)',
    ).argParser(readHost),
    new Option('--scheme <scheme>', 'the scheme of requests whose line has none')
      .choices(['https', 'http'])
      .default('https'),
    new Option(
      '--capture <names>',
      "HAProxy's captured request headers in their order, such as host,user-agent",
    ).argParser(readCaptures),
    new Option('--countries <file>', "a country database in MaxMind's format, for lines without a country"),
    new Option(
      '--asns <file>',
      'a database of autonomous systems in the same format, for lines without one (default: that of --countries)',
    ),
    new Option('--node-id <id>', 'the edge node that answers').argParser(readNodeId).env('EDGEPLAN_NODE_ID'),
  ];
}

/** Parses a host; it may have a port, as a Host header may. */
function readHost(text: string): string {
  if (parseHost(text, { host: '', port: -1, literal: false })) return text;
  throw new InvalidArgumentError('a host is written like shop.example.com.');
}

/** Parses names of headers, separated by commas. */
function readCaptures(text: string): readonly string[] {
  const names = text.split(',').map((one) => one.trim().toLowerCase());
  const wrong = names.find((name) => !/^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/.test(name));
  if (wrong === undefined) return names;
  throw new InvalidArgumentError(`\`${wrong}\` is not the name of a header.`);
}

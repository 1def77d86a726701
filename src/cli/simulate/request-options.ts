/** The options of `simulate` that describe a request; named as curl's, so that a pasted command line works. */
import { type Command, Option } from 'commander';
import { basicHeader } from '../../workbench/simulation/curl-line.ts';
import type { RequestFlags } from '../../workbench/simulation/request-line.ts';
import { usageFault } from '../exit.ts';
import { gather } from '../options.ts';

/** Options of curl that do not affect the decision. */
const CURL_NOISE = [
  '-s, --silent',
  '-S, --show-error',
  '-k, --insecure',
  '-L, --location',
  '-v, --verbose',
  '-i, --include',
  '-g, --globoff',
  '--compressed',
  '--http1.1',
  '--http2',
  '--http3',
  '--path-as-is',
];

/** curl's aliases of options, and those that only a pasted command line has; as commander parses them. */
export interface CurlAliases {
  readonly request?: string;
  readonly dataRaw?: string;
  readonly dataBinary?: string;
  readonly user?: string;
  readonly url?: readonly string[];
}

/** Adds the options to the command. */
export function requestOptions(command: Command): Command {
  command
    .option('-X, --method <method>', 'the request method, as sent (also --request)')
    .option('-I, --head', 'a HEAD request')
    .option('-H, --header <line>', "a header, 'Name: value'; may be repeated", gather)
    .option('-A, --user-agent <text>', 'the User-Agent')
    .option('-e, --referer <url>', 'the Referer')
    .option('-b, --cookie <text>', 'the Cookie header')
    .option('-d, --data <text>', 'a request body; the method becomes POST')
    .option('--ip <address>', "the visitor's address")
    .option('--country <code>', "the visitor's country, two letters")
    .option('--bot <kind>', 'the bot it was classified as: kind, kind:verified, or none')
    .option('--ja4 <fingerprint>', 'the JA4 of the TLS client hello')
    .option('--ja4h <fingerprint>', 'the JA4H of the request')
    .option(
      '--cleared <ref>',
      'a challenge already solved, such as captcha/9 or captcha/<key>; may be repeated',
      gather,
    );
  // Hidden in the help: they exist only so that commander accepts them.
  for (const flag of ['--request <method>', '--data-raw <text>', '--data-binary <text>', '-u, --user <user>'])
    command.addOption(new Option(flag).hideHelp());
  command.addOption(new Option('--url <url>').argParser(gather).hideHelp());
  for (const flag of CURL_NOISE) command.addOption(new Option(flag).hideHelp());
  return command;
}

/** curl reads the file that `@name` names, also in `-d`; of the same option in a curl line it is refused as well. */
function refuseFile(option: string, value: string | undefined): void {
  if (value?.startsWith('@') !== true) return;
  const remedy = 'write its content, or give a text that begins with `@` with --data-raw';
  throw usageFault(`\`${option} ${value}\` names a file, which is not read`, remedy);
}

/** Replaces curl's aliases by the options they stand for. */
export function withoutAliases<T extends RequestFlags>(
  given: T & CurlAliases,
): Omit<T, keyof CurlAliases> & RequestFlags {
  const { request, dataRaw, dataBinary, user, url: _, ...flags } = given;
  refuseFile('--data', flags.data);
  refuseFile('--data-binary', dataBinary);
  const data = dataRaw ?? dataBinary;
  const login = user === undefined ? [] : [basicHeader(user)];
  const header = [...(flags.header ?? []), ...login];
  return {
    ...flags,
    ...(request === undefined ? {} : { method: request }),
    ...(data === undefined ? {} : { data }),
    ...(header.length === 0 ? {} : { header }),
  };
}

/** `edgeplan simulate`: simulates one request and explains the decision, or evaluates many. */
import { performance } from 'node:perf_hooks';
import { Command, Option } from 'commander';
import { asTest } from '../../simulator/as-test.ts';
import type { RuleNote, TraceDocument } from '../../simulator/document.ts';
import { findRules, remedyFor } from '../../simulator/find-rule.ts';
import { nearMatch } from '../../simulator/near-match.ts';
import { paint } from '../../simulator/paint.ts';
import { renderTrace } from '../../simulator/render.ts';
import { labelOf } from '../../simulator/render-rule.ts';
import { renderWhy } from '../../simulator/render-why.ts';
import { type RequestFlags, readRequest } from '../../simulator/request-line.ts';
import { type SimulatedRequest, type SimulationSubject, simulate } from '../../simulator/simulate.ts';
import { EXIT, usageFault } from '../exit.ts';
import { type ChoiceFlags, signaturesFor } from '../input/choose-signatures.ts';
import { openSubject } from '../input/open-subject.ts';
import {
  colourOption,
  fileOption,
  gather,
  type ResponseFlag,
  readNodeId,
  readStatus,
  signatureOptions,
} from '../options.ts';
import { colourFor, note, outputWidth, write, writeDocument } from '../output.ts';
import { type ConditionFlags, clearedRefs, orUsageFault, worldOf } from '../simulate/conditions.ts';
import { simulateStream } from '../simulate/stream.ts';
import { readUrlWords } from '../simulate/url-words.ts';

/** The options of the command, as commander parses them. */
interface Flags extends RequestFlags, ChoiceFlags, ConditionFlags {
  /** The path of the rules; `-` is stdin. */
  readonly file: string;
  /** The status that the origin or the edge answers with. */
  readonly status?: ResponseFlag;
  /** The rule to explain. */
  readonly why?: string;
  /** Lists all rules. */
  readonly all?: boolean;
  /** Prints JSON. */
  readonly json?: boolean;
  /** A file of requests; `-` is stdin. */
  readonly requests?: string;
  /** Prints the request as a test. */
  readonly asTest?: boolean;
}

/** Options that describe one request; they exclude `--requests`. */
const ONE_REQUEST = [
  'method',
  'head',
  'header',
  'userAgent',
  'referer',
  'cookie',
  'data',
  'ip',
  'country',
  'bot',
  'ja4',
  'ja4h',
  'cleared',
  'status',
  'why',
  'all',
  'asTest',
] as const satisfies readonly (keyof Flags)[];

/** The rule that `--why` names. @throws CommandFault when none or several match */
function theRule(document: TraceDocument, text: string): RuleNote {
  const rules = document.phases.flatMap((phase) => phase.rules);
  const found = findRules(rules, text);
  const [rule, second] = found;
  if (rule === undefined) {
    const message = text.trim() === '' ? '--why has no rule' : `there is no rule \`${text}\``;
    throw usageFault(message, remedyFor(rules, text));
  }
  if (second !== undefined) {
    throw usageFault(`\`${text}\` may mean ${found.map(labelOf).join(' or ')}; write <type>/<id>`);
  }
  return rule;
}

/** Prints every check of one rule, and a request that would match it. */
async function printWhy(
  document: TraceDocument,
  about: { subject: SimulationSubject; asked: SimulatedRequest; flags: Flags },
): Promise<void> {
  const { subject, asked, flags } = about;
  const evaluated = document.phases.some((phase) => phase.rules.length > 0);
  if (!evaluated) throw usageFault(`no rule was evaluated: ${document.decision.text}`);
  const rule = theRule(document, flags.why ?? '');
  // Searching simulates up to 48 requests, so it runs for a skipped rule only.
  const wouldMatch = rule.outcome === 'skipped' ? nearMatch(subject, asked, rule) : null;
  if (flags.json === true) {
    const { plan, signatures, request } = document;
    return writeDocument('why', { plan, signatures, request, rule, would_match: wouldMatch });
  }
  const colour = colourFor(process.stdout, flags.color);
  await write(
    paint(renderWhy(rule, { width: outputWidth(), wouldMatch, signatures: document.signatures }), colour),
  );
}

/** Opens the rules and their signatures. */
async function subjectOf(flags: Flags): Promise<SimulationSubject> {
  const { subject } = await openSubject(flags.file, flags.color);
  return { ...subject, signatures: await signaturesFor(subject.bytes, flags) };
}

/** Simulates one request and prints the document in the chosen form. */
async function simulateOne(words: readonly string[], flags: Flags): Promise<void> {
  const { url, ...line } = readUrlWords(words);
  const subject = await subjectOf(flags);
  const world = worldOf(flags, subject);
  const request = orUsageFault(
    readRequest(url, { ...line, ...flags, ...clearedRefs(flags, subject), now: world.now }),
  );
  // The Host header may differ from the URL, so the shown address is built from the request.
  const address = `${request.scheme}://${String(request.host)}${request.target}`;
  const asked = { request, url: address, world, response: flags.status, stopwatch: () => performance.now() };
  const document = simulate(subject, asked);
  if (flags.status !== undefined && document.decision.action !== 'forward') {
    note('edgeplan: --status was not used, because the request is not forwarded');
  }
  if (flags.why !== undefined) return printWhy(document, { subject, asked, flags });
  if (flags.asTest === true) return write(orUsageFault(asTest(document, asked, subject)));
  if (flags.json === true) return write(`${JSON.stringify(document, null, 2)}\n`);
  const lines = renderTrace(document, { width: outputWidth(), all: flags.all === true });
  return write(paint(lines, colourFor(process.stdout, flags.color)));
}

/** Evaluates a stream of requests. */
async function simulateMany(words: readonly string[], flags: Flags): Promise<void> {
  const requests = flags.requests ?? '-';
  if (words.length > 0) throw usageFault('--requests takes the place of a URL; give one of the two');
  // The message names the flag as it is typed: `userAgent` is `--user-agent`.
  const excluded = ONE_REQUEST.find((name) => flags[name] !== undefined);
  if (excluded !== undefined) {
    const flag = excluded.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw usageFault(`--requests takes whole requests; --${flag} is for a single one`);
  }
  if (requests === '-' && flags.file === '-') throw usageFault('--file and --requests cannot both be stdin');
  const subject = await subjectOf(flags);
  const clean = await simulateStream(subject, {
    requests,
    world: worldOf(flags, subject),
    json: flags.json === true,
  });
  // Unreadable lines do not stop the stream; they set the exit code at its end.
  if (!clean) process.exitCode = EXIT.input;
}

/** Adds the options that describe a request; named as curl's. */
function requestOptions(command: Command): Command {
  return command
    .option('-X, --method <method>', 'the request method, as sent (also --request)')
    .addOption(new Option('--request <method>').hideHelp())
    .option('-I, --head', 'a HEAD request')
    .option('-H, --header <line>', "a header, 'Name: value'; may be repeated", gather)
    .option('-A, --user-agent <text>', 'the User-Agent')
    .option('-e, --referer <url>', 'the Referer')
    .option('-b, --cookie <text>', 'the Cookie header')
    .option('-d, --data <text>', 'a request body; the method becomes POST')
    .addOption(new Option('--data-raw <text>').hideHelp())
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
}

/** Options of curl that do not affect the decision; accepted so that a pasted command line works. */
const CURL_NOISE = [
  '-s, --silent',
  '-S, --show-error',
  '-k, --insecure',
  '-L, --location',
  '-v, --verbose',
  '-i, --include',
];
const CURL_LONG = ['--compressed', '--http1.1', '--http2', '--http3', '--path-as-is', '-g, --globoff'];

/** The fields of a line of `--requests`, for the end of the help. */
const REQUESTS_HELP = `
Each line of --requests is one JSON object; a field that is left out is unknown:
  scheme     "https" or "http"
  method     "GET"
  host       "shop.example.com", as sent
  target     "/api/orders?id=7", as sent
  headers    {"user-agent":"GPTBot/1.2"}, names in lower case
  ip         "203.0.113.7"
  country    "DE"
  bot        {"kind":"gptbot","verified":true}, null for none; by default the User-Agent decides
  ja4, ja4h  fingerprints as text
  body       text
  now        milliseconds since the epoch
  cleared    challenges already solved: ["captcha/9"]`;

/** Creates the command. */
export function simulateCommand(): Command {
  const command = new Command('simulate')
    .summary('what a request would hit, and why')
    .description(
      'Shows what the edge would do with a request: the outcome, then every phase with what became of its rules. ' +
        'The edge file is compiled and sealed first, so the answer comes from the very bytes an edge gets.',
    )
    .argument('[url...]', 'the URL; a pasted curl command line works too')
    .addOption(fileOption());
  signatureOptions(requestOptions(command))
    .option('--at <time>', 'the clock: RFC 3339 or milliseconds since the epoch')
    .option(
      '--status <code>',
      'the status the origin answers, to see the error page; 502:edge if the edge made it',
      readStatus,
    )
    .option('--origin-down <pool/index>', 'an origin that is down; may be repeated', gather)
    .addOption(
      new Option('--node-id <id>', 'the edge node that answers')
        .argParser(readNodeId)
        .env('EDGEPLAN_NODE_ID'),
    )
    .option('--why <rule>', 'every check of one rule: its id, key, or type/id or type/key')
    .option('--all', 'list every rule with its reason; without it, most skipped rules are only counted')
    .option('--json', 'the trace as JSON; with --requests, the decisions')
    .option('--requests <file>', 'one request as JSON on each line, - is stdin; answers one decision a line')
    .option('--as-test', 'print it as a test case, to append to edge.test.yaml')
    .addOption(colourOption());
  command.addHelpText('after', REQUESTS_HELP);
  // Hidden in the help: they exist only so that commander accepts them.
  for (const flag of [...CURL_NOISE, ...CURL_LONG]) command.addOption(new Option(flag).hideHelp());
  return command.action(async (words: string[], given: Flags & { request?: string; dataRaw?: string }) => {
    // curl's long aliases of --method and --data.
    const { request, dataRaw, ...rest } = given;
    const flags: Flags = {
      ...rest,
      ...(request === undefined ? {} : { method: request }),
      ...(dataRaw === undefined ? {} : { data: dataRaw }),
    };
    await (flags.requests === undefined ? simulateOne(words, flags) : simulateMany(words, flags));
  });
}

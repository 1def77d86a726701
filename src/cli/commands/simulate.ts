/** `edgeplan simulate`: simulates one request and explains the decision, or evaluates many. */
import { performance } from 'node:perf_hooks';
import { Command, Option } from 'commander';
import { terminalJson } from '../../base/text/json-object.ts';
import type { EdgeRequest } from '../../engine/evaluator/request.ts';
import { asTest } from '../../workbench/simulation/as-test.ts';
import type { World } from '../../workbench/simulation/conditions.ts';
import type { RuleNote, TraceDocument } from '../../workbench/simulation/document.ts';
import { nearMatch } from '../../workbench/simulation/near-match.ts';
import { paint } from '../../workbench/simulation/paint.ts';
import { renderTrace } from '../../workbench/simulation/render.ts';
import { labelOf } from '../../workbench/simulation/render-rule.ts';
import { findRules, remedyFor, renderWhy } from '../../workbench/simulation/render-why.ts';
import { type RequestFlags, readRequest } from '../../workbench/simulation/request-line.ts';
import { requestText } from '../../workbench/simulation/requests.ts';
import {
  type SimulatedRequest,
  type SimulationSubject,
  simulate,
} from '../../workbench/simulation/simulate.ts';
import { type Examples, withExamples } from '../examples.ts';
import { EXIT, usageFault } from '../exit.ts';
import { edgePaths } from '../input/domain-files.ts';
import { openSubject } from '../input/open-subject.ts';
import { watchOption, watchRuns } from '../long-runs.ts';
import { type ChoiceFlags, signaturePaths, signaturesFor } from '../open-signatures.ts';
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
import {
  type ConditionFlags,
  type CurlAliases,
  clearedRefs,
  orUsageFault,
  readUrlWords,
  requestOptions,
  type UrlWords,
  withoutAliases,
  worldOf,
} from '../simulate-options.ts';
import {
  createFailOn,
  type FailingAction,
  failOnOption,
  simulateSeveral,
  simulateStream,
} from '../simulate-several.ts';

/** The options of the command, as commander parses them. */
interface Flags extends RequestFlags, ChoiceFlags, ConditionFlags {
  /** The path of the rules; `-` is stdin. */
  readonly file: string;
  /** Runs again after changes. */
  readonly watch?: boolean;
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
  /** Actions that cause exit code 1. */
  readonly failOn?: readonly FailingAction[];
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
  'asn',
  'bot',
  'ja4',
  'ja4h',
  'cleared',
  'consumer',
  'claim',
  'scope',
  'quotaExhausted',
  'counted',
  'status',
  'why',
  'all',
  'asTest',
] as const satisfies readonly (keyof Flags)[];

/** Options about one request and its trace; they exclude several URLs. */
const ONE_TRACE = ['why', 'all', 'asTest', 'status', 'counted'] as const satisfies readonly (keyof Flags)[];

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

/** Builds the request of a URL. */
function requestOf(
  { url, flags: own }: UrlWords,
  { subject, world, flags }: { subject: SimulationSubject; world: World; flags: Flags },
): EdgeRequest {
  const header = [...(own.header ?? []), ...(flags.header ?? [])];
  const described = { ...own, ...flags, ...clearedRefs(flags, subject), header };
  return orUsageFault(readRequest(url, { ...described, now: world.now }));
}

/** Refuses `--as-test` beside options that print something else. @throws CommandFault with exit code 2 */
function checkForms(flags: Flags): void {
  const other = flags.json === true ? '--json' : flags.why === undefined ? null : '--why';
  if (flags.asTest === true && other !== null)
    throw usageFault(`--as-test and ${other} print different things; give one of them`);
}

/** Simulates one request and prints the document in the chosen form. */
async function simulateOne(words: UrlWords, flags: Flags): Promise<void> {
  checkForms(flags);
  const subject = await subjectOf(flags);
  const world = worldOf(flags, subject);
  const request = requestOf(words, { subject, world, flags });
  // The Host header may differ from the URL, so the shown address is built from the request.
  const address = `${request.scheme}://${String(request.host)}${request.target}`;
  const asked = { request, url: address, world, response: flags.status, stopwatch: () => performance.now() };
  const document = simulate(subject, asked);
  if (flags.status !== undefined && document.decision.action !== 'forward') {
    note('edgeplan: --status was not used, because the request is not forwarded');
  }
  await printOne(document, { subject, asked, flags });
  const failOn = createFailOn(flags.failOn);
  failOn.add({ ...document.decision, shadow: document.shadow }, requestText(request));
  failOn.finish();
}

/** Prints a simulated request in the chosen form. */
async function printOne(
  document: TraceDocument,
  about: { subject: SimulationSubject; asked: SimulatedRequest; flags: Flags },
): Promise<void> {
  const { subject, asked, flags } = about;
  if (flags.why !== undefined) return printWhy(document, about);
  if (flags.asTest === true) return write(orUsageFault(asTest(document, asked, subject)));
  if (flags.json === true) return write(`${terminalJson(document, 2)}\n`);
  const lines = renderTrace(document, { width: outputWidth(), all: flags.all === true });
  return write(paint(lines, colourFor(process.stdout, flags.color)));
}

/** Evaluates the requests of several URLs. */
async function simulateUrls(urls: readonly UrlWords[], flags: Flags): Promise<void> {
  const excluded = ONE_TRACE.find((name) => flags[name] !== undefined);
  if (excluded !== undefined) {
    throw usageFault(`--${flagName(excluded)} is for a single URL; ${urls.length} were given`);
  }
  const subject = await subjectOf(flags);
  const world = worldOf(flags, subject);
  const requests = urls.map((one) => requestOf(one, { subject, world, flags }));
  const failOn = createFailOn(flags.failOn);
  await simulateSeveral(subject, requests, { world, json: flags.json === true, failOn });
  failOn.finish();
}

/** The flag as it is typed: `userAgent` is `user-agent`. */
function flagName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Evaluates a stream of requests. */
async function simulateMany(words: readonly string[], flags: Flags): Promise<void> {
  const requests = flags.requests ?? '-';
  if (words.length > 0) throw usageFault('--requests takes the place of a URL; give one of the two');
  const excluded = ONE_REQUEST.find((name) => flags[name] !== undefined);
  if (excluded !== undefined) {
    throw usageFault(`--requests takes whole requests; --${flagName(excluded)} is for a single one`);
  }
  if (/\.ya?ml$/.test(requests)) {
    throw usageFault(
      `\`${requests}\` is YAML; --requests takes a JSON object a line`,
      'rules are named with -f',
    );
  }
  if (requests === '-' && flags.file === '-') throw usageFault('--file and --requests cannot both be stdin');
  const subject = await subjectOf(flags);
  const failOn = createFailOn(flags.failOn);
  const clean = await simulateStream(subject, {
    requests,
    failOn,
    world: worldOf(flags, subject),
    json: flags.json === true,
  });
  // Unreadable lines do not stop the stream; they set the exit code at its end.
  if (!clean) process.exitCode = EXIT.input;
  failOn.finish();
}

/** Simulates what was typed: one request, several, or a file of them. */
async function simulateWords(words: readonly string[], flags: Flags): Promise<void> {
  if (flags.requests !== undefined) return simulateMany(words, flags);
  const urls = readUrlWords(words);
  const [only, second] = urls;
  await (only !== undefined && second === undefined ? simulateOne(only, flags) : simulateUrls(urls, flags));
}

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
  asn        number of the address's autonomous system: 64496
  bot        {"kind":"gptbot","verified":true}, null for none; by default the User-Agent decides
  ja4, ja4h  fingerprints as text
  body       text
  now        milliseconds since the epoch
  cleared    challenges already solved: ["captcha/9"]
  identity   whose request it is: {"consumer":"acme","scopes":["read"],"claims":{"sub":"7"}}

With --json each answer is a line {"format": "edgeplan.simulation/v1", "line", "request", "decision"}, or with
"error" in place of the last two.`;

/** Examples of the help. */
const EXAMPLES: Examples = {
  simulate: [
    "edgeplan simulate https://shop.example.com/api/orders --ip 203.0.113.7 --country RU -A 'GPTBot/1.2'",
    'edgeplan simulate https://shop.example.com/api/orders --why office-only',
    'edgeplan simulate https://shop.example.com/login --as-test >> edge.test.yaml',
    'edgeplan simulate --fail-on block,challenge https://shop.example.com/ https://shop.example.com/api/orders',
    `edgeplan simulate 'curl https://shop.example.com/login -X POST --data-raw "user=a"'`,
  ],
};

/** Creates the command. */
export function simulateCommand(): Command {
  const command = new Command('simulate')
    .summary('what a request would hit, and why')
    .description(
      'Shows what the edge would do with a request: the outcome, then every phase with what became of its rules. ' +
        'The edge file is compiled and sealed first, so the answer comes from the very bytes an edge gets.',
    )
    .argument(
      '[url...]',
      'the URL, with a method before it if any, or a curl command line in quotes; several: a line each',
    )
    .addOption(fileOption());
  signatureOptions(requestOptions(command))
    .option('--at <time>', 'the clock: RFC 3339 or milliseconds since the epoch')
    .option(
      '--status <code>',
      'the status the origin answers, to see the error page; 502:edge if the edge made it',
      readStatus,
    )
    .option(
      '--counted <ref=n>',
      'requests of this visitor that a rate limit has counted before, such as rate_limit/9=100; may be repeated',
      gather,
    )
    .option('--origin-down <pool/index>', 'an origin that is down; may be repeated', gather)
    .addOption(
      new Option('--node-id <id>', 'the edge node that answers')
        .argParser(readNodeId)
        .env('EDGEPLAN_NODE_ID'),
    )
    .option('--why <rule>', 'every check of one rule: its id, key, or type/id or type/key')
    .option('--all', 'list every rule with its reason; without it, most skipped rules are only counted')
    .option('--json', 'the trace as JSON; with --requests or several URLs, a line of JSON for each decision')
    .addOption(failOnOption())
    .option('--requests <file>', 'one request as JSON on each line, - is stdin; answers one decision a line')
    .option('--as-test', 'print it as a test case, to append to edge.test.yaml')
    .addOption(watchOption())
    .addOption(colourOption());
  command.addHelpText('after', REQUESTS_HELP);
  command.action(async (words: string[], given: Flags & CurlAliases) => {
    const flags: Flags = withoutAliases(given);
    const run = () => simulateWords([...words, ...(given.url ?? [])], flags);
    if (flags.watch !== true) return run();
    const requests = flags.requests === undefined ? [] : [flags.requests];
    await watchRuns({
      paths: () => [...edgePaths(flags.file), ...requests, ...signaturePaths(flags)],
      run,
    });
  });
  return withExamples(command, EXAMPLES);
}

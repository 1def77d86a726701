/**
 * Options and operands of `edgeplan simulate`. In: words of the command line. Out: requests, and the conditions that
 * they are evaluated under.
 */
import { existsSync, statSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { refText } from '../engine/evaluator/identity.ts';
import { nearest } from '../rules/model/nearest.ts';
import { planConditions, readCounted, type World } from '../workbench/simulation/conditions.ts';
import { basicHeader, type CurlRequest, isCurlLine, readCurl } from '../workbench/simulation/curl-line.ts';
import { type RequestFlags, readTime, type Typed } from '../workbench/simulation/request-line.ts';
import type { SimulationSubject } from '../workbench/simulation/simulate.ts';
import { usageFault } from './exit.ts';
import { gather } from './options.ts';

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
    .option('--asn <number>', "the autonomous system of the visitor's address")
    .option('--bot <kind>', 'the bot it was classified as: kind, kind:verified, or none')
    .option('--ja4 <fingerprint>', 'the JA4 of the TLS client hello')
    .option('--ja4h <fingerprint>', 'the JA4H of the request')
    .option(
      '--cleared <ref>',
      'a challenge already solved, such as captcha/9 or captcha/<key>; may be repeated',
      gather,
    )
    .option('--consumer <username>', 'the consumer of a gateway that the request has valid credentials of')
    .option('--claim <name=value>', 'a claim of its token; may be repeated', gather)
    .option('--scope <scope>', 'a scope of its token; may be repeated', gather)
    .option('--quota-exhausted <time>', 'until when the quota of the consumer is exhausted');
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

// Parses the flags of `simulate` for conditions besides the request: clearances, counted requests, origins that are down, the clock.

/** The flags for conditions. */
export interface ConditionFlags extends Pick<RequestFlags, 'cleared' | 'at'> {
  /** `rate_limit/9=100` each. */
  readonly counted?: readonly string[];
  readonly originDown?: readonly string[];
  readonly nodeId?: number;
}

/** The value that was read. @throws CommandFault with exit code 2 and the reader's message */
export function orUsageFault<T>(typed: Typed<T>): T {
  if (!typed.ok) throw usageFault(typed.error);
  return typed.value;
}

/** The id of the rule that has this key. */
function idOfKey(subject: SimulationSubject, key: string): number | undefined {
  return [...subject.sources].find(([, source]) => source.key === key)?.[0];
}

/** Plans name rules by key if they have one: a typed id is replaced by the key. */
function refOfTyped(text: string, { ruleSet }: SimulationSubject): string {
  const keys = ruleSet?.keys;
  const [, type, id] = /^([a-z_]+)\/(\d+)$/.exec(text) ?? [];
  const key = (type === 'record' ? keys?.records : keys?.rules)?.get(Number(id));
  return key === undefined ? text : `${type}/${key}`;
}

/** Resolves `--cleared`. */
export function clearedRefs(
  flags: ConditionFlags,
  subject: SimulationSubject,
): Pick<RequestFlags, 'cleared'> {
  const cleared = flags.cleared?.map((text) => refOfTyped(text, subject));
  const odd = cleared?.find((ref) => !isKnownName(ref, subject));
  if (odd !== undefined) {
    throw usageFault(
      `\`${odd}\` is not a challenge of \`${subject.name}\``,
      'no rule or record has that name',
    );
  }
  return cleared === undefined ? {} : { cleared };
}

/**
 * Whether a rule or record of the subject has this name. A number is accepted as an id, since the rules of a sealed
 * plan are unknown.
 */
function isKnownName(ref: string, { ruleSet }: SimulationSubject): boolean {
  if (ruleSet?.keys === undefined || /\/\d+$/.test(ref)) return true;
  const { rules, records } = ruleSet.keys;
  const named = ruleSet.rules.map(({ type, id }) => `${type}/${rules.get(id) ?? id}`);
  return named.includes(ref) || [...records.values()].some((key) => ref === `record/${key}`);
}

/** Rate limits that a message lists. */
const LIMITS_LISTED = 5;

/** Resolves `--counted`. */
function countedRefs({ counted }: ConditionFlags, subject: SimulationSubject): Pick<World, 'counted'> {
  if (counted === undefined) return {};
  const known = planConditions(subject.bytes).limits.map(({ rule }) => refText(rule));
  const refs = [...orUsageFault(readCounted(counted))].map(([text, requests]) => {
    const ref = refOfTyped(text, subject);
    if (known.includes(ref)) return [ref, requests] as const;
    throw usageFault(`\`${text}\` is not a rate limit of \`${subject.name}\``, remedyAmong(known, ref));
  });
  return { counted: new Map(refs) };
}

/** What to write in place of a rate limit that the plan does not have. */
function remedyAmong(known: readonly string[], ref: string): string {
  if (known.length === 0) return 'the plan has no rate limit that is enabled';
  const closest = nearest(ref, known);
  if (closest !== null) return `did you mean ${closest}?`;
  const more = known.length > LIMITS_LISTED ? ', …' : '';
  return `its rate limits are ${known.slice(0, LIMITS_LISTED).join(', ')}${more}`;
}

/** Resolves `--origin-down`: `80/0`, or the pool's key in place of its id. */
function downOrigins(flags: ConditionFlags, subject: SimulationSubject): readonly string[] {
  return (flags.originDown ?? []).map((text) => {
    const parts = /^(.+)\/(\d+)$/.exec(text);
    if (parts === null) throw usageFault(`\`${text}\` is not an origin; write <pool>/<index> such as 80/0`);
    const [, pool = '', index = ''] = parts;
    const id = /^\d+$/.test(pool) ? Number(pool) : idOfKey(subject, pool);
    const rules = subject.ruleSet?.rules;
    const rule = rules?.find((one) => one.type === 'origin_pool' && one.id === id);
    if (id === undefined || (rules !== undefined && rule === undefined)) {
      throw usageFault(`there is no origin_pool \`${pool}\` in \`${subject.name}\``);
    }
    if (rule?.type === 'origin_pool' && Number(index) >= rule.origins.length) {
      throw usageFault(
        `origin_pool \`${pool}\` has ${rule.origins.length} origins, counted from 0; there is no ${index}`,
      );
    }
    return `${id}/${Number(index)}`;
  });
}

/** The conditions of the simulation. */
export function worldOf(flags: ConditionFlags, subject: SimulationSubject): World {
  const now = flags.at === undefined ? Date.now() : orUsageFault(readTime(flags.at));
  return {
    ...countedRefs(flags, subject),
    down: downOrigins(flags, subject),
    nodeId: flags.nodeId ?? null,
    now,
    nowGiven: flags.at !== undefined,
  };
}

// Parses the operands of `simulate`: URLs, each with a method before it if any, or pasted curl command lines.

/** One request that the operands name. */
export interface UrlWords {
  readonly url: string;
  /** The method in front of the URL: `DELETE https://…`; or the options of a curl line. */
  readonly flags: CurlRequest['flags'];
}

/** Whether a file of this name exists. */
function isFile(name: string): boolean {
  return existsSync(name) && statSync(name).isFile();
}

/** Whether an operand is a file name in place of a URL, such as `edge.yaml`. */
function isFileName(text: string): boolean {
  return !text.includes('://') && (/^[^/?#]+\.(?:ya?ml|json|edgeplan)$/.test(text) || isFile(text));
}

/** Methods that are recognised in lower case, and without a URL after them. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Whether an operand is a method. @throws CommandFault with exit code 2 for one in lower case */
function isMethod(word: string, next: string | undefined): boolean {
  if (METHODS.includes(word)) return true;
  const upper = word.toUpperCase();
  if (next !== undefined && METHODS.includes(upper))
    throw usageFault(`\`${word}\` is not a method`, `methods are case-sensitive; write ${upper}`);
  return next !== undefined && /^[A-Z]+$/.test(word);
}

/** The requests of a curl command line. */
function ofCurl(line: string): readonly UrlWords[] {
  const { urls, flags } = orUsageFault(readCurl(line));
  return urls.map((url) => ({ url, flags }));
}

/** Parses the operands; there is at least one request. @throws CommandFault with exit code 2 */
export function readUrlWords(words: readonly string[]): readonly UrlWords[] {
  // `curl` in front of words that commander has read.
  const operands = words[0] === 'curl' ? words.slice(1) : words;
  const file = operands.find(isFileName);
  if (file !== undefined) {
    const remedy = `name the file with -f: edgeplan simulate -f ${file} https://example.com/path`;
    throw usageFault(`\`${file}\` is a file${isFile(file) ? '' : ' name'}, not a URL`, remedy);
  }
  const found: UrlWords[] = [];
  for (let at = 0; at < operands.length; at++) {
    const word = operands[at]!;
    const next = operands[at + 1];
    if (isCurlLine(word)) found.push(...ofCurl(word));
    else if (isMethod(word, next)) {
      if (next === undefined) throw usageFault(`there is no URL after the method \`${word}\``);
      found.push({ url: next, flags: { method: word } });
      at += 1;
    } else found.push({ url: word, flags: {} });
  }
  if (found.length === 0)
    throw usageFault('no URL was given', 'try: edgeplan simulate https://example.com/path');
  return found;
}

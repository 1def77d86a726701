/** `edgeplan serve`: runs the management API, on an embedded store by default. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { normalizeName } from '../../base/addresses/host.ts';
import { MAX_REQUESTS_PER_MINUTE, REQUESTS_PER_MINUTE } from '../../control/accounts/request-budget.ts';
import { DEFAULT_TIER, TIER_SLUGS, type TierSlug } from '../../control/accounts/tiers.ts';
import { OVER_QUOTA, type OverQuota } from '../../control/billing/quota.ts';
import { DnsFault } from '../../control/dns/message.ts';
import { DEFAULT_DAYS, MAX_DAYS } from '../../control/logs/limits.ts';
import { judgeGatewayUrl, judgeSender, judgeSmtpUrl } from '../../control/notices/outlet-options.ts';
import { judgePublicUrl } from '../../control/notices/wording.ts';
import {
  DAYS_FOR_MS,
  HOURS_FOR_MS,
  LEAST_HOURS_FOR_MS,
  MINUTES_FOR_MS,
} from '../../control/traffic/limits.ts';
import { PANEL_PATH } from '../../page/panel/assets.ts';
import { type Examples, withExamples } from '../examples.ts';
import { usageFault } from '../exit.ts';
import { listenFault, stopOnSignals } from '../long-runs.ts';
import { openData, storeOptions } from '../open-data.ts';
import {
  keyFileWarning,
  locateSecretsKey,
  openServerKey,
  type SecretsKeyFlags,
  secretsKeyOption,
} from '../open-secrets-key.ts';
import {
  allowNameserversOption,
  allowOriginsOption,
  type CollectorFlags,
  collectorOf,
  collectorOptions,
  gather,
  inGroup,
  logLevelOption,
  readPort,
  requirePackages,
  resolverOption,
  storedForOption,
} from '../options.ts';
import { note, write } from '../output.ts';
import {
  type IssuerFlags,
  issuerOptions,
  readIssuer,
  readZoneOptions,
  type ServerOptions,
  type ZoneFlags,
  zoneOptions,
} from '../server-options.ts';
import type { RunningServer } from '../start-server.ts';

/** The options of the command, as commander parses them. */
interface Flags extends SecretsKeyFlags, CollectorFlags, ZoneFlags, IssuerFlags {
  /** The address to listen on. */
  readonly host: string;
  /** The port of the API. */
  readonly port: number;
  /** The port of the health and metrics listener. */
  readonly opsPort: number;
  /** The tier of domains without a subscription. */
  readonly tier: TierSlug;
  /** What happens to traffic over a quota. */
  readonly overQuota: OverQuota;
  /** Addresses of DNS resolvers. */
  readonly resolver?: readonly string[];
  /** Special addresses that name servers of zones may have, and their port. */
  readonly allowNameservers?: readonly string[];
  readonly nameserverPort: number;
  /** Treats every domain as verified. */
  readonly trustNames?: boolean;
  /** Accepts names under no public suffix. */
  readonly allowPrivateNames?: boolean;
  /** Special addresses that origins may have. */
  readonly allowOrigins?: readonly string[];
  /** The path of a country database. */
  readonly countries?: string;
  /** Requests per minute and API key. */
  readonly requestsPerMinute: number;
  /** Milliseconds for which traffic is stored by minute, hour and day. */
  readonly trafficMinutesFor: number;
  readonly trafficHoursFor: number;
  readonly trafficDaysFor: number;
  /** Where entries of nodes' decision logs go. */
  readonly decisionLogs: string;
  /** Days that they are stored. */
  readonly decisionLogDays: number;
  /** The address of the mail relay. */
  readonly smtp?: string;
  readonly smtpPasswordFile?: string;
  /** The sender of e-mails. */
  readonly mailFrom?: string;
  /** The URL of the SMS gateway. */
  readonly smsGateway?: string;
  readonly smsTokenFile?: string;
  /** Where customers read more. */
  readonly publicUrl?: string;
  readonly logLevel: string;
}

/** Opens the store, starts the server and prints its addresses. */
async function run(flags: Flags, command: Command): Promise<void> {
  const nameserverSets = (flags.nsSet ?? []).map(readSet);
  const zones = readZoneOptions(flags, nameserverSets);
  const issuer = readIssuer(flags);
  const outlets = readOutlets(flags);
  const collector = collectorOf(flags);
  if (collector === null && command.getOptionValueSource('traceRatio') === 'cli')
    throw usageFault('--trace-ratio has no effect without --otlp', 'name the OpenTelemetry collector');
  // Imported here, so that other commands need not load the web framework.
  const { createLog } = await import('../../base/telemetry/redacting-log.ts');
  const { startServer } = await import('../start-server.ts');
  const store = await openData(flags, 'server');
  for (const warning of store.about.warnings) note(`warning: ${warning}`);
  const { where } = store.about;
  // Counted before the server starts, for the hint below.
  const accounts = (await store.latest.accounts.list()).length;
  let server: RunningServer;
  try {
    const secretsKey = await openServerKey(flags);
    if (secretsKey === null && issuer !== undefined)
      throw usageFault('--acme needs a secrets key for private keys', 'name its file with --secrets-key');
    const warning = secretsKey === null ? null : keyFileWarning(locateSecretsKey(flags));
    if (warning !== null) note(`warning: ${warning}`);
    server = await startServer({
      store,
      secretsKey,
      host: flags.host,
      port: flags.port,
      operationsPort: flags.opsPort,
      tier: flags.tier,
      overQuota: flags.overQuota,
      nameserverSets,
      resolvers: flags.resolver ?? [],
      nameservers: { prefixes: flags.allowNameservers ?? [], port: flags.nameserverPort },
      ...(zones === undefined ? {} : { zones }),
      ...(issuer === undefined ? {} : { issuer }),
      trustNames: flags.trustNames === true,
      privateNames: flags.allowPrivateNames === true,
      allowedOrigins: { prefixes: flags.allowOrigins ?? [], local: false },
      ...(flags.countries === undefined ? {} : { countries: flags.countries }),
      requestsPerMinute: flags.requestsPerMinute,
      ...outlets,
      ...(flags.publicUrl === undefined ? {} : { publicUrl: flags.publicUrl }),
      ...(collector === null ? {} : { collector }),
      trafficRetention: {
        minutes: flags.trafficMinutesFor,
        hours: flags.trafficHoursFor,
        days: flags.trafficDaysFor,
      },
      decisionLogs: { to: flags.decisionLogs, days: flags.decisionLogDays },
      log: createLog(flags.logLevel, (line) => void process.stderr.write(line)),
    });
  } catch (error) {
    await store.close();
    throw refusal(error, flags);
  }
  stopOnSignals(() => server.stop());
  const started = `listening on ${server.url}\npage: ${server.url}${PANEL_PATH}\ndata in ${where}\noperators: ${server.operationsUrl}/metrics${server.zones === null ? '' : `\nzones on ${server.zones}`}`;
  // Entries on stdout are JSON lines and nothing else.
  if (flags.decisionLogs === '-') note(started);
  else await write(`${started}\n`);
  // Hints for a first start; without these steps the API refuses every request.
  if (accounts === 0)
    note('no accounts yet: edgeplan account create <name>, then edgeplan key create <name>');
  if (nameserverSets.length === 0 && flags.trustNames !== true)
    note('no nameserver set: managed domains stay pending (--ns-set ns1.example.net,ns2.example.net)');
}

/** Converts an error of starting to a fault with a message. */
function refusal(error: unknown, { host, port, opsPort, zones }: Flags): unknown {
  if (error instanceof DnsFault) return usageFault(error.message);
  return (
    listenFault(error, { host, ports: { '--port': port, '--ops-port': opsPort, '--zones': zones?.port } }) ??
    error
  );
}

/** Parses a nameserver set. @throws CommandFault with exit code 2 */
function readSet(text: string): readonly string[] {
  // RFC 1034 §4.1 asks for at least two nameservers.
  const names = text.split(',').map((name) => normalizeName(name.trim()));
  const whole = names.filter((name): name is string => name !== null);
  if (whole.length === names.length && new Set(whole).size >= 2) return whole;
  throw usageFault(
    `a nameserver set is two or more names, like ns1.example.net,ns2.example.net, found \`${text}\``,
  );
}

/** The mail relay and the SMS gateway of the flags. @throws CommandFault when options are missing beside one another */
function readOutlets(flags: Flags): Pick<ServerOptions, 'smtp' | 'sms'> {
  const { smtp: url, smtpPasswordFile, mailFrom: from, smsGateway, smsTokenFile } = flags;
  if ((url === undefined) !== (from === undefined))
    throw usageFault('--smtp and --mail-from go together', 'give both, or neither: then no e-mail is sent');
  if (smtpPasswordFile !== undefined && url === undefined)
    throw usageFault('--smtp-password-file goes with --smtp');
  if (smsTokenFile !== undefined && smsGateway === undefined)
    throw usageFault('--sms-token-file goes with --sms-gateway');
  if (url !== undefined) requirePackages('smtp', '--smtp');
  const password = smtpPasswordFile === undefined ? {} : { passwordFile: smtpPasswordFile };
  const token = smsTokenFile === undefined ? {} : { tokenFile: smsTokenFile };
  return {
    ...(url === undefined || from === undefined ? {} : { smtp: { url, from, ...password } }),
    ...(smsGateway === undefined ? {} : { sms: { url: smsGateway, ...token } }),
  };
}

/** A parser of an option that `judge` finds fault with. */
function judgedBy(judge: (text: string) => string | null): (text: string) => string {
  return (text) => {
    const problem = judge(text);
    if (problem !== null) throw new InvalidArgumentError(`${problem}.`);
    return text;
  };
}

/** Parses `--requests-per-minute`. */
function readBudget(text: string): number {
  const budget = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (budget >= 1 && budget <= MAX_REQUESTS_PER_MINUTE) return budget;
  throw new InvalidArgumentError(`a budget is a number from 1 to ${MAX_REQUESTS_PER_MINUTE}.`);
}

/** The addresses of the listeners. */
function listenerOptions(): readonly Option[] {
  return [
    new Option('--host <address>', 'the address to listen on').default('127.0.0.1').env('EDGEPLAN_HOST'),
    new Option('--port <number>', 'the port of the API')
      .argParser(readPort)
      .default(8787)
      .env('EDGEPLAN_PORT'),
    new Option('--ops-port <number>', 'the port of /healthz, /readyz and /metrics, on 127.0.0.1')
      .argParser(readPort)
      .default(8788)
      .env('EDGEPLAN_OPS_PORT'),
  ];
}

/** What customers may do. */
function customerOptions(): readonly Option[] {
  return [
    new Option('--tier <slug>', 'what domains without a subscription may use')
      .choices(TIER_SLUGS)
      .default(DEFAULT_TIER)
      .env('EDGEPLAN_TIER'),
    new Option(
      '--over-quota <what>',
      'what happens to traffic over max_traffic_gb; refuse: the domain is suspended until its quota allows it again',
    )
      .choices(OVER_QUOTA)
      .default('serve')
      .env('EDGEPLAN_OVER_QUOTA'),
    new Option('--requests-per-minute <number>', 'what each API key may ask for in any minute')
      .argParser(readBudget)
      .default(REQUESTS_PER_MINUTE)
      .env('EDGEPLAN_REQUESTS_PER_MINUTE'),
    allowOriginsOption(),
    new Option('--countries <file>', "a country database in MaxMind's format, to tell where origins are"),
  ];
}

/** Where notifications are sent. */
function notificationOptions(): readonly Option[] {
  return [
    new Option(
      '--smtp <url>',
      'the mail relay, smtp://user@host:587 or smtps://…; without it no e-mail is sent',
    )
      .argParser(judgedBy(judgeSmtpUrl))
      .env('EDGEPLAN_SMTP'),
    new Option('--smtp-password-file <file>', 'the password of its user, read for each message').env(
      'EDGEPLAN_SMTP_PASSWORD_FILE',
    ),
    new Option('--mail-from <address>', 'the sender, such as "Alerts <alerts@example.net>"')
      .argParser(judgedBy(judgeSender))
      .env('EDGEPLAN_MAIL_FROM'),
    new Option('--sms-gateway <url>', 'gets { id, to, text } as JSON for each SMS; without it none is sent')
      .argParser(judgedBy(judgeGatewayUrl))
      .env('EDGEPLAN_SMS_GATEWAY'),
    new Option('--sms-token-file <file>', 'its bearer token, read for each message').env(
      'EDGEPLAN_SMS_TOKEN_FILE',
    ),
    new Option('--public-url <url>', 'where customers read more; {domain} in it is replaced')
      .argParser(judgedBy(judgePublicUrl))
      .env('EDGEPLAN_PUBLIC_URL'),
  ];
}

/** Names of domains, and how they are proved. */
function nameOptions(): readonly Option[] {
  return [
    new Option('--ns-set <names>', 'a complete delegation, names with commas; may be repeated').argParser(
      gather,
    ),
    resolverOption('a DNS resolver to query'),
    allowNameserversOption(),
    new Option(
      '--nameserver-port <number>',
      'the port of the name servers of zones, for trials on one machine',
    )
      .argParser(readPort)
      .default(53),
    new Option(
      '--trust-names',
      'take every domain for proven, without asking the DNS: for trying things out',
    ),
    new Option(
      '--allow-private-names',
      'register names under no public suffix and of special use too, such as shop.test, intranet.local or nas.home.arpa',
    ).env('EDGEPLAN_ALLOW_PRIVATE_NAMES'),
  ];
}

/** An hour and a year in milliseconds. */
const HOUR_MS = 3_600_000;
const YEAR_MS = 366 * 24 * HOUR_MS;

/** How long traffic is stored. */
function trafficOptions(): readonly Option[] {
  return [
    storedForOption('--traffic-minutes-for <duration>', 'how long traffic is stored by minute', {
      ...{ usual: MINUTES_FOR_MS, least: HOUR_MS, most: YEAR_MS },
    }).env('EDGEPLAN_TRAFFIC_MINUTES_FOR'),
    storedForOption('--traffic-hours-for <duration>', 'the same by hour', {
      ...{ usual: HOURS_FOR_MS, least: LEAST_HOURS_FOR_MS, most: 2 * YEAR_MS },
    }).env('EDGEPLAN_TRAFFIC_HOURS_FOR'),
    storedForOption('--traffic-days-for <duration>', 'the same by day; quotas of a year need 366d', {
      ...{ usual: DAYS_FOR_MS, least: LEAST_HOURS_FOR_MS, most: 10 * YEAR_MS },
    }).env('EDGEPLAN_TRAFFIC_DAYS_FOR'),
  ];
}

/** Where entries of nodes' decision logs go, and for how long. */
function decisionLogOptions(): readonly Option[] {
  return [
    new Option(
      '--decision-logs <place>',
      "where entries of nodes' decision logs go: `store` (searched by the API), `off`, or JSON lines to a file; `-` is stdout",
    )
      .default('store')
      .env('EDGEPLAN_DECISION_LOGS'),
    new Option('--decision-log-days <days>', 'days that those entries are stored')
      .argParser(readDays)
      .default(DEFAULT_DAYS)
      .env('EDGEPLAN_DECISION_LOG_DAYS'),
  ];
}

/** Parses `--decision-log-days`. */
function readDays(text: string): number {
  const days = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= MAX_DAYS) return days;
  throw new InvalidArgumentError(`a whole number from 1 to ${MAX_DAYS}.`);
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  serve: [
    'edgeplan serve --data ./edgeplan-data --ns-set ns1.example.net,ns2.example.net',
    'edgeplan serve --database postgres://edgeplan@db.example.net/edgeplan --host 0.0.0.0 --port 8787',
    'edgeplan serve --trust-names --allow-private-names --allow-origins 127.0.0.0/8',
    'edgeplan serve --smtp smtp://edgeplan@mail.example.net --smtp-password-file smtp.password --mail-from alerts@example.net',
  ],
};

/** Creates the command. */
export function serveCommand(): Command {
  const command = new Command('serve').description('Run the management API.');
  const options = [
    ...inGroup('Store:', [...storeOptions(), secretsKeyOption()]),
    ...inGroup('Listening:', listenerOptions()),
    ...inGroup('Domain names and DNS:', nameOptions()),
    ...inGroup('Zones:', zoneOptions()),
    ...inGroup('Certificates:', issuerOptions()),
    ...inGroup('Customers and limits:', customerOptions()),
    ...inGroup('Traffic:', trafficOptions()),
    ...inGroup('Notifications:', notificationOptions()),
    ...inGroup('Observability:', [...decisionLogOptions(), ...collectorOptions(), logLevelOption('info')]),
  ];
  for (const option of options) command.addOption(option);
  return withExamples(command.action(run), EXAMPLES);
}

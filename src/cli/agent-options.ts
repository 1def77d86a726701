/**
 * The options of `edgeplan agent` in the order of its help text, and what they say of its doors. In: flags as commander parsed
 * them. Out: the addresses of doors and the secret of the HTTP door, or a CommandFault that names the flag.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { InvalidArgumentError, Option } from 'commander';
import { StoreFault } from '../base/storage/fault.ts';
import type { DoorSecrets } from '../edge/doors/http/secrets.ts';
import { type DoorAddress, EXT_AUTHZ, FORWARD_AUTH, SocketPathFault, SPOP } from '../edge/doors/listener.ts';
import type { DoorSettings } from '../edge/node/agent-doors.ts';
import { AgentGroupFault } from '../edge/node/agent-group.ts';
import type { AgentOptions } from '../edge/node/start-agent.ts';
import { CommandFault, EXIT, inputFault, readFault, reasonOf, usageFault, writeFault } from './exit.ts';
import { listenFault } from './long-runs.ts';
import {
  factOptions,
  type NodeFlags,
  observabilityOptions,
  planOptions,
  processOptions,
} from './node-options.ts';
import { storeFault } from './open-data.ts';
import { allowOriginsOption, collectorOf, inGroup, resolverOption } from './options.ts';

/** The flags of a node that an agent has too. */
type SharedFlags = Pick<
  NodeFlags,
  | 'file'
  | 'control'
  | 'token'
  | 'tokenFile'
  | 'trust'
  | 'data'
  | 'countries'
  | 'asns'
  | 'botRanges'
  | 'signatures'
  | 'nodeId'
  | 'allowOrigins'
  | 'resolver'
  | 'log'
  | 'logRate'
  | 'shipLogs'
  | 'shipLines'
  | 'opsPort'
  | 'opsAddress'
  | 'otlp'
  | 'traceRatio'
  | 'logLevel'
  | 'color'
  | 'drain'
  | 'upgrade'
  | 'upgradeWait'
>;

/** The flags of one call, with defaults applied. */
export interface AgentFlags extends SharedFlags {
  readonly spop?: DoorAddress;
  readonly forwardAuth?: DoorAddress;
  readonly extAuthz?: DoorAddress;
  readonly secretFile?: string;
  readonly forwardBody?: boolean;
  readonly failOpen?: boolean;
  readonly group?: string;
}

/** The variable with the secret of the HTTP door, which proxies' configurations read too. */
const SECRET_VARIABLE = 'EDGEPLAN_DOOR';

/** All options, in the groups and the order of the help text. */
export function agentOptions(): readonly Option[] {
  return [
    ...inGroup('Plans:', planOptions('edgeplan-agent')),
    ...inGroup('Doors (at least one; an address is host:port or unix:/path):', doorOptions()),
    ...inGroup('What rules read of a visitor:', factOptions()),
    ...inGroup('Origins:', [
      allowOriginsOption(),
      resolverOption('a DNS resolver for bots and probes of pools'),
    ]),
    ...inGroup('Observability:', observabilityOptions()),
    ...inGroup(
      'Process:',
      processOptions().filter(({ long }) => long !== '--workers'),
    ),
  ];
}

function doorOptions(): readonly Option[] {
  return [
    new Option('--spop <address>', 'SPOP for HAProxy; its pages need --forward-auth as well').argParser(
      readDoorAddress,
    ),
    new Option(
      '--forward-auth <address>',
      'HTTP for nginx, Caddy, Traefik and Envoy, and for the pages of HAProxy',
    ).argParser(readDoorAddress),
    new Option('--ext-authz <address>', 'gRPC for Envoy (ext_authz) and Gateway API').argParser(
      readDoorAddress,
    ),
    new Option(
      '--secret-file <file>',
      `secrets that the proxy sends to --forward-auth, one a line (default: the variable ${SECRET_VARIABLE})`,
    ),
    new Option(
      '--group <folder>',
      'a folder that agents on the same sockets share: secrets of clearances, and pages of HAProxy',
    ).env('EDGEPLAN_GROUP'),
    new Option('--forward-body', 'the proxies of --forward-auth pass bodies on (Traefik, Envoy)'),
    new Option(
      '--fail-open',
      'forward what the agent cannot decide for a fault of its own (default: it is refused)',
    ),
  ];
}

/** Octets of the path of a unix socket: 107 in all (unix(7)), some of which a name for the time of binding needs. */
const MAX_SOCKET_PATH = 95;

/** Reads `host:port`, `[address]:port` or `unix:/path`. */
export function readDoorAddress(text: string): DoorAddress {
  if (text.startsWith('unix:/')) {
    const path = text.slice('unix:'.length);
    // A longer one is cut by the system without a word, and the door would be elsewhere.
    if (Buffer.byteLength(path) > MAX_SOCKET_PATH) {
      throw new InvalidArgumentError(`the path of a unix socket has at most ${MAX_SOCKET_PATH} octets.`);
    }
    return { path };
  }
  const parts = /^(?:\[([0-9a-f:.]+)\]|([^:\s]+)):(\d{1,5})$/i.exec(text);
  const host = parts?.[1] ?? parts?.[2] ?? '';
  const port = Number(parts?.[3] ?? -1);
  if (parts === null || port > 65_535 || (isIP(host) === 0 && host !== 'localhost')) {
    throw new InvalidArgumentError(
      'an address is written 127.0.0.1:9000, [::1]:9000 or unix:/run/edgeplan.sock.',
    );
  }
  return { host, port };
}

/**
 * What the flags alone determine besides the doors; files are not opened.
 * @param hasOperations whether the health and metrics listener has a socket already: it needs no port
 */
export function agentSettings(flags: AgentFlags, hasOperations = false): Omit<AgentOptions, AgentParts> {
  return {
    data: flags.data,
    countries: flags.countries ?? null,
    asns: flags.asns ?? null,
    botRanges: flags.botRanges ?? null,
    nodeId: flags.nodeId ?? null,
    resolvers: flags.resolver ?? [],
    // An edge file is the operator's own: its origins may be on this machine or in a private network.
    allowedOrigins: { prefixes: flags.allowOrigins ?? [], local: flags.file !== undefined },
    decisions: flags.log === undefined ? null : { file: flags.log, rate: flags.logRate },
    shipped: flags.shipLogs ? { rate: flags.logRate, linesPerSec: flags.shipLines } : null,
    operationsPort: flags.opsPort ?? (hasOperations ? 0 : null),
    operationsAddress: flags.opsAddress,
    collector: collectorOf(flags),
    group: flags.group ?? null,
  };
}

type AgentParts =
  | 'doors'
  | 'plans'
  | 'signatures'
  | 'version'
  | 'log'
  | 'onCaughtUp'
  | 'onTokenRefused'
  | 'sockets'
  | 'handed'
  | 'takesOver';

/** Stands for the address of a door whose socket exists. */
const ON_ITS_SOCKET: DoorAddress = { host: '127.0.0.1', port: 0 };

/**
 * @param inherited names of doors whose sockets exist: they are open without an address
 * @throws CommandFault when no door is named, or the HTTP door has no secret
 */
export async function doorSettings(
  flags: AgentFlags,
  inherited: ReadonlySet<string> = new Set(),
): Promise<DoorSettings> {
  const { failOpen = false } = flags;
  const addressOf = (given: DoorAddress | undefined, name: string): DoorAddress | null =>
    inherited.has(name) ? ON_ITS_SOCKET : (given ?? null);
  const spop = addressOf(flags.spop, SPOP);
  const forwardAuth = addressOf(flags.forwardAuth, FORWARD_AUTH);
  const extAuthz = addressOf(flags.extAuthz, EXT_AUTHZ);
  if (spop === null && forwardAuth === null && extAuthz === null) {
    throw usageFault(
      'an agent needs a door',
      'name one with --spop (HAProxy), --forward-auth (nginx, Caddy, Traefik) or --ext-authz (Envoy)',
    );
  }
  for (const [flag, isGiven] of [
    ['--secret-file', flags.secretFile !== undefined],
    ['--forward-body', flags.forwardBody === true],
  ] as const) {
    if (isGiven && forwardAuth === null) {
      throw usageFault(
        `${flag} has no effect without --forward-auth`,
        'name its address, or leave the flag out',
      );
    }
  }
  if (forwardAuth === null) return { spop, http: null, extAuthz, failOpen };
  const secrets = await readSecrets(flags);
  return {
    spop,
    http: { address: forwardAuth, secrets, passesBodies: flags.forwardBody === true },
    extAuthz,
    failOpen,
  };
}

async function readSecrets({ secretFile }: AgentFlags): Promise<DoorSecrets> {
  const { readDoorSecrets } = await import('../edge/doors/http/secrets.ts');
  const variable = process.env[SECRET_VARIABLE];
  let text: string;
  let from: string;
  if (secretFile !== undefined) {
    from = `the file \`${secretFile}\``;
    try {
      text = readFileSync(secretFile, 'utf8');
    } catch (error) {
      throw readFault(secretFile, error);
    }
  } else if (variable !== undefined && variable !== '') {
    [text, from] = [variable, `the variable ${SECRET_VARIABLE}`];
  } else {
    throw usageFault(
      'the HTTP door needs a secret that its proxy sends',
      `write one into a file for --secret-file, or into the variable ${SECRET_VARIABLE}: \`openssl rand -hex 32\` prints one`,
    );
  }
  try {
    return readDoorSecrets(text, from);
  } catch (error) {
    throw inputFault(reasonOf(error), { cause: error });
  }
}

/** What the operator should know of the doors at the start. */
export function doorWarnings(doors: DoorSettings): readonly string[] {
  if (!doors.failOpen) return exposedDoors(doors);
  return [
    '--fail-open: requests that the agent cannot decide, before its plans arrive or after a fault of its own, pass without any rule',
    ...exposedDoors(doors),
  ];
}

/** A sentence for each door on TCP that other machines can reach; it has no encryption, and some have no secret. */
function exposedDoors({ spop, http, extAuthz }: DoorSettings): readonly string[] {
  const doors = [
    ['--spop', spop],
    ['--forward-auth', http?.address ?? null],
    ['--ext-authz', extAuthz],
  ] as const;
  return doors.flatMap(([flag, address]) =>
    address === null || 'path' in address || isLoopback(address.host)
      ? []
      : [
          `${flag} listens on ${address.host}: other machines can ask it and read what proxies send; it belongs on loopback, a unix socket or a private network`,
        ],
  );
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

/** The fault to print; an unknown error is returned unchanged. */
export function agentFault(error: unknown, { opsPort, opsAddress }: AgentFlags): unknown {
  if (error instanceof CommandFault) return error;
  if (error instanceof StoreFault) return storeFault(error);
  if (error instanceof SocketPathFault || error instanceof AgentGroupFault) {
    return new CommandFault(EXIT.server, error.message, { cause: error, remedy: error.remedy });
  }
  const { code, address, port, path, syscall } = error as NodeJS.ErrnoException & {
    readonly address?: string;
    readonly port?: number;
  };
  if (port !== undefined && port === opsPort) {
    return listenFault(error, { host: opsAddress, ports: { '--ops-port': opsPort } }) ?? error;
  }
  if (syscall === 'listen' || syscall === 'bind') {
    const isPath = port === undefined || port < 0;
    const place = isPath ? String(address) : `${address}:${port}`;
    if (code === 'EADDRINUSE') {
      const remedy = 'choose another address for the door, or end the process that listens there';
      return new CommandFault(EXIT.server, `the address ${place} is taken`, { cause: error, remedy });
    }
    const message = `a door cannot listen at ${place}: ${reasonOf(error)}`;
    const remedy = isPath
      ? 'name a path in a folder that exists and that this user may write to'
      : 'choose an address of this machine and a port that this user may open';
    return new CommandFault(EXIT.server, message, { cause: error, remedy });
  }
  return path !== undefined && syscall !== undefined ? writeFault(path, error) : error;
}

/** The examples of `fixtures/run`: as far as the programs that would read them can check them without running anything. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { AGENT_LISTENER_NAMES } from '../../src/edge/node/agent-doors.ts';
import { LISTENER_NAMES } from '../../src/edge/node/options.ts';
import { builtCli, edgeplan } from '../support/built.ts';
import { findProgram, missingProgram, requires } from '../support/requires.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const UNITS = ['edgeplan-server.service', 'edgeplan-node.service', 'edgeplan-agent@.service'] as const;
/** The socket units, with the unit that they start and the names that its command knows. */
const SOCKETS = [
  ['edgeplan-node-http.socket', 'edgeplan-node.service', LISTENER_NAMES],
  ['edgeplan-node-https.socket', 'edgeplan-node.service', LISTENER_NAMES],
  ['edgeplan-agent-spop.socket', 'edgeplan-agent@.service', AGENT_LISTENER_NAMES],
  ['edgeplan-agent-forward-auth.socket', 'edgeplan-agent@.service', AGENT_LISTENER_NAMES],
] as const;
/** The exposure that README.md states, by unit. */
const EXPOSURES = {
  'edgeplan-server.service': '1.1',
  'edgeplan-node.service': '1.5',
  'edgeplan-agent@.service': '1.3',
} as const;

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-run-'));
/** A copy of the examples, as deep as in a checkout. */
const run = join(folder, 'fixtures/run');
/** The options and environment variables of both commands, by command. */
const known = new Map<
  string,
  { readonly options: ReadonlySet<string>; readonly variables: ReadonlySet<string> }
>();

const textOf = (name: string): string => readFileSync(join(run, name), 'utf8');

function check(
  name: string,
  args: readonly string[],
): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(findProgram(name)!, args, { cwd: run, encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

beforeAll(async () => {
  await builtCli();
  cpSync(join(ROOT, 'fixtures/run'), run, { recursive: true });
  for (const command of ['serve', 'node', 'agent']) {
    const { out } = await edgeplan([command, '--help'], { cwd: folder });
    const options = new Set([...out.matchAll(/--[a-z][a-z-]*/g)].map(([option]) => option));
    known.set(command, { options, variables: new Set(out.match(/EDGEPLAN_[A-Z_]+/g)) });
  }
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The `edgeplan` options in a text: words that begin with `--`. */
const optionsIn = (words: readonly string[]): readonly string[] =>
  words.filter((word) => word.startsWith('--'));

describe('the units', () => {
  describe('systemd-analyze', requires(missingProgram('systemd-analyze', 'systemd')), () => {
    test.each(UNITS)('verifies %s', (unit) => {
      expect(check('systemd-analyze', ['verify', `./${unit}`])).toEqual({ status: 0, output: '' });
    });

    test.each(SOCKETS)('verifies %s', (unit, service) => {
      expect(check('systemd-analyze', ['verify', `./${unit}`, `./${service}`])).toEqual({
        status: 0,
        output: '',
      });
    });

    test.each(UNITS)('rates the exposure of %s as README.md states', (unit) => {
      const { output } = check('systemd-analyze', ['security', '--offline=true', `./${unit}`]);
      const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(output) ?? [];
      expect(Number(exposure), output).toBeLessThanOrEqual(Number(EXPOSURES[unit]));
      expect(textOf('README.md')).toContain(` ${EXPOSURES[unit]}`);
    });
  });

  test.each([
    ['edgeplan-server.service', 'serve', 'server.env'],
    ['edgeplan-node.service', 'node', 'node.env'],
    ['edgeplan-agent@.service', 'agent', 'agent.env'],
  ])('%s and its environment use existing options and variables of `%s`', (unit, command, env) => {
    const { options, variables } = known.get(command)!;
    const start = /^ExecStart=(.*)$/m.exec(textOf(unit))![1]!.split(' ');
    expect(start[2]).toBe(command);
    const flags = [...textOf(env).matchAll(/^#?EDGEPLAN_(?:NODE|AGENT)_FLAGS=(.*)$/gm)].flatMap(([, all]) =>
      all!.split(' '),
    );
    for (const option of optionsIn([...start, ...flags])) expect(options).toContain(option);
    const assigned = `${textOf(env)}\n${/^Environment=.*$/m.exec(textOf(unit))![0]}`;
    for (const [, variable] of assigned.matchAll(/(?<![A-Z_])(EDGEPLAN_[A-Z_]+)=/g)) {
      // Expanded by the unit itself.
      if (!/^EDGEPLAN_(NODE|AGENT)_FLAGS$/.test(variable!)) expect(variables).toContain(variable);
    }
  });
});

test.each(SOCKETS)('%s passes its socket to %s under a name that it knows', (unit, service, names) => {
  const name = /^FileDescriptorName=(.*)$/m.exec(textOf(unit))![1];
  expect(names).toContain(name);
  expect(textOf(unit)).toContain(`Service=${service.replace('@', '@1')}\n`);
});

test('agents of a machine share the sockets of the units, and each writes into folders of its own', () => {
  const [, shared] = /^Sockets=(.*)$/m.exec(textOf('edgeplan-agent-sockets.conf'))!;
  const units = SOCKETS.flatMap(([unit, service]) => (service === 'edgeplan-agent@.service' ? [unit] : []));
  expect(shared!.split(' ')).toEqual(units);
  const text = textOf('edgeplan-agent@.service');
  expect(text).toContain('EDGEPLAN_NODE_DATA=%S/edgeplan-agent/%i EDGEPLAN_GROUP=%S/edgeplan-agent/group ');
  expect(text).toContain('PIDFile=%S/edgeplan-agent/%i/edgeplan.pid\n');
  expect(text).toContain('--ops-port 879%i --log %L/edgeplan-agent/%i/decisions.log ');
});

test('logrotate accepts its file', requires(missingProgram('logrotate')), () => {
  const file = join(folder, 'edgeplan.logrotate');
  // It reads files only that others cannot write.
  writeFileSync(file, textOf('edgeplan.logrotate'), { mode: 0o644 });
  const { status, output } = check('logrotate', ['-d', file, '-s', join(folder, 'logrotate.state')]);
  expect(status, output).toBe(0);
  expect(output).toContain('/var/log/edgeplan-node/decisions.log');
  expect(output).toContain('/var/log/edgeplan-agent/*/decisions.log');
  expect(output).not.toMatch(/error:/);
});

test('the logs that logrotate rotates are those that the units write', () => {
  expect(textOf('edgeplan-agent@.service')).toContain('LogsDirectory=edgeplan-agent/%i\n');
  expect(textOf('edgeplan-node.service')).toContain('LogsDirectory=edgeplan-node\n');
  expect(textOf('edgeplan-node.service')).toContain('--log %L/edgeplan-node/decisions.log');
});

/** The program and arguments of Compose: the plugin of docker, or the older program; `null`: neither is there. */
function compose(): readonly [program: string, ...args: readonly string[]] | null {
  const docker = findProgram('docker');
  if (docker !== null && spawnSync(docker, ['compose', 'version']).status === 0) return ['docker', 'compose'];
  return findProgram('docker-compose') === null ? null : ['docker-compose'];
}

const NO_COMPOSE =
  compose() === null
    ? 'neither docker compose nor docker-compose is installed (Debian: docker-compose)'
    : null;

test('Compose accepts compose.yaml', requires(NO_COMPOSE), () => {
  mkdirSync(join(run, 'secrets'));
  for (const name of ['database-password', 'node-1-token', 'node-2-token']) {
    writeFileSync(join(run, 'secrets', name), 'secret\n');
  }
  const [program, ...args] = compose()!;
  const { status, output } = check(program, [...args, '-f', 'compose.yaml', 'config']);
  expect(status, output).toBe(0);
});

interface Service {
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
}

describe('compose.yaml', () => {
  const { services } = parse(readFileSync(join(ROOT, 'fixtures/run/compose.yaml'), 'utf8'), {
    merge: true,
  }) as {
    readonly services: Readonly<Record<string, Service>>;
  };

  test.each(Object.keys(services))('the service %s is hardened', (name) => {
    const { read_only, cap_drop, security_opt } = services[name]!;
    expect([read_only, cap_drop, security_opt]).toEqual([true, ['ALL'], ['no-new-privileges:true']]);
  });

  test.each(['api', 'node-1', 'node-2'])('the service %s uses existing options and variables', (name) => {
    const { command, environment } = services[name]!;
    const { options, variables } = known.get(command![0]!)!;
    for (const option of optionsIn(command!)) expect(options).toContain(option);
    for (const variable of Object.keys(environment)) expect(variables).toContain(variable);
  });
});

test('the Dockerfile uses existing variables, no root, and the port of the health check by default', () => {
  const text = textOf('Dockerfile');
  const variables = new Set([...known.values()].flatMap((one) => [...one.variables]));
  for (const [, variable] of text.matchAll(/(EDGEPLAN_[A-Z_]+)=/g)) expect(variables).toContain(variable);
  expect(text).toMatch(/^USER 1000:1000$/m);
  expect(text).toContain('EDGEPLAN_OPS_PORT=8788');
  for (const [, image] of text.matchAll(/^FROM (\S+)/gm))
    expect(image).toMatch(/^node:\d+\.\d+\.\d+-\w+-slim$/);
});

test('every file in the table of README.md exists', () => {
  for (const [, target] of textOf('README.md').matchAll(/\]\(([^)#]+)\)/g)) {
    expect(() => readFileSync(join(ROOT, 'fixtures/run', target!))).not.toThrow();
  }
});

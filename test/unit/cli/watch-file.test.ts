import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { CommandFault } from '../../../src/cli/exit.ts';
import {
  type InstalledFile,
  serveEdgeFile,
  type Watching,
  type WatchOptions,
} from '../../../src/cli/watch-file.ts';
import { PlanRefusal } from '../../../src/edge/following/fetch-plan.ts';
import { createPlanTable, type PlanTable } from '../../../src/edge/following/plan-table.ts';
import { until } from '../../support/publish-setup.ts';

let folder: string;
let file: string;
let plans: PlanTable;
let watching: Watching | null;
let installed: InstalledFile[];
let refused: CommandFault[];
let printed: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-watch-'));
  file = join(folder, 'edge.yaml');
  plans = createPlanTable({
    evaluatorOptions: () => ({}),
    onChange: () => undefined,
    onFault: (name, error) => {
      throw new Error(name, { cause: error });
    },
    openOctets: 1e6,
  });
  watching = null;
  installed = [];
  refused = [];
  printed = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});
afterEach(() => {
  watching?.stop();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

function text(path: string, domain = 'shop.test'): string {
  return `domain: ${domain}
records:
  - { name: '@', type: A, destination: 192.0.2.1, proxied: true }
rules:
  - { type: drop, path_includes: ['${path}'] }
`;
}

async function start(options: Partial<WatchOptions> = {}): Promise<Watching> {
  watching = await serveEdgeFile({
    file,
    colour: 'never',
    plans,
    onInstalled: (one) => installed.push(one),
    onRefused: (fault) => refused.push(fault),
    pollMs: 100_000,
    ...options,
  });
  return watching;
}

function decide(host: string, target: string): string {
  const found = plans.find(host);
  if (found === null || found === 'refused') return '421';
  return found.evaluator.evaluate({ scheme: 'https', method: 'GET', host, target, ip: '192.0.2.1' }).action;
}

describe('a file that changes', () => {
  const ways: readonly [string, (content: string) => void][] = [
    ['by being written', (content) => writeFileSync(file, content)],
    [
      'by a rename',
      (content) => {
        writeFileSync(`${file}~`, content);
        renameSync(`${file}~`, file);
      },
    ],
    [
      'by being removed and written',
      (content) => {
        rmSync(file);
        writeFileSync(file, content);
      },
    ],
  ];
  test.each(ways)("%s is served, by the system's hint", async (_, change) => {
    writeFileSync(file, text('/a'));
    await start();
    expect([decide('shop.test', '/a'), decide('shop.test', '/b')]).toEqual(['block', 'forward']);
    change(text('/b'));
    await until(() => decide('shop.test', '/b') === 'block', 'the change');
    expect(decide('shop.test', '/a')).toBe('forward');
    expect(installed.map(({ revision }) => revision)).toEqual([1, 2]);
  });

  test('is served with its parts, also one that is added, changed or removed', async () => {
    writeFileSync(file, text('/a'));
    const { check } = await start();
    mkdirSync(join(folder, 'edge.d'));
    const part = join(folder, 'edge.d', 'more.yaml');
    writeFileSync(part, "rules:\n  - { type: drop, path_includes: ['/b'] }\n");
    await check();
    expect([decide('shop.test', '/a'), decide('shop.test', '/b')]).toEqual(['block', 'block']);
    writeFileSync(part, 'rules: [');
    await check();
    expect(printed).toContain(`${part}:`);
    expect(decide('shop.test', '/b')).toBe('block');
    rmSync(part);
    await check();
    expect([decide('shop.test', '/a'), decide('shop.test', '/b')]).toEqual(['block', 'forward']);
  });

  test('where a link leads elsewhere, as deployments do it', async () => {
    for (const [name, path] of [
      ['one', '/a'],
      ['two', '/b'],
    ] as const) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'edge.yaml'), text(path));
    }
    symlinkSync('one', join(folder, 'current'));
    symlinkSync('current/edge.yaml', file);
    await start();
    symlinkSync('two', join(folder, 'next'));
    renameSync(join(folder, 'next'), join(folder, 'current'));
    await until(() => decide('shop.test', '/b') === 'block', 'the change');
  });

  test('is detected by polling too', async () => {
    mkdirSync(join(folder, 'far'));
    writeFileSync(join(folder, 'far/edge.yaml'), text('/a'));
    symlinkSync('far/edge.yaml', file);
    await start({ pollMs: 30 });
    writeFileSync(join(folder, 'far/edge.yaml'), text('/b'));
    await until(() => decide('shop.test', '/b') === 'block', 'the change');
  });

  test('a changed domain name removes the plan of the old name', async () => {
    writeFileSync(file, text('/a'));
    const { check } = await start();
    writeFileSync(file, text('/a', 'other.test'));
    await check();
    expect([decide('shop.test', '/a'), decide('other.test', '/a')]).toEqual(['421', 'block']);
  });
});

describe('a domain that must not serve', () => {
  test.each([
    ['suspended', '{ name: shop.test, suspended: true }'],
    ['disabled', '{ name: shop.test, status: disabled }'],
    ['not verified yet', '{ name: shop.test, status: pending }'],
  ])('is refused like one that a control plane forbids: %s', async (_name, domain) => {
    writeFileSync(file, text('/a', domain));
    const { check } = await start();
    expect(plans.find('www.shop.test')).toBe('refused');
    writeFileSync(file, text('/a'));
    await check();
    expect(decide('shop.test', '/a')).toBe('block');
    writeFileSync(file, text('/a', domain));
    await check();
    expect(plans.find('shop.test')).toBe('refused');
    expect(installed.map(({ serves, revision }) => [serves, revision])).toEqual([
      [false, 1],
      [true, 2],
      [false, 3],
    ]);
  });
});

describe('a file that cannot be served', () => {
  const broken: readonly [string, () => void, RegExp, RegExp][] = [
    [
      'with a mistake',
      () => writeFileSync(file, text('/a').replace('drop', 'dorp')),
      /does not compile: 1 error/,
      /edge\.yaml:5:\d+: error\[unknown_type\]: .*dorp/s,
    ],
    ['half written', () => writeFileSync(file, text('/a').slice(0, 70)), /does not compile/, /error/],
    ['empty', () => writeFileSync(file, ''), /does not compile/, /error/],
    ['gone', () => rmSync(file), /there is no file/, /^$/],
    [
      'a folder',
      () => {
        rmSync(file);
        mkdirSync(file);
      },
      /is a folder, not a file/,
      /^$/,
    ],
  ];
  test.each(broken)('%s: reported once, and the last good plan serves', async (_, harm, sentence, shown) => {
    writeFileSync(file, text('/a'));
    const { check } = await start();
    harm();
    await check();
    await check();
    expect(refused.map(({ message }) => message)).toEqual([expect.stringMatching(sentence)]);
    expect(printed).toMatch(shown);
    expect(decide('shop.test', '/a')).toBe('block');
    rmSync(file, { recursive: true, force: true });
    writeFileSync(file, text('/b'));
    await check();
    expect([decide('shop.test', '/b'), installed.at(-1)?.revision]).toEqual(['block', 2]);
  });

  test('a change that no worker can make now is reported once, and tried again later or at once on request', async () => {
    writeFileSync(file, text('/a'));
    let refusals = 0;
    const reluctant = {
      delete: plans.delete,
      set: async (...[name, entry]: Parameters<PlanTable['set']>): Promise<void> => {
        if (refusals-- > 0) throw new PlanRefusal('worker 1 of the node goes on as before', false);
        plans.set(name, entry);
      },
    };
    const { check } = await start({ plans: reluctant, pollMs: 30 });
    refusals = 2;
    writeFileSync(file, text('/b'));
    await until(() => decide('shop.test', '/b') === 'block', 'the change');
    expect(refused.map(({ message }) => message)).toEqual([expect.stringMatching(/; it is tried again$/)]);
    refusals = 4;
    writeFileSync(file, text('/c'));
    for (let count = 0; count < 6; count++) await check();
    expect(decide('shop.test', '/c')).toBe('block');
    expect(installed.map(({ revision }) => revision)).toEqual([1, 2, 3]);
  });

  test('at the start is refused', async () => {
    await expect(start()).rejects.toThrow('there is no file');
    writeFileSync(file, 'domain: 7');
    await expect(start()).rejects.toThrow('does not compile');
  });
});

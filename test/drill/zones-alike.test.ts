/** Generated zones are answered alike by every name server, and still are after kills while records change. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../../src/control/accounts/keys.ts';
import { openStore } from '../../src/control/store/database/open.ts';
import { builtCli } from '../support/built.ts';
import { freePorts } from '../support/free-ports.ts';
import { zoneRows } from '../support/generate-zone.ts';
import { requires } from '../support/requires.ts';
import { activeDomain, newRecord } from '../support/sample-rows.ts';
import { sizeOf } from '../support/size.ts';
import { until } from '../support/until.ts';
import { type Engine, type EngineKind, missingEngine, startEngine } from '../support/zone-engines.ts';
import {
  CATALOG,
  newZoneKey,
  servedSerial,
  serveZones,
  transferred,
  type ZonesServed,
} from '../support/zones-served.ts';

const ZONES = sizeOf('EDGEPLAN_ALIKE_ZONES', { usual: 60, full: 1_000 });
const KILLS = sizeOf('EDGEPLAN_ZONE_KILLS', { usual: 4, full: 20 });
const SEED = 20_261_125;
const KINDS: readonly EngineKind[] = ['knot', 'nsd', 'bind'];
const reasons = KINDS.map(missingEngine);
const PATIENCE_MS = 240_000;

describe('zones at real name servers', requires(...reasons), () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-alike-'));
  const database = join(folder, 'data');
  const zoneKey = newZoneKey();
  const engines: Engine[] = [];
  let ports: readonly number[];
  let zonesPort: number;
  let served: ZonesServed;

  const start = (): Promise<ZonesServed> =>
    serveZones({
      ...{ database, zoneKey, zonesPort },
      secondaries: ports.map((port) => `127.0.0.1:${port}`),
      args: ['--requests-per-minute', '1000000', '--caa-issuer', 'ca.edge.test'],
    });

  beforeAll(async () => {
    await builtCli();
    await fillStore(database);
    zonesPort = await freePorts(1 + KINDS.length);
    ports = KINDS.map((_, index) => zonesPort + 1 + index);
    served = await start();
    for (const [at, kind] of KINDS.entries()) {
      const place = { primary: served.zones, key: zoneKey, catalog: CATALOG, port: ports[at]! };
      engines.push(await startEngine(kind, place));
    }
  }, PATIENCE_MS);
  afterAll(async () => {
    for (const engine of engines) await engine.stop();
    await served?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The answer of a check once it is `same` everywhere, or the last one. */
  async function checked(domain: string): Promise<unknown> {
    let last: unknown = null;
    const same = async (): Promise<boolean> => {
      const answer = await served.call('GET', `/domains/${domain}/zone/check`);
      last = answer.body;
      return (
        answer.status === 200 &&
        answer.body.secondaries.every(({ state }: { readonly state: string }) => state === 'same')
      );
    };
    await until(same, `${domain} to be the same`, PATIENCE_MS).catch((cause: unknown) => {
      const about = (text: string): string[] => text.split('\n').filter((line) => line.includes(domain));
      const logs = engines.map(({ kind, log }) => `${kind}: ${about(log).slice(-20).join('\n')}`);
      throw new Error(`${JSON.stringify(last)}\n${logs.join('\n')}`, { cause });
    });
    return last;
  }

  test(
    `${ZONES} generated zones are answered by Knot, NSD and BIND as the store has them`,
    async () => {
      const members = async (): Promise<boolean> => (await transferred(served, CATALOG)).length === ZONES + 2;
      await until(members, 'every zone to be in the catalog', PATIENCE_MS);
      let sets = 0;
      for (let at = 0; at < ZONES; at++) {
        const result = (await checked(nameOf(at))) as { readonly sets: number; readonly compared: number };
        expect(result.compared).toBe(result.sets);
        sets += result.sets;
      }
      expect(sets).toBeGreaterThan(ZONES * 5);
    },
    4 * PATIENCE_MS,
  );

  test(
    'kill -9 of the server and of name servers while records change: all answer the last change',
    async () => {
      const random = fc.sample(fc.integer({ min: 0, max: 3 }), { numRuns: KILLS, seed: SEED });
      const serials = new Map<string, number>();
      const last = new Map<string, string>();
      let change = 0;
      const changeSome = async (count: number): Promise<void> => {
        for (let at = 0; at < count; at++) {
          const domain = nameOf(change % Math.min(ZONES, 10));
          const destination = `203.0.113.${(change % 250) + 1}`;
          const record = { name: `k${change}`, type: 'A', destination, proxied: false };
          const answer = await served.call('POST', `/domains/${domain}/records/`, record).catch(() => null);
          if (answer?.status === 200) last.set(domain, `k${change}`);
          change++;
        }
      };
      for (const which of random) {
        const writing = changeSome(20);
        await new Promise((resolve) => setTimeout(resolve, 100));
        if (which === 3) process.kill(served.pid, 'SIGKILL');
        else await engines[which]!.kill9();
        await writing;
        if (which === 3) {
          await served.stop();
          served = await start();
        } else await engines[which]!.restart();
        await changeSome(5);
        for (const domain of last.keys()) {
          const serial = (await servedSerial(served, domain))!;
          expect(serial).toBeGreaterThanOrEqual(serials.get(domain) ?? 0);
          serials.set(domain, serial);
        }
      }
      for (const [domain, name] of last) {
        await until(
          async () =>
            (await transferred(served, domain)).some((line) => line.startsWith(`${name}.${domain}. `)),
          `${name} in ${domain}`,
          PATIENCE_MS,
        );
        await checked(domain);
      }
    },
    4 * PATIENCE_MS,
  );
});

function nameOf(at: number): string {
  return `z${at}.test`;
}

/** Domains of the account `owner` with generated records. */
async function fillStore(database: string): Promise<void> {
  const store = await openStore({ database });
  const account = await createAccount(store, { name: 'owner', now: Date.now() });
  if (!account.ok) throw new Error(account.reason);
  const zones = fc.sample(zoneRows, { numRuns: ZONES, seed: SEED });
  for (const [at, rows] of zones.entries()) {
    await store.write(async (tx) => {
      const domain = await tx.domains.insert(activeDomain(nameOf(at), account.value.id));
      const records = rows.map(({ stored: { name, type, destination, mx_priority, proxied } }) =>
        newRecord(domain.id, {
          ...{ type, mx_priority, proxied },
          name: ownName(name, nameOf(at)),
          destination: ownName(destination, nameOf(at)),
        }),
      );
      if (records.length > 0) await tx.records.insert(records);
    });
  }
  await store.close();
}

/** A generated text with the domain in place of the generator's. */
function ownName(text: string, domain: string): string {
  return text.replaceAll(/example\.com/gi, domain);
}

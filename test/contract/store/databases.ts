/** The databases of the contract: an empty one for each `place`, which other tests use after `dispose`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, inject } from 'vitest';
import { openPostgres } from '../../../src/control/store/database/postgres/open.ts';
import { openSqlite } from '../../../src/control/store/database/sqlite/open.ts';
import type { Store } from '../../../src/control/store/store.ts';
import type { Migration } from '../../../src/control/store/tables/steps.ts';
import { asAdmin, POSTGRES } from '../../support/postgres.ts';

/** A place to keep a store; opening it twice opens the same data. */
export interface Place {
  /** Opens the store, with the steps of this version unless others are given. */
  open(migrations?: readonly Migration[]): Promise<Store>;
  /** A folder or an address. */
  readonly database: string;
  dispose(): Promise<void>;
}

export interface Kind {
  readonly name: 'sqlite' | 'postgres';
  place(): Promise<Place>;
}

export const sqlite: Kind = {
  name: 'sqlite',
  async place() {
    const folder = await mkdtemp(join(tmpdir(), 'edgeplan-store-'));
    return {
      database: folder,
      open: (migrations) => openSqlite({ folder, role: 'server', ...(migrations && { migrations }) }),
      dispose: () => rm(folder, { recursive: true }),
    };
  },
};

/** Empties every table, leaving tables and sequences as they are. */
const EMPTY = `
  SET session_replication_role = replica;
  DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'edgeplan_version' LOOP
      EXECUTE format('DELETE FROM %I', name);
    END LOOP;
    IF to_regclass('manifest_position') IS NOT NULL THEN INSERT INTO manifest_position VALUES (1, 0); END IF;
  END $$`;

const NO_TABLES = 'DROP SCHEMA public CASCADE; CREATE SCHEMA public';

/** Databases that were made here and are not in use, by whether they have empty tables: a new one takes a second. */
const spare: { readonly name: string; readonly hasTables: boolean }[] = [];
let made = 0;

export const postgres: Kind = {
  name: 'postgres',
  async place() {
    const { name, hasTables } = spare.pop() ?? { name: await makeDatabase(), hasTables: false };
    const address = new URL(POSTGRES);
    address.pathname = `/${name}`;
    let usual = true;
    let opened = false;
    return {
      database: address.href,
      async open(migrations) {
        if (!opened && hasTables && migrations !== undefined) await asAdmin(NO_TABLES, address.href);
        opened = true;
        usual &&= migrations === undefined;
        return openPostgres({ address: address.href, ...(migrations && { migrations }) });
      },
      async dispose() {
        await asAdmin(usual ? EMPTY : NO_TABLES, address.href);
        spare.push({ name, hasTables: usual && (opened || hasTables) });
      },
    };
  },
};

/** Makes a database, which ends with the run (`postgres-setup.ts`). */
async function makeDatabase(): Promise<string> {
  made += 1;
  const name = `${inject('databases')}${process.pid}_${made}`;
  // Another locale than "C", so that an order that leans on it shows.
  const locale = await asAdmin("SELECT collname FROM pg_collation WHERE collprovider = 'i' LIMIT 1");
  const icu = locale.rows.length > 0 ? `LOCALE_PROVIDER icu ICU_LOCALE 'und'` : '';
  await asAdmin(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' ${icu}`);
  return name;
}

/** Each store that answers here. */
export const kinds: readonly Kind[] = inject('missingPostgres') === null ? [sqlite, postgres] : [sqlite];

/** A store and the database that it is on. */
export interface OpenedStore {
  readonly place: Place;
  readonly store: Store;
}

/** Opens a store on an empty database before the tests of a suite, and gives the database back after them. */
export function openForAll(kind: Kind, use: (opened: OpenedStore) => void): void {
  const { open, close } = opener(kind, use);
  beforeAll(open);
  afterAll(close);
}

/** The same for each test. */
export function openForEach(kind: Kind, use: (opened: OpenedStore) => void): void {
  const { open, close } = opener(kind, use);
  beforeEach(open);
  afterEach(close);
}

function opener(kind: Kind, use: (opened: OpenedStore) => void) {
  let place: Place | undefined;
  let store: Store | undefined;
  return {
    async open(): Promise<void> {
      place = await kind.place();
      store = await place.open();
      use({ place, store });
    },
    async close(): Promise<void> {
      await store?.close();
      await place?.dispose();
      place = undefined;
      store = undefined;
    },
  };
}

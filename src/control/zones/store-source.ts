/** Zones as the store has them, and the catalog of all of them, for the server that answers transfers. */
import type { ReadTransaction, Store } from '../store/store.ts';
import type { ZoneHeadRow, ZoneStepRow } from '../store/zone-repositories.ts';
import { CATALOG_SERVER, catalogContent } from './catalog.ts';
import type { ZoneHead, ZoneSource, ZoneStep } from './zone-source.ts';

/** Answers transfers from the store. */
export function createStoreSource(store: Store, catalog: string): ZoneSource {
  return {
    head: (name) => readHead(store.latest, name, catalog),
    whole: (name) =>
      store.read(async (tx) => {
        if (name === catalog) {
          const head = await readHead(tx, name, catalog);
          return head && { head, content: catalogContent(catalog, await tx.zones.members()) };
        }
        const zone = await tx.zones.get(name);
        return zone && { head: headOf(zone), content: zone.content };
      }),
    since: (name, serial) =>
      store.read(async (tx) => {
        const head = await readHead(tx, name, catalog);
        if (head === null) return null;
        if (head.serial === serial) return { head, steps: [] };
        const steps = (await tx.zones.steps(name, serial)).map(stepOf);
        return { head, steps: steps.at(-1)?.to === head.serial ? steps : null };
      }),
  };
}

async function readHead(tx: ReadTransaction, name: string, catalog: string): Promise<ZoneHead | null> {
  if (name === catalog) {
    const row = await tx.zones.catalog(name);
    return row && { name, serial: row.serial, primary: CATALOG_SERVER };
  }
  const row = await tx.zones.head(name);
  return row && headOf(row);
}

/** The version of a row. */
export function headOf({ name, serial, primary_name }: ZoneHeadRow): ZoneHead {
  return { name, serial, primary: primary_name };
}

function stepOf({ from_serial, to_serial, removed, added }: ZoneStepRow): ZoneStep {
  return { from: from_serial, to: to_serial, removed, added };
}

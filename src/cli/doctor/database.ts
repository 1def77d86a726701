/** Checks that the store opens and which tables it has; takes no step to newer ones. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inspectFolder, inspectPostgres } from '../../control/store/database/inspect-store.ts';
import type { StoreReport } from '../../control/store/database/store-report.ts';
import { type PostgresAccess, withoutPassword } from '../../control/store/place.ts';
import { dataFolder } from '../open-data.ts';
import { type Check, type CheckFinding, type DoctorFlags, reasonText } from './check.ts';

/** Files and folders of a node that no store has: its identity, and its plans. */
const NODE_FILES = ['control.json', 'plans'] as const;

/** The PostgreSQL database that the flags name; `null`: none. */
export function accessOf({
  database,
  databasePasswordFile: passwordFile,
}: DoctorFlags): PostgresAccess | null {
  if (database === undefined) return null;
  return { address: database, ...(passwordFile === undefined ? {} : { passwordFile }) };
}

function reportFindings(place: string, { version, known, warnings }: StoreReport): readonly CheckFinding[] {
  const others = warnings.map((found): CheckFinding => ({ state: 'warning', found }));
  const found = `${place} opens; its tables have version ${version}, this edgeplan makes ${known}`;
  if (version === known) return [{ state: 'fine', found }, ...others];
  if (version > known) {
    const remedy = 'use the version of edgeplan that wrote it, or a later one';
    return [{ state: 'failure', found, remedy }, ...others];
  }
  if (version === 0) {
    return [{ state: 'fine', found: `${place} opens and has no tables yet; serve makes them` }, ...others];
  }
  const remedy =
    'back it up: serve migrates it at its next start, and older versions cannot use it afterwards';
  return [{ state: 'warning', found, remedy }, ...others];
}

/** Whether a node that follows a control plane has its files there. */
function isNodeFolder(folder: string): boolean {
  return NODE_FILES.some((name) => existsSync(join(folder, name)));
}

export const database: Check = {
  name: 'database',
  async run(flags) {
    const access = accessOf(flags);
    const folder = access === null ? dataFolder(flags) : null;
    const place = access === null ? `the store in \`${folder}\`` : `\`${withoutPassword(access.address)}\``;
    try {
      const report = access === null ? await inspectFolder(folder!) : await inspectPostgres(access);
      if (report !== null) return reportFindings(place, report);
      if (isNodeFolder(folder!)) {
        const found = `\`${folder}\` is the folder of a node, which has plans and no store`;
        return [{ state: 'skipped', found }];
      }
      const found = `there is no store in \`${folder}\` yet`;
      return [
        {
          state: 'skipped',
          found,
          remedy: 'edgeplan serve or account create makes one; --data names another',
        },
      ];
    } catch (error) {
      const remedy =
        access === null
          ? 'edgeplan restore puts a backup in its place'
          : 'check host, port, name and password of --database, and that PostgreSQL runs';
      return [{ state: 'failure', found: `${place}: ${reasonText(error)}`, remedy }];
    }
  },
};

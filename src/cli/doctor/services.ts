/**
 * Checks of the services that a server or a node depends on: the database, the control plane, and the clock against
 * both.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { missingPackages } from '../../base/platform/optional-packages.ts';
import { inspectFolder, inspectPostgres } from '../../control/store/database/open.ts';
import { type PostgresAccess, type StoreReport, withoutPassword } from '../../control/store/place.ts';
import { ControlPlaneFault, createControl } from '../../edge/following/control-plane.ts';
import { epochOf } from '../../edge/following/session.ts';
import { createTrust, readTransitions, TrustFault } from '../../edge/following/trust.ts';
import { openTokenFile } from '../node-settings.ts';
import { dataFolder } from '../open-data.ts';
import { type Check, type CheckFinding, type DoctorFlags, reasonText } from './check.ts';

/** Files and folders of a node that no store has: its identity, and its plans. */
const NODE_FILES = ['control.json', 'plans'] as const;

/** The PostgreSQL database that the flags name; `null`: none. */
function accessOf({ database, databasePasswordFile: passwordFile }: DoctorFlags): PostgresAccess | null {
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
    const missing = access === null ? null : missingPackages('postgres');
    if (missing !== null)
      return [{ state: 'failure', found: `${place} ${missing.needs}`, remedy: missing.remedy }];
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

// Checks the control plane of a node: it is reachable, accepts the token, and signs with a key that the node trusts.

/** Milliseconds for an answer of the control plane. */
const CONTROL_MS = 10_000;

/** The node token; `null`: none was given. @throws CommandFault when the file has none */
function tokenOf({ token, tokenFile }: DoctorFlags): string | null {
  if (tokenFile === undefined) return token ?? null;
  return openTokenFile(tokenFile, () => undefined).read();
}

/** What a failed request means, and what to do about it. */
function failureOf(error: unknown, control: string): CheckFinding {
  if (error instanceof TrustFault) {
    const remedy = 'edgeplan signing-key show prints the key; give it with --trust';
    return { state: 'failure', found: error.message, remedy };
  }
  if (!(error instanceof ControlPlaneFault)) return { state: 'failure', found: reasonText(error) };
  const { found, remedy } = describe(error, control);
  return { state: 'failure', found: found ?? error.message, remedy };
}

function describe(
  { code }: ControlPlaneFault,
  control: string,
): { readonly found?: string; readonly remedy: string } {
  switch (code) {
    case 'away':
      return { remedy: 'start edgeplan serve there, check --control, and let this machine reach it' };
    case 'missing':
      return {
        found: `\`${control}\` answers and is no control plane: it has no /nodes/self (404)`,
        remedy: 'check the address, the port and the path of --control: serve has the API on --port (8787)',
      };
    case 'token':
      return {
        found: 'the control plane refuses this node token',
        remedy:
          'edgeplan node-token create or rotate makes one; give it with --token-file or EDGEPLAN_NODE_TOKEN',
      };
    case 'answer':
      return { remedy: 'check the address and the port of --control, and whether a proxy changes responses' };
    default:
      return code satisfies never;
  }
}

/** Asks as a node does when it starts, and reads the first page of the manifest. */
async function ask(url: string, token: string, pinned: string | undefined): Promise<readonly CheckFinding[]> {
  const control = createControl({ url, token: () => token });
  const timeout = setTimeout(() => void control.close(), CONTROL_MS);
  try {
    const self = await control.self();
    const identity = `the control plane accepts the token of node ${self.id} \`${self.name}\``;
    const text = await control.page(0, 0);
    const first = createTrust(pinned ?? self.public_key);
    const { trust } = first.succeed(readTransitions(self.transitions));
    const { page } = trust.read(text);
    const key = `the manifest is signed with the key \`${trust.keyId}\`, in epoch ${epochOf(page)}`;
    const trusted =
      pinned === undefined
        ? `${key}; without --trust the first key is trusted`
        : `${key}, which --trust leads to`;
    return [
      { state: 'fine', found: identity },
      { state: 'fine', found: trusted },
    ];
  } finally {
    clearTimeout(timeout);
    await control.close();
  }
}

export const feed: Check = {
  name: 'feed',
  async run(flags) {
    const { control } = flags;
    if (control === undefined) return [{ state: 'skipped', found: 'no --control was given' }];
    try {
      const token = tokenOf(flags);
      if (token !== null) return await ask(control, token, flags.trust);
      const remedy = 'give the token with --token-file or EDGEPLAN_NODE_TOKEN';
      return [
        { state: 'failure', found: 'a control plane asks for a node token, and none was given', remedy },
      ];
    } catch (error) {
      return [failureOf(error, control)];
    }
  },
};

// Compares this machine's clock with that of the database's server and of the control plane.

/** Milliseconds of difference from which clearance cookies, certificates and schedules suffer. */
const MAX_DIFFERENCE_MS = 30_000;

/** The clock of another machine, milliseconds since the epoch; `null`: it sent none. */
type Reading = () => Promise<number | null>;

/** Compares a clock with the middle of the time that reading it took. */
async function compare(whose: string, read: Reading): Promise<CheckFinding> {
  let other: number | null;
  const before = Date.now();
  try {
    other = await read();
  } catch (error) {
    return { state: 'skipped', found: `the clock of ${whose} cannot be read: ${reasonText(error)}` };
  }
  if (other === null) return { state: 'skipped', found: `${whose} sent no Date header` };
  const difference = (before + Date.now()) / 2 - other;
  const seconds = Math.round(Math.abs(difference) / 1_000);
  const way = difference > 0 ? 'ahead of' : 'behind';
  const found =
    seconds < 2
      ? `this machine's clock agrees with that of ${whose}`
      : `this machine's clock is ${seconds} s ${way} that of ${whose}`;
  if (Math.abs(difference) <= MAX_DIFFERENCE_MS) return { state: 'fine', found };
  return { state: 'warning', found, remedy: 'set both by NTP (timedatectl set-ntp true, or chrony)' };
}

/** The `Date` header of any response (RFC 9110 §6.6.1), whatever its status. */
async function dateOf(url: string): Promise<number | null> {
  const response = await fetch(url, {
    method: 'HEAD',
    redirect: 'manual',
    signal: AbortSignal.timeout(CONTROL_MS),
  });
  const at = Date.parse(response.headers.get('date') ?? '');
  return Number.isNaN(at) ? null : at;
}

function readings(flags: DoctorFlags): readonly (readonly [string, Reading])[] {
  const { control } = flags;
  const access = accessOf(flags);
  return [
    ...(access === null
      ? []
      : [["the database's server", async () => (await inspectPostgres(access)).clock] as const]),
    ...(control === undefined ? [] : [['the control plane', () => dateOf(control)] as const]),
  ];
}

export const clock: Check = {
  name: 'clock',
  async run(flags) {
    const all = readings(flags);
    if (all.length === 0) {
      const found = `${new Date().toISOString()}; no --database and no --control to compare it with`;
      return [{ state: 'skipped', found }];
    }
    return Promise.all(all.map(([whose, read]) => compare(whose, read)));
  },
};

/** Compares this machine's clock with that of the database's server and of the control plane. */
import { inspectPostgres } from '../../control/store/database/inspect-store.ts';
import { type Check, type CheckFinding, type DoctorFlags, reasonText } from './check.ts';
import { accessOf } from './database.ts';
import { CONTROL_MS } from './feed.ts';

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

/**
 * The files of `sqlite-days.ts`, one for each day in a folder: which there are, their sizes, their removal, and whether there is
 * room for more.
 */
import { readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { LOOK_MS, MIN_ROOM_OCTETS } from './limits.ts';
import { dayName, dayOf, withoutRoom } from './tables.ts';

/** The days with a file in the folder, the newest first. */
export function daysIn(folder: string): readonly number[] {
  return readdirSync(folder)
    .flatMap((name) => (/^\d{4}-\d\d-\d\d\.db$/.test(name) ? [dayOf(Date.parse(name.slice(0, 10)))] : []))
    .filter((day) => Number.isSafeInteger(day))
    .sort((left, right) => right - left);
}

/** A day's file, its write-ahead log, and the index of that log. */
const ENDINGS = ['.db', '.db-wal', '.db-shm'];

function octetsOf(folder: string, day: number): number {
  return ENDINGS.reduce((sum, ending) => {
    const found = statSync(join(folder, `${dayName(day)}${ending}`), { throwIfNoEntry: false });
    return sum + (found?.size ?? 0);
  }, 0);
}

/** Octets of each day with its write-ahead log. */
export function sizesByDay(folder: string): ReadonlyMap<number, number> {
  return new Map(daysIn(folder).map((day) => [day, octetsOf(folder, day)]));
}

/** Removes the files of a day. */
export function removeDay(folder: string, day: number): void {
  for (const ending of ENDINGS) rmSync(join(folder, `${dayName(day)}${ending}`), { force: true });
}

/** The check for room before a batch. */
export interface Room {
  /** @throws LogFault `full` */
  check(now: number): void;
  /** Looks again at the next check. */
  forget(): void;
}

/** Creates a check that looks at the disk at most every `LOOK_MS`. */
export function createRoom(folder: string, totalOctets: number): Room {
  let looked = Number.NEGATIVE_INFINITY;
  let reason: string | null = null;
  function look(now: number): string | null {
    const { bavail, bsize } = statfsSync(folder);
    const [free, least] = [bavail * bsize, MIN_ROOM_OCTETS].map((octets) => Math.floor(octets / 1_048_576));
    if (free! < least!) return `the disk has ${free} MiB left, less than ${least}`;
    const days = daysIn(folder);
    const octets = days.reduce((sum, day) => sum + octetsOf(folder, day), 0);
    // With older days, the next removal makes room.
    if (octets <= totalOctets || days.some((day) => day < dayOf(now))) return null;
    return `the entries of this day take ${octets} octets, more than ${totalOctets}`;
  }
  return {
    check(now) {
      if (Math.abs(now - looked) >= LOOK_MS) {
        reason = look(now);
        looked = now;
      }
      if (reason !== null) throw withoutRoom(reason);
    },
    forget() {
      looked = Number.NEGATIVE_INFINITY;
    },
  };
}

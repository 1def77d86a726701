/**
 * Pages of tickets in a folder of several processes: agents of one group, or two while one takes over from the other. HAProxy may
 * fetch a page at each of them.
 * In: pages by the id of their ticket. Out: each page once, to the process that removes its file.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import type { EdgeAnswer } from '../../base/http/header-fields.ts';
import { makeFolder } from '../../base/platform/durable-file.ts';

/** A page that waits for its proxy. */
export interface SharedPage {
  readonly answer: EdgeAnswer;
  /** Milliseconds of the wall clock, which all processes have. */
  readonly until: number;
}

/** Pages in a folder. All methods throw the system's error where the folder cannot be used. */
export interface SharedPages {
  put(id: string, page: SharedPage): void;
  /** The answer, once among all processes; `null`: it is used, over, or unknown. */
  take(id: string): EdgeAnswer | null;
  drop(id: string): void;
  /** Removes pages whose time is over: those of processes that were killed. */
  sweep(): Promise<void>;
  /** Removes the folder. */
  remove(): void;
}

/**
 * The pages of a folder of this user alone, which is created with the first one.
 * @param folder its path
 * @param lifeMs milliseconds for which a page is of use
 */
export function openSharedPages(folder: string, lifeMs: number): SharedPages {
  const fileOf = (id: string): string => join(folder, id);
  const write = (id: string, page: SharedPage): void =>
    writeFileSync(fileOf(id), serialize(page), { mode: 0o600 });
  return {
    put(id, page) {
      try {
        write(id, page);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        // The first page, or another process has removed the folder.
        makeFolder(folder, { mode: 0o700 });
        write(id, page);
      }
    },
    take(id) {
      const taken = `${fileOf(id)}.${process.pid}`;
      try {
        // One process succeeds.
        renameSync(fileOf(id), taken);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw error;
      }
      const { answer, until } = deserialize(readFileSync(taken)) as SharedPage;
      rmSync(taken, { force: true });
      return until > Date.now() ? answer : null;
    },
    async sweep() {
      const names = await readdir(folder).catch(orNone);
      for (const name of names) {
        const file = fileOf(name);
        // Another process may have removed it.
        const [written] = await stat(file).then(({ mtimeMs }) => [mtimeMs], orNone);
        if (written !== undefined && Date.now() - written > lifeMs) await rm(file, { force: true });
      }
    },
    drop: (id) => rmSync(fileOf(id), { force: true }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Nothing, where a file or folder does not exist. */
function orNone(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

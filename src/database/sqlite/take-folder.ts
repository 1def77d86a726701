/** The lock on a node's folder: two nodes would overwrite each other's plans and cached responses. */
import { resolve } from 'node:path';
import { makeFolder } from '../../platform/make-folder.ts';
import { lockFolder } from './lock.ts';

/**
 * Creates the folder and locks it; returns the function that releases it.
 * @throws StoreFault `in_use`; the system's error when the folder cannot be made
 */
export function takeFolder(data: string): () => void {
  makeFolder(data, { mode: 0o700 });
  return lockFolder(resolve(data));
}

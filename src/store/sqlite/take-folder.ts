/** A node's folder, one node's at a time: two would write over each other's plans and cached answers. */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { lockFolder } from './lock.ts';

/**
 * Makes the folder and takes it; answers the function that lets go of it.
 * @throws StoreFault `in_use`; the system's error when the folder cannot be made
 */
export function takeFolder(data: string): () => void {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  return lockFolder(resolve(data));
}

/** A small file system in memory, to fill. Only root can mount one. */
import { spawnSync } from 'node:child_process';

/** Why none can be mounted, or `null`. */
export const NO_SMALL_DISK = process.getuid?.() === 0 ? null : 'only root may mount a small disk';

/** Mounts one of a size such as `256k` on a folder. */
export function smallDisk(folder: string, size: string): { unmount(): void } {
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
  if (status !== 0) throw new Error(`a small disk could not be mounted: ${stderr}`);
  return { unmount: () => void spawnSync('umount', ['-l', folder]) };
}

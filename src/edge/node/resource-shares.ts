/**
 * Divides what a node may use (memory, disk, connections, threads) among its processes, and removes the cache folders that
 * another number of processes left.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BUFFERED_OCTETS, threadsOf } from '../markdown/renderer.ts';
import type { CertificateFolder, EdgeNodeOptions, ServingOptions } from './options.ts';

/** Maximum size, in octets, of all opened plans of a node: some tens of thousands of small ones. */
export const OPEN_OCTETS = 512 * 1024 * 1024;

/** Settings and limits of one process; JSON-safe, as the primary sends it to workers. */
export interface ResourceShare extends ServingOptions {
  /** Octets of memory for opened plans. */
  readonly openOctets: number;
  /** Folder of cached responses; of a node with workers, the parent of their folders; `null`: in memory only. */
  readonly cacheFolder: string | null;
  /** Folder for bodies of slow clients; shared, since its files have no names. */
  readonly bufferFolder: string;
  /** Share of each domain's disk partition, above 0 up to 1. */
  readonly diskShare: number;
  /** Threads that render pages as Markdown, and octets of pages that are buffered for them. */
  readonly markdown: { readonly threads: number; readonly heldOctets: number };
  /** `null`: no folder of certificates. */
  readonly certificates: CertificateFolder | null;
}

/** The share of one process of `processes`, all alike. */
export function resourceShareOf(options: EdgeNodeOptions, processes: number): ResourceShare {
  const { tls, trusted, proxies, countries, asns, botRanges, nodeId } = options;
  const {
    anyCertificate,
    allowedOrigins,
    resolvers,
    maxAddressConnections,
    requestIdleMs,
    websocketIdleMs,
    keepUnderscores,
    bodyOctets,
    minRate,
  } = options;
  return {
    trusted,
    proxies,
    countries,
    asns,
    botRanges,
    nodeId,
    anyCertificate,
    allowedOrigins,
    resolvers,
    requestIdleMs,
    websocketIdleMs,
    keepUnderscores,
    bodyOctets,
    minRate,
    bufferFolder: join(options.data, 'buffers'),
    bufferOctets: Math.floor(options.bufferOctets / processes),
    // Undivided: connections of one address go to one process, but for those of trusted proxies.
    maxAddressConnections,
    maxConnections: countShare(options.maxConnections, processes),
    maxWebsockets: countShare(options.maxWebsockets, processes),
    cacheOctets: Math.floor(options.cacheOctets / processes),
    perOrigin: countShare(options.perOrigin, processes),
    openOctets: Math.floor(OPEN_OCTETS / processes),
    cacheFolder: options.diskCache ? cacheFolder(options.data, processes) : null,
    diskShare: 1 / processes,
    markdown: { threads: threadsOf(processes), heldOctets: Math.floor(BUFFERED_OCTETS / processes) },
    certificates: tls === null ? null : tls.folder,
  };
}

/** A process's share of a count, at least 1. */
function countShare(count: number, processes: number): number {
  return Math.max(1, Math.floor(count / processes));
}

function cacheFolder(data: string, processes: number): string {
  return join(data, processes === 1 ? 'cache' : 'cache-workers');
}

/** The cache folder of one worker: a process has exclusive use of its cache files. */
export function workerFolder(folder: string, index: number): string {
  return join(folder, String(index));
}

/** Removes, in the background, cache folders that a node of `processes` processes does not use; logs what fails. */
export function removeOtherCaches(
  { data, log }: Pick<EdgeNodeOptions, 'data' | 'log'>,
  processes: number,
): void {
  unusedFolders(data, processes)
    .then((folders) => Promise.all(folders.map((path) => rm(path, { recursive: true, force: true }))))
    .catch((error: unknown) => log.warn({ err: error }, 'an old cache cannot be removed'));
}

async function unusedFolders(data: string, processes: number): Promise<readonly string[]> {
  if (processes === 1) return [cacheFolder(data, 2)];
  const folder = cacheFolder(data, processes);
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const surplus = names.filter((name) => Number(name) >= processes).map((name) => join(folder, name));
  return [cacheFolder(data, 1), ...surplus];
}

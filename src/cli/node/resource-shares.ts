/** What each process of a node gets of what the node may take: its part of memory, disk and connections. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BUFFERED_OCTETS } from '../../markdown/limits.ts';
import { threadsOf } from '../../markdown/renderer.ts';
import { OPEN_OCTETS } from './limits.ts';
import type { CertificateFolder, NodeServeOptions, NodeStart } from './options.ts';

/** What one process serves by, as JSON: it travels to workers. */
export interface ResourceShare extends NodeServeOptions {
  /** Octets of opened plans. */
  readonly openOctets: number;
  /** Where cached answers are kept: this process's folder, or that of the workers' folders; `null`: in memory only. */
  readonly cacheFolder: string | null;
  /** Where bodies of slow clients are stored: files without names, whichever process's they are. */
  readonly bufferFolder: string;
  /** The part of each domain's room on disk. */
  readonly diskShare: number;
  /** Threads that render pages as Markdown, and octets of pages held for them. */
  readonly markdown: { readonly threads: number; readonly heldOctets: number };
  /** `null`: no TLS. */
  readonly certificates: CertificateFolder | null;
}

/** What each of so many processes serves by. */
export function resourceShareOf(start: NodeStart, processes: number): ResourceShare {
  const { tls, trusted, proxies, countries, botRanges, nodeId } = start;
  const {
    anyCertificate,
    allowedOrigins,
    resolvers,
    maxAddressConnections,
    websocketIdleMs,
    keepUnderscores,
    bodyOctets,
    minRate,
  } = start;
  return {
    trusted,
    proxies,
    countries,
    botRanges,
    nodeId,
    anyCertificate,
    allowedOrigins,
    resolvers,
    websocketIdleMs,
    keepUnderscores,
    bodyOctets,
    minRate,
    bufferFolder: join(start.data, 'buffers'),
    bufferOctets: Math.floor(start.bufferOctets / processes),
    // One address meets one process, unless a proxy speaks for it.
    maxAddressConnections,
    maxConnections: shareOf(start.maxConnections, processes),
    maxWebsockets: shareOf(start.maxWebsockets, processes),
    cacheOctets: Math.floor(start.cacheOctets / processes),
    perOrigin: shareOf(start.perOrigin, processes),
    openOctets: Math.floor(OPEN_OCTETS / processes),
    cacheFolder: start.diskCache ? cacheFolder(start.data, processes) : null,
    diskShare: 1 / processes,
    markdown: { threads: threadsOf(processes), heldOctets: Math.floor(BUFFERED_OCTETS / processes) },
    certificates: tls === null ? null : { certificates: tls.certificates, fallback: tls.fallback },
  };
}

/** Of a count, at least one. */
function shareOf(count: number, processes: number): number {
  return Math.max(1, Math.floor(count / processes));
}

function cacheFolder(data: string, processes: number): string {
  return join(data, processes === 1 ? 'cache' : 'cache-workers');
}

/** A worker's own folder: files of a cache belong to one process. */
export function workerFolder(folder: string, index: number): string {
  return join(folder, String(index));
}

/** Removes, behind, what is cached in folders that a node of so many processes has no use for. */
export function removeOtherCaches({ data, log }: Pick<NodeStart, 'data' | 'log'>, processes: number): void {
  othersOf(data, processes)
    .then((others) => Promise.all(others.map((path) => rm(path, { recursive: true, force: true }))))
    .catch((error: unknown) => log.warn({ err: error }, 'an old cache cannot be removed'));
}

async function othersOf(data: string, processes: number): Promise<readonly string[]> {
  if (processes === 1) return [cacheFolder(data, 2)];
  const folder = cacheFolder(data, processes);
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const spare = names.filter((name) => Number(name) >= processes).map((name) => join(folder, name));
  return [cacheFolder(data, 1), ...spare];
}

/** Opens batches as they are sent: inflates them where they are compressed. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { openBatch, type TrafficBatchEntry } from '../../../engine/counts/layout.ts';
import { CountsFault } from '../../../engine/counts/octets.ts';
import type { SentBatch } from './batch-files.ts';
import { MAX_FRAME_OCTETS } from './limits.ts';

const decompress = promisify(gunzip);

/** The entries of a batch; `null`: another release has sealed the batch, or it is damaged. */
export async function entriesOf({
  body,
  isGzipped,
}: SentBatch): Promise<readonly TrafficBatchEntry[] | null> {
  try {
    return openBatch(isGzipped ? await decompress(body, { maxOutputLength: MAX_FRAME_OCTETS }) : body)
      .entries;
  } catch (error) {
    if (error instanceof CountsFault || isZlibError(error)) return null;
    throw error;
  }
}

/** Whether octets could not be inflated: zlib's codes begin with `Z_`; the other is for too many octets. */
function isZlibError(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && (code.startsWith('Z_') || code === 'ERR_BUFFER_TOO_LARGE');
}

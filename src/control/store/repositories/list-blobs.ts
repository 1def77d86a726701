/** The sealed forms that plans refer to by digest: those of lists, and of registries. */
import { type Session, statement } from '../database/statement.ts';

/** Sealed octets to store. */
interface Blob {
  readonly digest: string;
  readonly bytes: Uint8Array;
  readonly at: number;
}

const putBlob = statement((builder, p: Blob) =>
  builder
    .insertInto('list_blobs')
    .values({ digest: p.digest, bytes: p.bytes, created_at: p.at })
    .onConflict((conflict) =>
      conflict.column('digest').doUpdateSet((row) => ({ created_at: row.ref('excluded.created_at') })),
    ),
);

/** Stores sealed octets. Of those that are stored already the time rises, so that they are not pruned meanwhile. */
export async function putListBlob(session: Session, blob: Blob): Promise<void> {
  await putBlob(session, blob);
}

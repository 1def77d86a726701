/** The positions of the manifest, which every change of a name takes one of. */
import { statement } from '../statement.ts';

/** Locks the one row of positions until the commit, so positions become visible in their order. */
export const nextPosition = statement((builder, _: object) =>
  builder
    .updateTable('manifest_position')
    .set((row) => ({ position: row('position', '+', 1) }))
    .returning('position'),
);

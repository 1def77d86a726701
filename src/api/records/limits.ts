/** Items of one batch of records. Given (semantics §6). */
export const MAX_BATCH = 500;

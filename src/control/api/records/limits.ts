/** Items of one batch of records, at most. Given (semantics §6). */
export const MAX_BATCH = 500;

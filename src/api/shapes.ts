/** What many operations answer with, or have in their answers. */
import { z } from 'zod';

export const messageShape = z.object({ message: z.string() }).meta({ id: 'Message' });

/** What every page of a long answer says of itself, its `next` apart. */
export const pageNote = z.object({
  limit: z.int(),
  /** Entries of this page, and of all pages. */
  shown: z.int(),
  of: z.int(),
});

/** Lists of which only the beginning is shown, with their lengths. */
export const shortenedList = z.array(z.object({ path: z.string(), of: z.int() }));

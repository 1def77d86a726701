/** Response schemas that several operations share. */
import { z } from 'zod';

/** The `{ message }` object. */
export const messageShape = z.object({ message: z.string() }).meta({ id: 'Message' });

/** The page note of a long answer; each operation adds its own `next`. */
export const pageNote = z.object({
  limit: z.int(),
  /** Entries of this page, and of all pages. */
  shown: z.int(),
  of: z.int(),
});

/** The lists of an answer that were shortened, with their full lengths. */
export const shortenedList = z.array(z.object({ path: z.string(), of: z.int() }));

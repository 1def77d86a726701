/** The body that many operations answer with. */
import { z } from 'zod';

export const messageShape = z.object({ message: z.string() }).meta({ id: 'Message' });

/** How a gateway validates the bodies of requests (semantics §15). */
import { z } from 'zod';
import { MAX_BODY_CAP_KB } from '../../../base/vocabulary/limits.ts';
import { VALIDATION_MODES } from '../../../base/vocabulary/vocabulary.ts';
import { integer } from '../fields.ts';

/** The fields of `validation`. */
export const VALIDATION_FIELDS = {
  on_invalid: z
    .enum(VALIDATION_MODES)
    .default('block')
    .describe(
      'bodies that `body` of their operation does not describe: `block` answers 415 or 400, `log` forwards them with a reason in the log, `pass` reads no bodies',
    )
    .meta({ examples: ['log'] }),
  on_uninspected: z
    .enum(VALIDATION_MODES)
    .default('block')
    .describe(
      'bodies that cannot be read whole: longer than `body_cap_kb`, in a content coding that is not known, or nested too deep. `block` answers 413 or 415; `log` and `pass` forward them, `log` with a reason in the log',
    )
    .meta({ examples: ['pass'] }),
  body_cap_kb: integer(1, MAX_BODY_CAP_KB)
    .default(128)
    .describe('size, in KiB, up to which bodies are read')
    .meta({ examples: [64] }),
};

/** How a gateway validates the bodies of requests (semantics §15). */
import { z } from 'zod';
import { MAX_BODY_CAP_KB } from '../../../base/vocabulary/limits.ts';
import { VALIDATION_MODES } from '../../../base/vocabulary/vocabulary.ts';
import { integer } from '../fields.ts';
import type { Stored } from '../form.ts';

const DEFAULT_CAP_KB = 128;

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
    .default(DEFAULT_CAP_KB)
    .describe('size, in KiB, up to which bodies are read')
    .meta({ examples: [64] }),
};

/** The same fields of an operation, of which absent ones are those of the gateway. */
export const OPERATION_VALIDATION_FIELDS = {
  on_invalid: withoutDefault(VALIDATION_FIELDS.on_invalid),
  on_uninspected: withoutDefault(VALIDATION_FIELDS.on_uninspected),
  body_cap_kb: withoutDefault(VALIDATION_FIELDS.body_cap_kb),
};

function withoutDefault<S extends z.ZodType>(field: z.ZodDefault<S>): z.ZodOptional<S> {
  return field
    .removeDefault()
    .optional()
    .meta({ ...field.meta() });
}

/** How the bodies of an operation are validated; `null`: they are not. */
export function validationOf(
  gateway: Validation | undefined,
  operation: Stored<typeof OPERATION_VALIDATION_FIELDS> | undefined,
): Validation | null {
  if (operation === undefined) return gateway ?? null;
  return { ...DEFAULTS, ...gateway, ...operation } as Validation;
}

/** How bodies are validated. */
export type Validation = Stored<typeof VALIDATION_FIELDS>;

const DEFAULTS: Validation = { on_invalid: 'block', on_uninspected: 'block', body_cap_kb: DEFAULT_CAP_KB };

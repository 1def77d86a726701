/** Codes of the lines that `edgeplan billing import` reads. */
import type { CodeList } from './code.ts';

export const BILLING_CODES = {
  conflicting_line: {
    severity: 'error',
    meaning:
      'a line with the same `at` was imported before and says something else, so neither of the two is the newer one',
    remedy: 'send the line again with the time of its last change as `at`',
  },
  foreign_invoice: {
    severity: 'error',
    meaning: 'an invoice with this `id` belongs to another account',
    remedy: 'give each invoice an id of its own; void the other one if the account was wrong',
  },
  future_line: {
    severity: 'error',
    meaning: 'the `at` of the line is more than a day ahead; true lines after it would count as older ones',
    remedy: 'correct `at`, or the clock of one of the machines',
  },
  invalid_json: {
    severity: 'error',
    meaning: 'the line is no JSON object in UTF-8, or is longer than a line may be',
    remedy: 'write one object on each line, without line breaks inside it',
  },
  unknown_account: {
    severity: 'error',
    meaning: 'there is no account of this name',
    remedy: 'create the account first (`edgeplan account create`), or correct the name',
  },
} as const satisfies CodeList;

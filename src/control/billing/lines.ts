/**
 * The forms of the lines that `edgeplan billing import` reads. In: the octets of one line of JSON. Out: a wallet or an
 * invoice with times in milliseconds, or the diagnostics that name field and reason.
 *
 * Every line has a `kind`, an `id` of the operator's billing, the `account` by name, and `at`, when it was true there: of two
 * lines about one wallet or invoice the one with the later `at` counts, so the order of lines and files does not matter.
 */
import { z } from 'zod';
import { normalizeName } from '../../base/addresses/host.ts';
import type { Diagnostic } from '../../base/diagnostics/diagnostic.ts';
import { checked, converted, filledText, integer, list } from '../../rules/model/fields.ts';
import { crossCheck, type Fields, type Form, form, plainCopy, readForm } from '../../rules/model/form.ts';
import { createPatternBook } from '../../rules/model/pattern.ts';
import { createReport } from '../../rules/model/report.ts';
import { MAX_LABEL_CHARACTERS } from '../accounts/keys.ts';
import { INVOICE_STATUSES, type InvoiceStatus } from '../store/tables/billing.ts';
import {
  MAX_AMOUNT,
  MAX_INVOICE_LINES,
  MAX_LINE_OCTETS,
  MAX_LINE_TEXT,
  MAX_REF_CHARACTERS,
} from './limits.ts';

/** What a line can be about. */
export const LINE_KINDS = ['wallet', 'invoice'] as const;

/** The balance of an account. */
export interface WalletLine {
  readonly kind: 'wallet';
  readonly id: string;
  /** The name of the account. */
  readonly account: string;
  /** Minor units of the currency. */
  readonly balance: number;
  readonly currency: string;
  /** Milliseconds since the epoch, here and below. */
  readonly at: number;
}

/** One charge of an invoice. */
export interface InvoiceCharge {
  readonly description: string;
  /** Minor units of the invoice's currency. */
  readonly amount: number;
}

/** An invoice of an account. */
export interface InvoiceLine {
  readonly kind: 'invoice';
  readonly id: string;
  readonly account: string;
  readonly number: string;
  readonly domain: string | null;
  readonly status: InvoiceStatus;
  readonly currency: string;
  readonly total: number;
  readonly period_start: number | null;
  readonly period_end: number | null;
  readonly issued_at: number;
  readonly due_at: number | null;
  readonly paid_at: number | null;
  readonly lines: readonly InvoiceCharge[];
  readonly at: number;
}

/** A line that was read, or what is wrong with it. */
export type ReadBillingLine =
  | { readonly ok: true; readonly line: WalletLine | InvoiceLine }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Whether the day of a `YYYY-MM-DD…` exists; `Date.parse` reads the 30th of February as the 2nd of March. */
function isDay(text: string): boolean {
  const at = Date.parse(`${text.slice(0, 10)}T00:00:00Z`);
  return Number.isFinite(at) && new Date(at).toISOString().startsWith(text.slice(0, 10));
}

/** A time as RFC 3339 §5.6 writes it, as milliseconds since the epoch; digits after them are dropped. */
const time = converted(
  (value) => {
    const at = TIME.test(value) && isDay(value) ? Date.parse(value.toUpperCase()) : Number.NaN;
    if (at >= 0) return { value: at };
    const message = 'must be an RFC 3339 time from 1970 on, like `2026-11-25T12:00:00Z`';
    return { problem: { code: 'invalid_time', message } };
  },
  { format: 'date-time' },
);

/** The name of a domain, which need not exist: an invoice outlives it. */
const domainName = converted((value) => {
  const name = normalizeName(value);
  if (name !== null) return { value: name };
  return { problem: { code: 'invalid_name', message: 'must be the name of a domain' } };
});

/** An amount in minor units. */
const amount = integer(-MAX_AMOUNT, MAX_AMOUNT);

/** The code of a currency; which codes exist changes, so any three capital letters are accepted. */
const currency = checked(z.string(), (value) =>
  /^[A-Z]{3}$/.test(value)
    ? null
    : { code: 'invalid_value', message: 'must be a currency of ISO 4217, three capital letters like `EUR`' },
);

/** The fields of every line. */
const COMMON = {
  id: filledText(MAX_REF_CHARACTERS),
  account: filledText(MAX_LABEL_CHARACTERS),
  currency,
  at: time,
} as const;

const walletForm = form({
  fields: { kind: z.literal('wallet'), ...COMMON, balance: amount },
  ignored: [],
  finish: (values): WalletLine => values,
});

/** A field that may be absent or `null`. */
const orNull = <T extends z.ZodType>(schema: T) => schema.nullable().default(null as never);

const charge = z.strictObject({ description: filledText(MAX_LINE_TEXT), amount });

const INVOICE_FIELDS = {
  kind: z.literal('invoice'),
  ...COMMON,
  number: filledText(MAX_REF_CHARACTERS),
  domain: orNull(domainName),
  status: z.enum(INVOICE_STATUSES),
  total: amount,
  period_start: orNull(time),
  period_end: orNull(time),
  issued_at: time,
  due_at: orNull(time),
  paid_at: orNull(time),
  lines: list(charge, MAX_INVOICE_LINES).default([]),
} as const;

/** The fields of an invoice that are checked together. */
type Dates = Pick<InvoiceLine, 'status' | 'paid_at' | 'period_start' | 'period_end'>;

const invoiceForm = form({
  fields: INVOICE_FIELDS,
  ignored: [],
  nested: { lines: ['description', 'amount'] },
  checks: [
    crossCheck<Dates>(['status', 'paid_at'], ({ status, paid_at }, scope) => {
      if (status === 'paid' && paid_at === null) {
        const message = 'is missing; a paid invoice has the time of its payment';
        scope.error(['paid_at'], { code: 'missing_field', message, found: null });
      }
      if (status === 'open' && paid_at !== null) {
        const message = 'must be `null` while the invoice is open; or set `status` to `paid`';
        scope.error(['paid_at'], { code: 'invalid_value', message, found: null });
      }
    }),
    crossCheck<Dates>(['period_start', 'period_end'], ({ period_start, period_end }, scope) => {
      if (period_start === null || period_end === null || period_start < period_end) return;
      const message = 'must be after `period_start`';
      scope.error(['period_end'], { code: 'invalid_time', message, found: null });
    }),
  ],
  finish: (values): InvoiceLine => values,
});

/** Reads the kind alone. */
const kindForm = form({
  fields: { kind: z.enum(LINE_KINDS) },
  ignored: [],
  finish: ({ kind }) => kind,
});

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Reads one line; `null`: it is blank. `bytes`: the line without its end; `null` if it is longer than any reader accepts. */
export function readLine(bytes: Uint8Array | null): ReadBillingLine | null {
  if (bytes === null || bytes.length > MAX_LINE_OCTETS) {
    const message = `the line has more than ${MAX_LINE_OCTETS} octets`;
    return refused({ code: 'invalid_json', message });
  }
  let value: unknown;
  try {
    const text = UTF8.decode(bytes);
    if (text.trim() === '') return null;
    value = JSON.parse(text);
  } catch {
    return refused({ code: 'invalid_json', message: 'the line is not JSON in UTF-8' });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refused({ code: 'invalid_json', message: 'the line is JSON, but not an object' });
  switch ((value as { readonly kind?: unknown }).kind) {
    case 'wallet':
      return read(walletForm, value);
    case 'invoice':
      return read(invoiceForm, value);
    default:
      return read(kindForm, { kind: (value as { readonly kind?: unknown }).kind }) as ReadBillingLine;
  }
}

/** A line refused as a whole. */
export function refused(
  problem: Omit<Diagnostic, 'severity' | 'path' | 'at'> & { readonly path?: Diagnostic['path'] },
): {
  readonly ok: false;
  readonly diagnostics: readonly Diagnostic[];
} {
  return { ok: false, diagnostics: [{ severity: 'error', path: [], ...problem }] };
}

/** Reads an object by a form. */
function read<F extends Fields, Out>(by: Form<F, Out>, value: unknown) {
  const report = createReport();
  const line = readForm(by, plainCopy(value)?.value, { report, patterns: createPatternBook(), path: [] });
  if (line === null) return { ok: false, diagnostics: report.diagnostics() } as const;
  return { ok: true, line } as const;
}

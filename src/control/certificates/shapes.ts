/** Certificates as the API takes and answers them: forms, schemas, and rows in their form. A key is in no answer. */
import { z } from 'zod';
import { diagnosticFields } from '../../base/diagnostics/diagnostic.ts';
import { timeText } from '../../base/text/time.ts';
import { text } from '../../rules/model/fields.ts';
import { form } from '../../rules/model/form.ts';
import { uncoveredNames } from '../../rules/model/record-name.ts';
import { CERTIFICATE_SOURCES, type CertificateRow } from '../store/tables/certificates.ts';
import type { RecordRow } from '../store/tables/rules.ts';
import type { JudgedUpload } from './judge.ts';
import { EXPIRING_MS } from './limits.ts';

// The state of certificates at a time, which the store does not have: it follows from their ends. Pure.

/** The states of one certificate. */
const SHOWN_STATES = ['pending', 'active', 'failed', 'expired', 'revoked'] as const;
/** One of SHOWN_STATES. */
export type ShownState = (typeof SHOWN_STATES)[number];

/** The states of all certificates of a domain together. */
const SSL_STATUSES = ['none', 'pending', 'active', 'expiring', 'expired', 'failed'] as const;
/** One of SSL_STATUSES. */
export type SslStatus = (typeof SSL_STATUSES)[number];

const DAY_MS = 86_400_000;

/** The state of a certificate at a time, milliseconds since the epoch. */
export function stateAt({ status, not_after }: CertificateRow, now: number): ShownState {
  return status === 'active' && not_after <= now ? 'expired' : status;
}

/** Whether a certificate was issued: an obtained one is not before its first order succeeds. */
function isIssued({ not_after }: Pick<CertificateRow, 'not_after'>): boolean {
  return not_after > 0;
}

/** What the state of a domain follows from. */
export interface SslFacts {
  readonly certificates: readonly CertificateRow[];
  readonly records: readonly Pick<RecordRow, 'name' | 'proxied'>[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The certificates of a domain in short. */
export interface SslSummary {
  readonly status: SslStatus;
  readonly expires_at?: string;
  readonly days_remaining?: number;
  readonly uncovered_hostnames?: string[];
}

/** The states in the order in which one of them describes the domain; `revoked` ones count as none. */
const RANKS: readonly ShownState[] = ['active', 'expired', 'pending', 'failed'];

/**
 * The state of the certificate in force that expires last, else of the last that has expired, else of one that is pending
 * or has failed; and the proxied names that none in force covers.
 */
export function summarizeSsl(domain: string, { certificates, records, now }: SslFacts): SslSummary {
  const stated = certificates.map((row) => ({ row, state: stateAt(row, now) }));
  const covered = stated.flatMap(({ row, state }) =>
    state === 'active' ? (JSON.parse(row.names_json) as string[]) : [],
  );
  const uncovered = uncoveredNames(records, { domain, covered });
  const open = uncovered.length === 0 ? {} : { uncovered_hostnames: [...uncovered] };
  const best = RANKS.flatMap((rank) =>
    stated
      .filter(({ state }) => state === rank)
      .sort((left, right) => right.row.not_after - left.row.not_after)
      .slice(0, 1),
  ).at(0);
  if (best === undefined || best.state === 'revoked') return { status: 'none', ...open };
  const { state } = best;
  const { not_after: end } = best.row;
  if (!isIssued(best.row)) return { status: state, ...open };
  return {
    status: state === 'active' && end <= now + EXPIRING_MS ? 'expiring' : state,
    expires_at: timeText(end),
    days_remaining: Math.max(0, Math.floor((end - now) / DAY_MS)),
    ...open,
  };
}

const time = z.iso.datetime();

/** The texts of an upload; their form is judged by `judge.ts`, whose diagnostics repeat nothing of a key. */
const certificateText = text()
  .describe('PEM: the certificate first, then each issuer')
  .meta({ examples: ['-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n'] });
const keyText = text()
  .describe(
    'PEM: the private key of the certificate, without a passphrase; stored encrypted and never answered',
  )
  .meta({ examples: ['-----BEGIN PRIVATE KEY-----\nMIGH…\n-----END PRIVATE KEY-----\n'] });

/** A certificate to upload. */
export interface UploadFields {
  readonly certificate: string;
  readonly key: string;
}

/** The form of an upload. */
export const uploadForm = form({
  fields: { certificate: certificateText, key: keyText },
  ignored: [],
  finish: (values): UploadFields => values,
});

/** Names to obtain a certificate for; `null`: those that no certificate covers. */
export interface IssueFields {
  readonly names: readonly string[] | null;
}

/** The form of a request for a certificate. */
export const issueForm = form({
  fields: {
    names: z
      .array(text())
      .min(1)
      .max(100)
      .nullable()
      .default(null)
      .describe(
        'names of the domain; wildcards where this service answers for its zone; absent: all uncovered ones',
      )
      .meta({ examples: [['shop.example', '*.shop.example']] }),
  },
  ignored: [],
  finish: (values): IssueFields => values,
});

/** The form of a question; `key`: `null` or absent: only the chain is read. */
export const parseForm = form({
  fields: { certificate: certificateText, key: keyText.nullable().default(null) },
  ignored: [],
  finish: (values): { readonly certificate: string; readonly key: string | null } => values,
});

/** The certificates of a domain in short. */
export const SSL = z.object({
  status: z
    .enum(SSL_STATUSES)
    .describe('of the certificate that is in force for longest; `expiring`: for 14 days at most'),
  expires_at: time.optional().describe('when it expires'),
  days_remaining: z.int().optional().describe('whole days until then'),
  uncovered_hostnames: z
    .array(z.string())
    .optional()
    .describe('proxied names that no certificate in force covers; absent: there are none'),
});

/** The fields that a certificate has in every answer. */
const CERTIFICATE_FIELDS = {
  names: z
    .array(z.string())
    .describe('its DNS names')
    .meta({ examples: [['shop.example', '*.shop.example']] }),
  issuer: z
    .string()
    .describe('the name of its issuer')
    .meta({ examples: ["Let's Encrypt R11"] }),
  not_before: time.describe('when it begins to be in force'),
  not_after: time.describe('when it expires'),
  key_type: z
    .string()
    .describe('the type of its key')
    .meta({ examples: ['P-256'] }),
  sha256: z
    .string()
    .describe('SHA-256 of the certificate, lower-case hex')
    .meta({ examples: ['5f1c9c3b0d2e4a6788f0e1d2c3b4a5968778695a4b3c2d1e0f00112233445566'] }),
} as const;

/** The same where the certificate may not be issued yet. */
const ISSUED_FIELDS = {
  issuer: CERTIFICATE_FIELDS.issuer.optional(),
  not_before: time
    .optional()
    .describe('when it begins to be in force; absent, as the next three: it is not issued'),
  not_after: time.optional().describe('when it expires'),
  key_type: CERTIFICATE_FIELDS.key_type.optional(),
  sha256: CERTIFICATE_FIELDS.sha256.optional(),
} as const;

/** A certificate of a domain. */
export const CERTIFICATE = z
  .object({
    id: z
      .int()
      .describe('the id of the certificate')
      .meta({ examples: [7] }),
    source: z.enum(CERTIFICATE_SOURCES).describe('`custom`: uploaded; `acme`: issued for the domain'),
    names: CERTIFICATE_FIELDS.names,
    ...ISSUED_FIELDS,
    status: z
      .enum(SHOWN_STATES)
      .describe(
        '`active`: nodes serve it; `pending`: it is being obtained; `failed`: it is tried again, or has lost its key',
      ),
    error: z.string().optional().describe('why it failed, or is not renewed'),
    renew_at: time.optional().describe('when it is renewed; absent: nothing renews it'),
  })
  .meta({ id: 'Certificate' });

/** All certificates of a domain. */
export const CERTIFICATES = z
  .object({
    status: SSL.shape.status,
    certificates: z.array(CERTIFICATE).describe('by id'),
    uncovered_hostnames: SSL.shape.uncovered_hostnames,
  })
  .meta({ id: 'Certificates' });

/** What a sent certificate is, and what is wrong with it. */
export const PARSED = z
  .object({
    valid: z.boolean().describe('an upload would be accepted; without `key`: as far as that can be judged'),
    certificate: z
      .object({
        ...CERTIFICATE_FIELDS,
        chain: z
          .int()
          .describe('certificates of the chain, without a root')
          .meta({ examples: [2] }),
      })
      .nullable()
      .describe('the first certificate; `null`: it cannot be read'),
    key: z
      .object({
        key_type: z
          .string()
          .describe('the type of the private key')
          .meta({ examples: ['P-256'] }),
        fits: z.boolean().describe('it belongs to the certificate'),
      })
      .nullable()
      .describe('`null`: it was not sent, or cannot be read'),
    findings: z
      .array(
        z.object({
          severity: z.enum(['error', 'warning', 'info']).describe('an `error` refuses an upload'),
          code: z
            .string()
            .describe('stable across versions')
            .meta({ examples: ['certificate_order'] }),
          path: z
            .string()
            .describe('the field')
            .meta({ examples: ['certificate'] }),
          message: z.string().describe('what is wrong'),
          found: z.string().nullable().describe('what was found'),
          remedy: z.string().nullable().describe('what would be right'),
        }),
      )
      .describe('what is wrong, and what is worth knowing'),
  })
  .meta({ id: 'ParsedCertificate' });

/** A certificate in the form of the API. `now`: milliseconds since the epoch. */
export function showCertificate(row: CertificateRow, now: number): z.output<typeof CERTIFICATE> {
  return {
    id: row.id,
    source: row.source,
    names: JSON.parse(row.names_json) as string[],
    ...(isIssued(row) ? issuedFields(row) : {}),
    status: stateAt(row, now),
    ...(row.error === '' ? {} : { error: row.error }),
    ...(row.renew_at === null ? {} : { renew_at: timeText(row.renew_at) }),
  };
}

function issuedFields(row: CertificateRow) {
  const { issuer, not_before, not_after, key_type, sha256 } = row;
  return { issuer, not_before: timeText(not_before), not_after: timeText(not_after), key_type, sha256 };
}

/** The answer to a question. */
export function showParsed({ certificate, key, diagnostics }: JudgedUpload): z.output<typeof PARSED> {
  return {
    valid: certificate !== null && !diagnostics.some(({ severity }) => severity === 'error'),
    certificate:
      certificate === null
        ? null
        : {
            ...certificate,
            names: [...certificate.names],
            not_before: timeText(certificate.not_before),
            not_after: timeText(certificate.not_after),
          },
    key,
    findings: diagnostics.map(diagnosticFields) as z.output<typeof PARSED>['findings'],
  };
}

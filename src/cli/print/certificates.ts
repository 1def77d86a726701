/** Prints certificates: those of a domain, and what a sent one is. */
import { visible } from '../../workbench/simulation/render-text.ts';
import { tableText } from './table.ts';

/** A certificate as the API answers it. */
export interface PrintedCertificate {
  readonly id: number;
  readonly source: string;
  readonly names: readonly string[];
  /** Absent as the next two while it is not issued. */
  readonly issuer?: string;
  readonly not_after?: string;
  readonly key_type?: string;
  readonly status: string;
  readonly error?: string;
}

/** The certificates of a domain as the API answers them. */
export interface PrintedCertificates {
  readonly status: string;
  readonly certificates: readonly PrintedCertificate[];
  readonly uncovered_hostnames?: readonly string[];
}

/** What a sent certificate is, as the API answers it. */
export interface PrintedParse {
  readonly valid: boolean;
  readonly certificate:
    | (Required<Omit<PrintedCertificate, 'id' | 'source' | 'status' | 'error'>> & { readonly chain: number })
    | null;
  readonly key: { readonly key_type: string; readonly fits: boolean } | null;
  readonly findings: readonly {
    readonly severity: string;
    readonly path: string;
    readonly message: string;
    readonly found: string | null;
    readonly remedy: string | null;
  }[];
}

/** Names of a line, at most. */
const NAMES_SHOWN = 3;

/** The certificates of a domain as text. */
export function certificatesText({
  status,
  certificates,
  uncovered_hostnames: open,
}: PrintedCertificates): string {
  const rows = certificates.map((one) => [
    String(one.id),
    one.status,
    one.source,
    one.not_after?.slice(0, 10) ?? '',
    one.key_type ?? '',
    namesText(one.names),
    one.error ?? one.issuer ?? '',
  ]);
  const table = tableText(['id', 'status', 'source', 'until', 'key', 'names', 'issuer or error'], rows);
  const uncovered =
    open === undefined
      ? ''
      : tableText(
          ['without a certificate in force'],
          open.map((name) => [name]),
        );
  return `status: ${visible(status)}\n${table}${uncovered}`;
}

/** What a certificate is, and what is wrong with it. */
export function parsedText({ certificate, key, findings }: PrintedParse): string {
  const facts =
    certificate === null
      ? []
      : [
          ['names', namesText(certificate.names)],
          ['issuer', certificate.issuer],
          ['until', certificate.not_after],
          ['key', certificate.key_type],
          ['chain', String(certificate.chain)],
          ...(key === null ? [] : [['private key', key.fits ? 'belongs to it' : 'does not belong to it']]),
        ];
  const found = findings.map(({ severity, path, message, found, remedy }) => [
    severity,
    `${path}: ${message}${found === null ? '' : `, found ${found}`}${remedy === null ? '' : `; ${remedy}`}`,
  ]);
  return `${tableText(['certificate', ''], facts)}${tableText(['finding', ''], found)}`;
}

function namesText(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN;
  return `${names.slice(0, NAMES_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

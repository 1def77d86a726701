/** Issued certificates: download, revocation (RFC 8555 section 7.6) and renewal information (RFC 9773). */
import { X509Certificate } from 'node:crypto';
import { type Answer, accountOf, type Call } from './call.ts';
import { Problem } from './problem.ts';
import { dateText, type Issued, type RenewalWindow, type State } from './state.ts';

/** The chain of a certificate, for the account that ordered it. */
export function certificate(state: State, call: Call): Answer {
  const found = state.certificates.get(call.url);
  if (found === undefined || found.accountUrl !== accountOf(call).url)
    throw new Problem('malformed', { detail: `nothing is at \`${call.url}\``, status: 404 });
  return { status: 200, body: found.pem, headers: { 'content-type': 'application/pem-certificate-chain' } };
}

/** Revokes a certificate for its account, or for the key of the certificate. */
export function revokeCert(state: State, { payload, signer }: Call): Answer {
  const bytes = payload?.['certificate'];
  if (typeof bytes !== 'string' || signer === null)
    throw new Problem('malformed', { detail: 'the certificate is missing' });
  const parsed = readCertificate(bytes);
  const found = state.records.issued.find(({ serial }) => serial === parsed.serialNumber);
  if (found === undefined)
    throw new Problem('malformed', { detail: 'the certificate is of another authority', status: 404 });
  const isAllowed =
    signer.account === null ? signer.key.equals(parsed.publicKey) : signer.account.url === found.accountUrl;
  if (!isAllowed)
    throw new Problem('unauthorized', { detail: 'the certificate is of another account', status: 403 });
  if (found.revokedAt !== null)
    throw new Problem('alreadyRevoked', { detail: 'the certificate is revoked already' });
  found.revokedAt = state.options.clock();
  return { status: 200 };
}

function readCertificate(bytes: string): X509Certificate {
  try {
    return new X509Certificate(Buffer.from(bytes, 'base64url'));
  } catch {
    throw new Problem('malformed', { detail: 'the certificate cannot be read' });
  }
}

/** When a certificate is to be renewed; the identifier is the end of the path, and nobody has to sign. */
export function renewalInfo(state: State, { url }: Call): Answer {
  const certId = url.slice(url.lastIndexOf('/') + 1);
  if (!/^[\w-]+\.[\w-]+$/.test(certId))
    throw new Problem('malformed', { detail: `\`${certId}\` is no identifier of a certificate` });
  const found = state.issuedByCertId.get(certId);
  if (found === undefined)
    throw new Problem('malformed', { detail: `no certificate is \`${certId}\``, status: 404 });
  const { start, end, explanationUrl } = state.faults.renewalWindow?.(found) ?? usualWindow(found);
  const body = {
    suggestedWindow: { start: dateText(start), end: dateText(end) },
    ...(explanationUrl === undefined ? {} : { explanationURL: explanationUrl }),
  };
  return { status: 200, body, headers: { 'retry-after': state.faults.renewalRetryAfter } };
}

/** Late in the lifetime; over already for a certificate that is revoked. */
function usualWindow({ notBefore, notAfter, revokedAt }: Issued): RenewalWindow {
  if (revokedAt !== null) return { start: revokedAt - 3_600_000, end: revokedAt };
  const third = (notAfter - notBefore) / 3;
  return { start: notAfter - third, end: notAfter - third + third / 10 };
}

/**
 * Judges the order of a chain: each certificate is issued by the next one. A root at its end is left out, since clients
 * have it. Out: the chain without a root; problems as diagnostics.
 */
import type { X509Certificate } from 'node:crypto';
import { type Diagnostic, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { timeText } from '../../base/text/time.ts';
import { CLOCK_SKEW_MS, MOST_RSA_BITS } from './limits.ts';

/** The time, milliseconds since the epoch, and where diagnostics are added. */
export interface ChainJudging {
  readonly now: number;
  readonly diagnostics: Diagnostic[];
}

/** The chain to store. */
export function judgeChain(
  chain: readonly X509Certificate[],
  { now, diagnostics }: ChainJudging,
): readonly X509Certificate[] {
  for (const [index, one] of chain.entries()) judgeTime(one, { index, now, diagnostics });
  const wrong = chain.findIndex((one, index) => {
    const next = chain[index + 1];
    return next !== undefined && !isIssuedBy(one, next);
  });
  if (wrong >= 0) {
    diagnostics.push({
      ...{ code: 'certificate_order', severity: 'error', path: ['certificate'] },
      message: `certificate ${wrong + 1} (${subjectOf(chain[wrong]!)}) is not issued by certificate ${wrong + 2} (${subjectOf(chain[wrong + 1]!)})`,
      remedy: orderRemedy(chain),
    });
    return chain;
  }
  const last = chain.at(-1)!;
  if (!isIssuedBy(last, last)) {
    if (chain.length === 1)
      diagnostics.push({
        ...{ code: 'certificate_issuer_missing', severity: 'warning', path: ['certificate'] },
        message: 'the chain has no issuer of the certificate, which many clients cannot find on their own',
        remedy: 'send the whole chain, often called fullchain.pem',
      });
    return chain;
  }
  if (chain.length === 1) {
    diagnostics.push({
      ...{ code: 'certificate_self_signed', severity: 'warning', path: ['certificate'] },
      message: 'the certificate is issued by itself, so no browser trusts it',
      remedy: 'request one from a certificate authority, unless your clients have this one',
    });
    return chain;
  }
  diagnostics.push({
    ...{ code: 'certificate_root', severity: 'info', path: ['certificate'] },
    message: `certificate ${chain.length} (${subjectOf(last)}) is a root, which clients have; it is left out`,
  });
  return chain.slice(0, -1);
}

function judgeTime(
  one: X509Certificate,
  { index, now, diagnostics }: ChainJudging & { readonly index: number },
): void {
  const begins = Date.parse(one.validFrom);
  const ends = Date.parse(one.validTo);
  const which = `certificate ${index + 1} (${subjectOf(one)})`;
  if (ends <= now)
    diagnostics.push({
      ...{ code: 'certificate_expired', severity: 'error', path: ['certificate'] },
      message: `${which} expired at ${timeText(ends)}`,
      remedy: 'request a new certificate from its issuer',
    });
  else if (begins > now + CLOCK_SKEW_MS)
    diagnostics.push({
      ...{ code: 'certificate_not_yet_valid', severity: 'error', path: ['certificate'] },
      message: `${which} is valid from ${timeText(begins)} on`,
      remedy: 'upload it after that time',
    });
}

/** Whether name and signature say that `issuer`, which is a CA, has issued a certificate. */
function isIssuedBy(one: X509Certificate, issuer: X509Certificate): boolean {
  try {
    if ((!issuer.ca && one !== issuer) || !one.checkIssued(issuer)) return false;
    const { publicKey } = issuer;
    // The work of a verification rises with the size of the key.
    if ((publicKey.asymmetricKeyDetails?.modulusLength ?? 0) > MOST_RSA_BITS) return false;
    return one.verify(publicKey);
  } catch {
    return false;
  }
}

/** What would be right: the order in which the certificates form a chain by their names, if there is one. */
function orderRemedy(chain: readonly X509Certificate[]): string {
  const leaf = chain.findIndex((one) => !chain.some((other) => other !== one && other.checkIssued(one)));
  const order = [leaf];
  while (leaf >= 0 && order.length < chain.length) {
    const last = chain[order.at(-1)!]!;
    const next = chain.findIndex((one, index) => !order.includes(index) && last.checkIssued(one));
    if (next < 0) break;
    order.push(next);
  }
  if (order.length < chain.length)
    return "put the domain's certificate first, then each certificate's issuer";
  return `put them in the order ${order.map((index) => index + 1).join(', ')}`;
}

/** The common name of a certificate, quoted, or the whole of its name. */
function subjectOf({ subject }: X509Certificate): string {
  const parts = (subject ?? '').split('\n');
  const common = parts.find((part) => part.startsWith('CN='))?.slice(3);
  return quoteValue(common ?? parts.join(', '));
}

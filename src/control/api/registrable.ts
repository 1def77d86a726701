/**
 * Decides which names an account may register: one label below a public suffix, or more (Public Suffix List,
 * publicsuffix.org, by `tldts`). Unrelated parties share a suffix itself, also in the list's private section (`github.io`).
 * A name under no suffix of the list, such as the special-use names of RFC 6761 and RFC 6762 (`.test`, `.local`), has no
 * owner in the public DNS, so a proof of it is worthless. The list contains two special-use trees nevertheless, `.arpa`
 * and `.onion` (IANA, Special-Use Domain Names).
 */
import { parse } from 'tldts';

/** Special-use suffixes of the list with their use, for the error message; the first that covers a name applies. */
const SPECIAL_USE: readonly (readonly [suffix: string, use: string])[] = [
  ['in-addr.arpa', 'finds the names of IPv4 addresses (RFC 1035 §3.5)'],
  ['ip6.arpa', 'finds the names of IPv6 addresses (RFC 3596 §2.5)'],
  ['home.arpa', 'is of each home network alone (RFC 8375)'],
  ['arpa', 'is for the infrastructure of the Internet (RFC 3172)'],
  ['onion', 'is of the Tor network and not in the DNS (RFC 7686)'],
];

const REMEDY = 'a server for private names is started with --allow-private-names';

/** Why a canonical name cannot be registered, for the message of a 400; `null`: it can. */
export function nameProblem(name: string): string | null {
  const special = SPECIAL_USE.find(([suffix]) => name === suffix || name.endsWith(`.${suffix}`));
  if (special !== undefined)
    return `\`.${special[0]}\` ${special[1]}, so it is no site of the public DNS; ${REMEDY}`;
  const { domain, publicSuffix, isIcann, isPrivate } = parse(name, { allowPrivateDomains: true });
  if (isIcann !== true && isPrivate !== true) {
    return `\`.${name.slice(name.lastIndexOf('.') + 1)}\` is no public suffix, so nobody can prove the name in the DNS; ${REMEDY}`;
  }
  if (domain !== null) return null;
  return `\`${publicSuffix ?? name}\` is a public suffix: strangers register names below it; register a name of yours`;
}

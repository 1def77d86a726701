/**
 * Which names an account may register: one label below a public suffix, or more (Public Suffix List, publicsuffix.org,
 * by `tldts`). A suffix itself is shared by strangers, in the list's private section too (`github.io`: its owner
 * registers names below it). A name under no suffix of the list, such as the special-use names of RFC 6761 and RFC 6762
 * (`.test`, `.local`), is nobody's in the public DNS, so no proof of it means anything. The list has two trees of special
 * use all the same, `.arpa` and `.onion` (IANA, Special-Use Domain Names).
 */
import { parse } from 'tldts';

/** Special-use names that the list has as suffixes, and what they are for; the first that covers a name is its reason. */
const SPECIAL_USE: readonly (readonly [suffix: string, use: string])[] = [
  ['in-addr.arpa', 'finds the names of IPv4 addresses (RFC 1035 §3.5)'],
  ['ip6.arpa', 'finds the names of IPv6 addresses (RFC 3596 §2.5)'],
  ['home.arpa', 'is of each home network alone (RFC 8375)'],
  ['arpa', 'is for the infrastructure of the Internet (RFC 3172)'],
  ['onion', 'is of the Tor network and not in the DNS (RFC 7686)'],
];

const REMEDY = 'a server for private names is started with --allow-private-names';

/** What is wrong with a canonical name, as a sentence; `null`: it may be registered. */
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

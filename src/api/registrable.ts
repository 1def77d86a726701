/**
 * Which names an account may register: one label below a public suffix, or more (Public Suffix List, publicsuffix.org,
 * by `tldts`). A suffix itself is shared by strangers, in the list's private section too (`github.io`: its owner
 * registers names below it). A name under no suffix of the list, such as the special-use names of RFC 6761 and RFC 6762
 * (`.test`, `.local`), is nobody's in the public DNS, so no proof of it means anything.
 */
import { parse } from 'tldts';

/** What is wrong with a canonical name, as a sentence; `null`: it may be registered. */
export function nameProblem(name: string): string | null {
  const { domain, publicSuffix, isIcann, isPrivate } = parse(name, { allowPrivateDomains: true });
  if (isIcann !== true && isPrivate !== true) {
    const remedy = 'a server for private names is started with --allow-private-names';
    return `\`.${name.slice(name.lastIndexOf('.') + 1)}\` is no public suffix, so nobody can prove the name in the DNS; ${remedy}`;
  }
  if (domain !== null) return null;
  return `\`${publicSuffix ?? name}\` is a public suffix: strangers register names below it; register a name of yours`;
}

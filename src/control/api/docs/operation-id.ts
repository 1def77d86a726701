/** Derives operation ids, which generated clients use as the names of their methods. */

/** The id of an operation in camel case: `PUT /domains/{domain}/members/{userId}` → `putDomainMembersByUserId`. */
export function operationId(method: string, path: string): string {
  const words = path
    .split('/')
    .filter((part) => part !== '' && part !== '{domain}')
    .flatMap((part) => (part.startsWith('{') ? ['by', part.slice(1, -1)] : part.split(/[-_]/)));
  const named =
    path.startsWith('/domains/{domain}') && words[0] === 'domains' ? ['domain', ...words.slice(1)] : words;
  return method.toLowerCase() + named.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
}

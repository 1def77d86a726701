/** What an operation is called in the document, and so in clients made from it. */

/** `PUT /domains/{domain}/members/{userId}` → `putDomainMembersByUserId`. */
export function operationId(method: string, path: string): string {
  const words = path
    .split('/')
    .filter((part) => part !== '' && part !== '{domain}')
    .flatMap((part) => (part.startsWith('{') ? ['by', part.slice(1, -1)] : part.split(/[-_]/)));
  const one =
    path.startsWith('/domains/{domain}') && words[0] === 'domains' ? ['domain', ...words.slice(1)] : words;
  return method.toLowerCase() + one.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
}

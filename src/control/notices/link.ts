/** Links in messages: the operator's public URL, with the name of the domain where the URL has `{domain}`. */

const PLACE = '{domain}';

/** What is wrong with a public URL; `null`: nothing. */
export function judgePublicUrl(text: string): string | null {
  const plain = text.replaceAll(PLACE, 'example.com');
  const isUrl = URL.canParse(plain) && /^https?:$/.test(new URL(plain).protocol);
  return isUrl ? null : 'write https://panel.example.net, or https://panel.example.net/domains/{domain}';
}

/** The link of a message; without a domain, the part of the URL before `{domain}`. */
export function linkTo(publicUrl: string, domain: string | null): string {
  if (domain !== null) return publicUrl.replaceAll(PLACE, encodeURIComponent(domain));
  const at = publicUrl.indexOf(PLACE);
  return at < 0 ? publicUrl : publicUrl.slice(0, at);
}

/** Entity tags and the conditions made with them (RFC 9110 §8.8.3, §13.1). */
import { sha256Base64Url } from '../../../base/platform/cryptography.ts';

/** The strong tag of a text or of octets: 22 characters of their SHA-256 are 132 bits. */
export function tagOf(text: string | Uint8Array): string {
  return `"${sha256Base64Url(text).slice(0, 22)}"`;
}

/** Whether an `If-Match` or `If-None-Match` has a tag or is `*`; `W/` is ignored, since every tag here is strong. */
export function namesTag(condition: string, tag: string): boolean {
  if (condition.trim() === '*') return true;
  return condition.split(',').some((listed) => listed.trim().replace(/^W\//, '') === tag);
}

/**
 * The octets that the feed has sent ahead of the entries that name them: a few small ones, the oldest dropped first. They are as
 * unchecked as fetched ones.
 */
import { MAX_PUSHED_OCTETS } from './limits.ts';

export interface PushedOctets {
  /** Reads the data of an event: the digest, a space, Base64. What has another form is dropped. */
  add(data: string): void;
  /** Returns and removes the octets of a digest; `null`: none came. */
  take(digest: string): Uint8Array | null;
}

const DIGEST_CHARACTERS = 64;

export function createPushedOctets(): PushedOctets {
  const waiting = new Map<string, Uint8Array>();
  let octets = 0;

  function take(digest: string): Uint8Array | null {
    const bytes = waiting.get(digest) ?? null;
    waiting.delete(digest);
    octets -= bytes?.length ?? 0;
    return bytes;
  }

  return {
    add(data) {
      const digest = data.slice(0, DIGEST_CHARACTERS);
      if (data[DIGEST_CHARACTERS] !== ' ') return;
      take(digest);
      const bytes = Buffer.from(data.slice(DIGEST_CHARACTERS + 1), 'base64');
      waiting.set(digest, bytes);
      octets += bytes.length;
      for (const oldest of waiting.keys()) {
        if (octets <= MAX_PUSHED_OCTETS) return;
        take(oldest);
      }
    },
    take,
  };
}

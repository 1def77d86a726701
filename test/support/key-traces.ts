/** The forms that a private key can be found in: PEM lines, DER, its secret number, in octets, hex and base64. */
import { createPrivateKey } from 'node:crypto';

/** Looks for a key in octets. */
export interface KeyTraces {
  /** The names of the forms that the octets have. */
  in(octets: Uint8Array | string): readonly string[];
}

/** The traces of a P-256 key, given as PEM. */
export function keyTraces(pem: string): KeyTraces {
  const key = createPrivateKey(pem);
  const der = key.export({ format: 'der', type: 'pkcs8' });
  const secret = Buffer.from(key.export({ format: 'jwk' }).d!, 'base64url');
  const body = der.toString('base64');
  const forms: [string, Buffer][] = [
    ['DER', der],
    ['the secret number', secret],
    ['DER in hex', Buffer.from(der.toString('hex'))],
    ['the secret number in hex', Buffer.from(secret.toString('hex'))],
    ['the secret number in base64url', Buffer.from(secret.toString('base64url').slice(0, 40))],
    ['base64 of DER', Buffer.from(body)],
  ];
  // The number is in the first two lines of 48 octets; the public key, which certificates have too, follows it.
  for (const [index, line] of pem.split('\n').slice(1, 3).entries())
    forms.push([`PEM line ${index + 1}`, Buffer.from(line)]);
  // The number begins at any of three places of a base64 group.
  for (let shift = 0; shift < 3; shift += 1) {
    const shifted = Buffer.concat([Buffer.alloc(shift), secret]).toString('base64');
    forms.push([`base64 of the secret number, ${shift}`, Buffer.from(shifted.slice(4, 40))]);
    forms.push([
      `base64 in base64, ${shift}`,
      Buffer.from(Buffer.from(body.slice(shift)).toString('base64').slice(0, 60)),
    ]);
  }
  return {
    in(octets) {
      const haystack = typeof octets === 'string' ? Buffer.from(octets) : Buffer.from(octets);
      return forms.filter(([, needle]) => haystack.includes(needle)).map(([name]) => name);
    },
  };
}

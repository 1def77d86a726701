/**
 * The secret by which the proxy in front shows that it speaks. In: the text of a file or a variable of the agent. Out: the
 * accepted secrets, compared in constant time. Several are accepted at a time, so that one can be replaced without a gap.
 */
import { timingSafeEqual } from 'node:crypto';
import { LEAST_SECRET_OCTETS } from './limits.ts';

/** The accepted secrets; at least one. */
export type DoorSecrets = readonly Buffer[];

/** Visible ASCII: what the value of a header may have everywhere, without quotes and blanks. */
const SECRET = /^[!-~]+$/;

/**
 * Reads secrets, one a line; empty lines and those that begin with `#` are left out.
 * @param from where the text is from, for the error: `the file \`door.secret\``
 * @throws Error without a secret, or for one that is short or is no header value; it does not contain the secret
 */
export function readDoorSecrets(text: string, from: string): DoorSecrets {
  const lines = text.split('\n').map((line) => line.trim());
  const secrets = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const remedy = '`openssl rand -hex 32` prints one';
  if (secrets.length === 0) throw new Error(`${from} has no secret for the HTTP door; ${remedy}`);
  for (const [at, secret] of secrets.entries()) {
    const which = `secret ${at + 1} in ${from}`;
    if (!SECRET.test(secret)) throw new Error(`${which} has characters other than visible ASCII; ${remedy}`);
    if (secret.length < LEAST_SECRET_OCTETS) {
      throw new Error(
        `${which} has ${secret.length} characters, and at least ${LEAST_SECRET_OCTETS} are needed; ${remedy}`,
      );
    }
  }
  return secrets.map((secret) => Buffer.from(secret, 'latin1'));
}

/** Whether a header's value is one of the secrets. The time shows its length alone. */
export function isSecret(secrets: DoorSecrets, value: string): boolean {
  const given = Buffer.from(value, 'latin1');
  let found = false;
  for (const secret of secrets) {
    if (secret.length === given.length && timingSafeEqual(secret, given)) found = true;
  }
  return found;
}

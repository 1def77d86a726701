/** Codes of uploaded certificates and their private keys. */
import type { CodeList } from './code.ts';

export const CERTIFICATE_CODES = {
  certificate_count: {
    severity: 'error',
    meaning:
      'the chain has more certificates than a chain needs, or the domain has as many certificates as it may have',
    remedy: 'send the certificate and its issuers alone; delete certificates that have expired',
  },
  certificate_expired: {
    severity: 'error',
    meaning: 'a certificate of the chain has expired, so browsers refuse it',
    remedy: 'request a new certificate from its issuer; with it come the issuers in force',
  },
  certificate_expiring: {
    severity: 'warning',
    meaning: 'the certificate expires within 14 days',
    remedy: 'upload its successor before then',
  },
  certificate_issuer_missing: {
    severity: 'warning',
    meaning: 'the chain has no issuer of the certificate, which many clients cannot find on their own',
    remedy: 'send the whole chain, often called `fullchain.pem`',
  },
  certificate_names: {
    severity: 'error',
    meaning: 'the certificate has no name of the domain in its subjectAltName, or more names than are read',
    remedy: 'request a certificate for the domain; browsers do not read the common name',
  },
  certificate_not_yet_valid: {
    severity: 'error',
    meaning: 'a certificate of the chain is not in force yet',
    remedy: 'upload it after the time that the message names, or correct the clock of the server',
  },
  certificate_order: {
    severity: 'error',
    meaning: 'a certificate of the chain is not issued by the next one',
    remedy: "put the domain's certificate first, then each certificate's issuer",
  },
  certificate_pem: {
    severity: 'error',
    meaning: 'the text has no readable certificate in PEM',
    remedy:
      'send text from `-----BEGIN CERTIFICATE-----` to `-----END CERTIFICATE-----`; `openssl x509 -inform der -in file` converts DER',
  },
  certificate_root: {
    severity: 'info',
    meaning: 'the chain ends with a root certificate, which clients have; it is left out',
    remedy: 'nothing; leave it out of the file to silence this',
  },
  certificate_self_signed: {
    severity: 'warning',
    meaning: 'the certificate is issued by itself, so no browser trusts it',
    remedy: 'request one from a certificate authority, unless your clients have this one',
  },
  certificate_unusable: {
    severity: 'error',
    meaning: 'the certificate is not for servers, or nodes cannot load it with its key',
    remedy: 'request a certificate for TLS servers, signed with SHA-256 or better',
  },
  certificate_weak_key: {
    severity: 'error',
    meaning: 'the key is of a type or size that is not accepted',
    remedy: 'use RSA of 2,048 to 8,192 bits, P-256, P-384 or Ed25519',
  },
  key_encrypted: {
    severity: 'error',
    meaning: 'the private key is encrypted with a passphrase, which nodes do not have',
    remedy: 'decrypt it: `openssl pkey -in key.pem -out plain.pem`',
  },
  key_mismatch: {
    severity: 'error',
    meaning: 'the private key does not belong to the certificate',
    remedy: 'send the key that the certificate was requested with',
  },
  key_pem: {
    severity: 'error',
    meaning: 'the text has no readable private key in PEM, or more than one',
    remedy: 'send text from `-----BEGIN PRIVATE KEY-----` to its end, one key alone',
  },
} as const satisfies CodeList;

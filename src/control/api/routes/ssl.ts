/** Certificates of a domain: listed, parsed, uploaded, removed. No answer, audit entry or error has anything of a key. */
import { requestCertificate } from '../../certificates/issuance/request.ts';
import { judgeUpload } from '../../certificates/judge.ts';
import { renewSet } from '../../certificates/make-set.ts';
import {
  CERTIFICATE,
  CERTIFICATES,
  issueForm,
  PARSED,
  parseForm,
  showCertificate,
  showParsed,
  summarizeSsl,
  uploadForm,
} from '../../certificates/shapes.ts';
import { storeUpload } from '../../certificates/upload.ts';
import { formBody, idOf, wrongInput } from '../operation/read-request.ts';
import { badRequest, conflict, notFound } from '../operation/refusal.ts';
import { message, ok, operation } from '../operation/route.ts';
import { messageShape } from '../operation/shapes.ts';
import { withKey } from '../operation/with-key.ts';

/** `GET /domains/{domain}/ssl/`. */
export const list = operation({
  summary: 'List the certificates of a domain',
  response: CERTIFICATES,
  handle: ({ domain: { id, name }, now, read }) =>
    read(async (tx) => {
      const certificates = await tx.certificates.list(id);
      const records = await tx.records.list(id);
      const { status, uncovered_hostnames: open } = summarizeSsl(name, { certificates, records, now });
      const shown = certificates.map((row) => showCertificate(row, now));
      return ok({
        status,
        certificates: shown,
        ...(open === undefined ? {} : { uncovered_hostnames: open }),
      });
    }),
});

/** `POST /domains/{domain}/ssl/parse`: stores nothing. */
export const parse = operation({
  summary: 'Say what a certificate is and what is wrong with it, without storing it',
  body: formBody(parseForm),
  response: PARSED,
  async handle({ body, domain, now }) {
    return ok(showParsed(judgeUpload(body, { domain: domain.name, now })));
  },
});

/** `POST /domains/{domain}/ssl/`: replaces a certificate with the same leaf. */
export const upload = operation({
  summary: 'Upload a certificate with its private key',
  body: formBody(uploadForm),
  response: CERTIFICATE,
  statuses: [409, 503],
  async handle({ body, domain, now, services, write }) {
    const { usable, diagnostics } = judgeUpload(body, { domain: domain.name, now });
    if (usable === null) throw wrongInput(diagnostics);
    return withKey(services, 'private keys', (ring) =>
      write(async (w) => {
        const upload = { domainId: w.domain.id, certificate: usable, ring, now };
        const outcome = await storeUpload(w.tx, upload);
        if (!outcome.ok) throw conflict(outcome.reason);
        const [before, after] = [outcome.before, outcome.row].map((row) => row && showCertificate(row, now));
        const changed = { subject: `certificate/${outcome.row.id}`, ...(before ? { before } : {}), after };
        await w.audit({ action: before ? 'certificate.replace' : 'certificate.upload', ...changed });
        await renewSet(w.tx, w.domain, { ring, now: w.now });
        return ok(after);
      }),
    );
  },
});

/** `POST /domains/{domain}/ssl/issue`. */
export const issue = operation({
  summary: 'Obtain a certificate for names of a domain',
  body: formBody(issueForm),
  response: CERTIFICATE,
  status: 202,
  statuses: [409],
  async handle({ body: { names }, now, services, write }) {
    if (services.issues !== true) throw conflict('this server obtains no certificates (--acme)');
    return write(async (w) => {
      const zones = services.zones !== undefined;
      const outcome = await requestCertificate(w.tx, { domain: w.domain, names, zones, now });
      if (!outcome.ok)
        throw outcome.kind === 'names' ? badRequest(`names: ${outcome.reason}`) : conflict(outcome.reason);
      const { row } = outcome;
      const after = showCertificate(row, now);
      await w.audit({ action: 'certificate.request', subject: `certificate/${row.id}`, after });
      return ok(after);
    });
  },
});

/** `DELETE /domains/{domain}/ssl/{certificateId}`: nodes stop serving it. */
export const remove = operation({
  summary: 'Delete a certificate',
  response: messageShape,
  statuses: [409, 503],
  async handle({ params, now, services, write }) {
    const id = idOf(params['certificateId']);
    return withKey(services, 'private keys', (ring) =>
      write(async (w) => {
        const row = (await w.tx.certificates.list(w.domain.id)).find((one) => one.id === id);
        if (row === undefined) throw notFound();
        await w.tx.certificates.remove(w.domain.id, row.id);
        const before = showCertificate(row, now);
        await w.audit({ action: 'certificate.delete', subject: `certificate/${row.id}`, before });
        await renewSet(w.tx, w.domain, { ring, now: w.now });
        return message(`certificate ${row.id} deleted`);
      }),
    );
  },
});

/** `edgeplan ssl`: the certificates of a domain, over the API. */
import { Command, Option } from 'commander';
import { pause } from '../../base/platform/tasks.ts';
import { visible } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT } from '../exit.ts';
import { readBytes } from '../input/read-file.ts';
import { idParser, jsonOption } from '../options.ts';
import { write, writeDocument } from '../output.ts';
import { tableText } from '../print/table.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { callDomainApi, domainPath } from '../remote/remote-domain.ts';

/** The options that the commands share, as commander parses them. */
interface Flags extends ServerAccess {
  readonly json?: boolean;
}

interface IssueFlags extends Flags {
  readonly wait?: boolean;
}

/** The files of a certificate. */
interface FileFlags extends Flags {
  readonly cert: string;
  readonly privateKey?: string;
}

async function list(domain: string, flags: Flags): Promise<void> {
  const request = { method: 'GET', path: domainPath(domain, '/ssl/') } as const;
  const body = (await callDomainApi(domain, flags, request)).body as PrintedCertificates;
  if (flags.json === true) await writeDocument('certificates', { domain, ...body });
  else await write(certificatesText(body));
}

/** Milliseconds that `--wait` waits, and between two looks. */
const WAIT_MS = 300_000;
const WAIT_POLL_MS = 500;

/** The texts of the files; a file that is no text has no PEM, which the server reports. */
async function readFiles({ cert, privateKey }: FileFlags): Promise<object> {
  const text = async (file: string): Promise<string> => Buffer.from(await readBytes(file)).toString('latin1');
  const key = privateKey === undefined ? {} : { key: await text(privateKey) };
  return { certificate: await text(cert), ...key };
}

/** Prints what a certificate is. @throws CommandFault where an upload would be refused */
async function parse(domain: string, flags: FileFlags): Promise<void> {
  const request = {
    method: 'POST',
    path: domainPath(domain, '/ssl/parse'),
    body: await readFiles(flags),
  } as const;
  const body = (await callDomainApi(domain, flags, request)).body as PrintedParse;
  if (flags.json === true) await writeDocument('parsed-certificate', { domain, ...body });
  else await write(parsedText(body));
  if (!body.valid) throw new CommandFault(EXIT.no, 'an upload of this certificate would be refused');
}

async function upload(domain: string, flags: FileFlags): Promise<void> {
  const request = {
    method: 'POST',
    path: domainPath(domain, '/ssl/'),
    body: await readFiles(flags),
  } as const;
  const { id, names, not_after } = (await callDomainApi(domain, flags, request)).body as PrintedCertificate;
  await write(visible(`certificate ${id} of ${names.join(', ')}, until ${not_after}`).concat('\n'));
}

/** Requests a certificate, and with `--wait` waits for it. @throws CommandFault where it fails in that time */
async function issue(domain: string, names: readonly string[], flags: IssueFlags): Promise<void> {
  const path = domainPath(domain, '/ssl/issue');
  const body = names.length === 0 ? {} : { names };
  const { id, names: wanted } = (await callDomainApi(domain, flags, { method: 'POST', path, body }))
    .body as PrintedCertificate;
  if (flags.wait !== true) {
    await write(visible(`certificate ${id} of ${wanted.join(', ')} is being obtained`).concat('\n'));
    return;
  }
  for (const deadline = Date.now() + WAIT_MS; ; await pause(WAIT_POLL_MS)) {
    const one = await readOne(domain, id, flags);
    if (one?.status === 'active') {
      await write(
        visible(`certificate ${id} of ${one.names.join(', ')}, until ${one.not_after}`).concat('\n'),
      );
      return;
    }
    if (one === undefined || one.status === 'failed')
      throw new CommandFault(EXIT.no, `certificate ${id}: ${one?.error ?? 'it was deleted'}`);
    if (Date.now() < deadline) continue;
    const state = one.error === undefined ? '' : `: ${one.error}`;
    throw new CommandFault(EXIT.no, `certificate ${id} is still being obtained${state}`, {
      remedy: 'edgeplan ssl list shows its state',
    });
  }
}

async function readOne(domain: string, id: number, flags: Flags): Promise<PrintedCertificate | undefined> {
  const request = { method: 'GET', path: domainPath(domain, '/ssl/') } as const;
  const { certificates } = (await callDomainApi(domain, flags, request)).body as PrintedCertificates;
  return certificates.find((one) => one.id === id);
}

async function remove(domain: string, id: number, flags: ServerAccess): Promise<void> {
  await callDomainApi(domain, flags, { method: 'DELETE', path: domainPath(domain, `/ssl/${id}`) });
  await write(`certificate ${id} is deleted\n`);
}

/** Adds the options of each command. */
function onServer(command: Command): Command {
  return command.addOption(serverOption()).addOption(keyOption());
}

function certOption(): Option {
  return new Option(
    '--cert <file>',
    'PEM: the certificate, then its issuers, such as fullchain.pem',
  ).makeOptionMandatory();
}

function privateKeyOption(): Option {
  return new Option('--private-key <file>', 'PEM: the private key of the certificate, without a passphrase');
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'ssl list': ['edgeplan ssl list example.com', 'edgeplan ssl list example.com --json'],
  'ssl parse': ['edgeplan ssl parse example.com --cert fullchain.pem --private-key key.pem'],
  'ssl upload': ['edgeplan ssl upload example.com --cert fullchain.pem --private-key key.pem'],
  'ssl issue': ['edgeplan ssl issue example.com', 'edgeplan ssl issue example.com www.example.com --wait'],
  'ssl delete': ['edgeplan ssl delete example.com 7'],
};

/** Creates the command with its subcommands. */
export function sslCommand(): Command {
  const command = new Command('ssl')
    .summary('the certificates of a domain: list, obtain, check, upload, delete')
    .description('Lists, obtains, checks, uploads and deletes certificates of a domain.');
  const listing = command
    .command('list')
    .description('List the certificates of a domain, and names that none covers.')
    .argument('<domain>', 'its name')
    .addOption(jsonOption('certificates'));
  onServer(listing).action(list);
  const parsing = command
    .command('parse')
    .description('Print what a certificate is and what is wrong with it; stores nothing.')
    .argument('<domain>', 'its name')
    .addOption(certOption())
    .addOption(privateKeyOption())
    .addOption(jsonOption('parsed-certificate'));
  onServer(parsing).action(parse);
  const uploading = command
    .command('upload')
    .description(
      'Upload a certificate; nodes serve it within seconds. One that is there already is replaced.',
    )
    .argument('<domain>', 'its name')
    .addOption(certOption())
    .addOption(privateKeyOption().makeOptionMandatory());
  onServer(uploading).action(upload);
  const issuing = command
    .command('issue')
    .description(
      'Obtain a certificate from the CA of the server; it does so by itself for names that none covers.',
    )
    .argument('<domain>', 'its name')
    .argument('[names...]', 'names of the domain; without any, those that no certificate covers')
    .option('--wait', 'wait until it is issued or has failed');
  onServer(issuing).action(issue);
  const removing = command
    .command('delete')
    .description('Delete a certificate; nodes stop serving it.')
    .argument('<domain>', 'its name')
    .argument('<id>', 'the id of the certificate', idParser('edgeplan ssl list has it'));
  onServer(removing).action(remove);
  return withExamples(command, EXAMPLES);
}

// Prints certificates: those of a domain, and what a sent one is.

/** A certificate as the API answers it. */
interface PrintedCertificate {
  readonly id: number;
  readonly source: string;
  readonly names: readonly string[];
  /** Absent as the next two while it is not issued. */
  readonly issuer?: string;
  readonly not_after?: string;
  readonly key_type?: string;
  readonly status: string;
  readonly error?: string;
}

/** The certificates of a domain as the API answers them. */
interface PrintedCertificates {
  readonly status: string;
  readonly certificates: readonly PrintedCertificate[];
  readonly uncovered_hostnames?: readonly string[];
}

/** What a sent certificate is, as the API answers it. */
interface PrintedParse {
  readonly valid: boolean;
  readonly certificate:
    | (Required<Omit<PrintedCertificate, 'id' | 'source' | 'status' | 'error'>> & { readonly chain: number })
    | null;
  readonly key: { readonly key_type: string; readonly fits: boolean } | null;
  readonly findings: readonly {
    readonly severity: string;
    readonly path: string;
    readonly message: string;
    readonly found: string | null;
    readonly remedy: string | null;
  }[];
}

/** Names of a line, at most. */
const NAMES_SHOWN = 3;

/** The certificates of a domain as text. */
function certificatesText({ status, certificates, uncovered_hostnames: open }: PrintedCertificates): string {
  const rows = certificates.map((one) => [
    String(one.id),
    one.status,
    one.source,
    one.not_after?.slice(0, 10) ?? '',
    one.key_type ?? '',
    namesText(one.names),
    one.error ?? one.issuer ?? '',
  ]);
  const table = tableText(['id', 'status', 'source', 'until', 'key', 'names', 'issuer or error'], rows);
  const uncovered =
    open === undefined
      ? ''
      : tableText(
          ['without a certificate in force'],
          open.map((name) => [name]),
        );
  return `status: ${visible(status)}\n${table}${uncovered}`;
}

/** What a certificate is, and what is wrong with it. */
function parsedText({ certificate, key, findings }: PrintedParse): string {
  const facts =
    certificate === null
      ? []
      : [
          ['names', namesText(certificate.names)],
          ['issuer', certificate.issuer],
          ['until', certificate.not_after],
          ['key', certificate.key_type],
          ['chain', String(certificate.chain)],
          ...(key === null ? [] : [['private key', key.fits ? 'belongs to it' : 'does not belong to it']]),
        ];
  const found = findings.map(({ severity, path, message, found, remedy }) => [
    severity,
    `${path}: ${message}${found === null ? '' : `, found ${found}`}${remedy === null ? '' : `; ${remedy}`}`,
  ]);
  return `${tableText(['certificate', ''], facts)}${tableText(['finding', ''], found)}`;
}

function namesText(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN;
  return `${names.slice(0, NAMES_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

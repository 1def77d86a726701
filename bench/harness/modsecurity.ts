/** libmodsecurity in nginx, and the same Core Rule Set in our own run time. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeDiagnostic } from '../../src/base/diagnostics/diagnostic.ts';
import type { SignatureProgram } from '../../src/engine/plan/signature-program.ts';
import { loadSignatures } from '../../src/engine/waf/load/load.ts';
import type { WafProgram } from '../../src/engine/waf/request/inspection.ts';
import { compileSignatures, readSignatureDirectory } from '../../src/engine/waf/seclang/index.ts';
import { hasNginx, MODSECURITY_MODULE, type NginxParts, type RunningNginx, startNginx } from './nginx.ts';

/** Where Debian's `modsecurity-crs` puts its rules. */
export const DEBIAN_CRS = '/usr/share/modsecurity-crs';

export function hasModSecurity(): boolean {
  return hasNginx() && existsSync(MODSECURITY_MODULE);
}

/** The rules of a directory, ready to inspect. @throws Error as `crsProgram` */
export function loadCrs(directory: string): WafProgram {
  return loadSignatures(crsProgram(directory));
}

/** The rules of a directory, compiled. @throws Error with the first diagnostics where they do not compile */
export function crsProgram(directory: string): SignatureProgram {
  const { sources, ...rest } = readSignatureDirectory(directory);
  const { program, diagnostics } = compileSignatures(sources, rest);
  if (program === null) throw new Error(diagnostics.map(describeDiagnostic).slice(0, 5).join('\n'));
  return program;
}

/** An origin that answers `ok` to everything. */
export function startOrigin(): Promise<RunningNginx> {
  return startNginx({ server: 'location / { default_type text/plain; return 200 "ok"; }' });
}

/** What makes an nginx pass everything on to an origin. */
export function proxyTo(port: number): Required<Pick<NginxParts, 'http' | 'server'>> {
  return {
    http: `upstream origin { server 127.0.0.1:${port}; keepalive 32; }`,
    server:
      'location / { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; }',
  };
}

export interface Guard {
  /** Directives of SecLang before the rule set's: what is audited, by default nothing. */
  readonly directives?: readonly string[];
  /** What stands in the `server` besides. */
  readonly server?: string;
}

/** An nginx that inspects with the rules of a directory and passes on to an origin. */
export function startGuarded(
  origin: number,
  directory: string,
  { directives = ['SecAuditEngine Off'], server = '' }: Guard = {},
): Promise<RunningNginx> {
  const proxy = proxyTo(origin);
  return startNginx({
    main: `load_module ${MODSECURITY_MODULE};`,
    http: proxy.http,
    server: `modsecurity on; modsecurity_rules_file {folder}/rules.conf; ${server} ${proxy.server}`,
    files: { 'rules.conf': [...directives, rulesOf(directory)].join('\n') },
  });
}

function rulesOf(directory: string): string {
  const setup = ['crs-setup.conf', 'crs-setup.conf.example']
    .map((name) => join(directory === DEBIAN_CRS ? '/etc/modsecurity/crs' : directory, name))
    .find(existsSync);
  return [
    'SecRuleEngine On',
    'SecRequestBodyAccess On',
    'SecResponseBodyAccess Off',
    'SecRequestBodyLimit 13107200',
    'SecRequestBodyNoFilesLimit 1310720',
    'SecPcreMatchLimit 100000',
    'SecPcreMatchLimitRecursion 100000',
    'SecUnicodeMapFile /etc/nginx/unicode.mapping 20127',
    'SecRule REQUEST_HEADERS:Content-Type "^(?:application(?:/soap\\+|/)|text/)xml" "id:200000,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=XML"',
    'SecRule REQUEST_HEADERS:Content-Type "^application/json" "id:200001,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=JSON"',
    ...(setup === undefined ? [] : [`Include ${setup}`]),
    `Include ${directory}/rules/*.conf`,
  ]
    .filter((line) => !line.startsWith('SecUnicodeMapFile') || existsSync('/etc/nginx/unicode.mapping'))
    .join('\n');
}

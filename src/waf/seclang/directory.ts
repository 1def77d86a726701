/**
 * A rule set on a disk: which files of a directory are its configuration, and in which order. The OWASP Core Rule Set's
 * layout is known (`crs-setup.conf`, `plugins/`, `rules/`); any other directory is its `.conf` files by name.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Diagnostic } from '../../base/diagnostic.ts';
import { resolvePath } from './parse.ts';
import { createReport, type SecLangReport, type Source, type SourceReader } from './source.ts';

export interface SignatureDirectory {
  /** In the order they are read; empty where a diagnostic is an error. */
  readonly sources: readonly Source[];
  /** For `compileSignatures`. */
  readonly readData: (file: string, from: string) => string | null;
  readonly reader: SourceReader;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads a rule set from a directory, or from one configuration file. */
export function readSignatureDirectory(path: string): SignatureDirectory {
  const report = createReport();
  const sources: Source[] = [];
  for (const file of filesOf(path, report)) {
    const text = readLatin1(file);
    if (text !== null) sources.push({ file, text });
    else report.error('unreadable', null, { message: 'the file cannot be read', found: file });
  }
  return {
    sources,
    readData: (file, from) => readLatin1(resolvePath(from, file)),
    reader: { read: readLatin1, list: listFiles },
    diagnostics: report.diagnostics,
  };
}

/** A file's octets, one character each; `null` where it cannot be read. */
function readLatin1(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return null;
  }
}

function filesOf(path: string, report: SecLangReport): readonly string[] {
  const kind = kindOf(path);
  if (kind === 'file') return [path];
  if (kind === null) {
    const remedy = 'name the directory that holds `crs-setup.conf` and `rules`, or one `.conf` file';
    report.error('no_directory', null, {
      message: 'there is no such file or directory',
      found: path,
      remedy,
    });
    return [];
  }
  const rules = kindOf(join(path, 'rules')) === 'directory' ? join(path, 'rules') : path;
  const files = configurations(rules);
  if (files.length === 0) {
    const remedy = 'name the directory that holds the rules, with their `.data` files beside them';
    report.error('no_rules', null, { message: 'the directory holds no `.conf` file', found: rules, remedy });
    return [];
  }
  const isCoreRuleSet = files.some((file) => /^REQUEST-901-/.test(basename(file)));
  return isCoreRuleSet ? coreRuleSet(path, { rules, files }, report) : files;
}

function kindOf(path: string): 'file' | 'directory' | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  return stat.isDirectory() ? 'directory' : 'file';
}

/** The `.conf` files of a directory by name, set-up files left out. */
function configurations(directory: string): readonly string[] {
  const names = readdirSync(directory).filter((name) => name.endsWith('.conf') && name !== 'crs-setup.conf');
  return names.sort().map((name) => join(directory, name));
}

/** Set-up, then plugins' settings, what they do before, the rules, what they do after (CRS documentation, "Plugins"). */
function coreRuleSet(
  path: string,
  { rules, files }: { readonly rules: string; readonly files: readonly string[] },
  report: SecLangReport,
): readonly string[] {
  const candidates = [path, dirname(rules)].flatMap((folder) => {
    return ['crs-setup.conf', 'crs-setup.conf.example'].map((name) => join(folder, name));
  });
  // Debian keeps the settings apart from the rules.
  candidates.push('/etc/modsecurity/crs/crs-setup.conf');
  const isDebian = rules.startsWith('/usr/share/modsecurity-crs');
  const setup = candidates.slice(0, isDebian ? undefined : -1).find((file) => existsSync(file));
  if (setup === undefined) {
    report.error('no_setup', null, {
      message: 'the Core Rule Set has no `crs-setup.conf`, and denies every request without one',
      found: path,
      remedy: 'put `crs-setup.conf` or `crs-setup.conf.example` beside the `rules` directory',
    });
    return [];
  }
  const plugins = join(path, 'plugins');
  const all = kindOf(plugins) === 'directory' ? configurations(plugins) : [];
  const ending = (end: string): readonly string[] => all.filter((file) => file.endsWith(`-${end}.conf`));
  return [setup, ...ending('config'), ...ending('before'), ...files, ...ending('after')];
}

/** The files a pattern names; `*` and `?` stand for characters of the last part of the path only. */
function listFiles(pattern: string): readonly string[] {
  const folder = dirname(pattern);
  const names = kindOf(folder) === 'directory' ? readdirSync(folder) : [];
  return names
    .filter((name) => matches(name, basename(pattern)))
    .sort()
    .map((name) => join(folder, name));
}

/** Whether a name is what a pattern with `*` and `?` stands for: two rows of what has matched so far. */
function matches(name: string, pattern: string): boolean {
  let row = [true, ...new Array<boolean>(name.length).fill(false)];
  for (const mark of pattern) {
    const next = [mark === '*' && row[0] === true];
    for (let at = 0; at < name.length; at++) {
      const one = row[at] === true && (mark === '?' || mark === name[at]);
      next.push(mark === '*' ? row[at + 1] === true || next[at] === true : one);
    }
    row = next;
  }
  return row[name.length] === true;
}

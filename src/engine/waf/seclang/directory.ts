/**
 * Finds the configuration files of a rule set in a directory, and their order. The layout of the OWASP Core Rule Set
 * is supported (`crs-setup.conf`, `plugins/`, `rules/`), and that of a plugin of it; in any other directory all `.conf` files are read by name.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Diagnostic } from '../../../base/diagnostics/diagnostic.ts';
import { resolvePath } from './parse.ts';
import { createReport, type SecLangReport, type Source, type SourceReader } from './source.ts';

/** The files of a rule set. */
export interface SignatureDirectory {
  /** In reading order; empty if a diagnostic is an error. */
  readonly sources: readonly Source[];
  /** `SignatureOptions.readData`. */
  readonly readData: (file: string, from: string) => string | null;
  /** `SignatureOptions.reader`. */
  readonly reader: SourceReader;
  /** Why files are missing or unreadable. */
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

/** Reads a file as Latin-1; `null`: it cannot be read. */
function readLatin1(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return null;
  }
}

/** The configuration files of a path, in reading order; reports why there are none. */
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
  const plugins = pluginsOf(path);
  // The repository of a plugin of the Core Rule Set has `plugins/` alone.
  if (files.length === 0 && plugins.length > 0) {
    const setup = existsSync(join(path, 'crs-setup.conf')) ? [join(path, 'crs-setup.conf')] : [];
    return [...setup, ...inPluginOrder(plugins)];
  }
  if (files.length === 0) {
    const remedy = 'name the directory that holds the rules, with their `.data` files beside them';
    report.error('no_rules', null, { message: 'the directory holds no `.conf` file', found: rules, remedy });
    return [];
  }
  const isCoreRuleSet = files.some((file) => /^REQUEST-901-/.test(basename(file)));
  return isCoreRuleSet ? coreRuleSet(path, { rules, files }, report) : files;
}

/** What a path refers to; `null`: it does not exist. */
function kindOf(path: string): 'file' | 'directory' | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  return stat.isDirectory() ? 'directory' : 'file';
}

/** The `.conf` files of a directory by name, without setup files. */
function configurations(directory: string): readonly string[] {
  const names = readdirSync(directory).filter((name) => name.endsWith('.conf') && name !== 'crs-setup.conf');
  return names.sort().map((name) => join(directory, name));
}

/**
 * The files of the Core Rule Set in order: setup, settings of plugins, their rules before, the rules, their rules
 * after (CRS documentation, "Plugins").
 */
function coreRuleSet(
  path: string,
  { rules, files }: { readonly rules: string; readonly files: readonly string[] },
  report: SecLangReport,
): readonly string[] {
  const candidates = [path, dirname(rules)].flatMap((folder) => {
    return ['crs-setup.conf', 'crs-setup.conf.example'].map((name) => join(folder, name));
  });
  // Debian's package installs the setup file apart from the rules.
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
  const all = pluginsOf(path);
  const ending = (end: string): readonly string[] => all.filter((file) => file.endsWith(`-${end}.conf`));
  return [setup, ...ending('config'), ...ending('before'), ...files, ...ending('after')];
}

/** The `.conf` files of the folder `plugins`, by name. */
function pluginsOf(path: string): readonly string[] {
  const plugins = join(path, 'plugins');
  return kindOf(plugins) === 'directory' ? configurations(plugins) : [];
}

/** The files of plugins in the order in which the Core Rule Set reads them; those of other names between. */
function inPluginOrder(files: readonly string[]): readonly string[] {
  const orderOf = (file: string): number =>
    file.endsWith('-config.conf')
      ? 0
      : file.endsWith('-before.conf')
        ? 1
        : file.endsWith('-after.conf')
          ? 3
          : 2;
  return [...files].sort((one, other) => orderOf(one) - orderOf(other));
}

/** The files that match a pattern; `*` and `?` are allowed in the last part of the path only. */
function listFiles(pattern: string): readonly string[] {
  const folder = dirname(pattern);
  const names = kindOf(folder) === 'directory' ? readdirSync(folder) : [];
  return names
    .filter((name) => matches(name, basename(pattern)))
    .sort()
    .map((name) => join(folder, name));
}

/**
 * Whether a name matches a pattern with `*` and `?`: dynamic programming over two rows, so that no pattern takes
 * exponential time.
 */
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

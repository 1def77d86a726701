/** Parses SecLang text to directives as written (`draft.ts`): follows `Include` and collects all errors. */
import type { Diagnostic } from '../../../base/diagnostics/diagnostic.ts';
import type { Directive, DirectivePlace, WrittenAction, WrittenTarget } from './draft.ts';
import { parseActions, parseOperator, parseTargets } from './parse-words.ts';
import {
  createReport,
  lexSource,
  type SecLangFinding,
  type SecLangLine,
  type SecLangReport,
  type Source,
  type SourceReader,
  type Word,
} from './source.ts';

/** Maximum number of files that are included, directly and indirectly; the Core Rule Set has 30. */
const MAX_INCLUDED_FILES = 1_000;
/** Maximum nesting depth of `Include`; a deeper one is most likely circular. */
const MAX_INCLUDE_DEPTH = 16;

/** The directives of several files in order, and the errors. */
export interface ParsedSecLang {
  /** In the order of the text, with those of included files in place of the `Include`. */
  readonly directives: readonly Directive[];
  readonly diagnostics: readonly Diagnostic[];
}

/** How to parse. */
export interface ParseOptions {
  /** Reads included files; without it, `Include` is an error. */
  readonly reader?: SourceReader;
}

/** Parses several files in their order. */
export function parseSecLang(sources: readonly Source[], options: ParseOptions = {}): ParsedSecLang {
  const report = createReport();
  const parser: Parser = {
    directives: [],
    report,
    reader: options.reader ?? null,
    included: { files: 0 },
  };
  for (const source of sources) parseSource(source, parser, []);
  return { directives: parser.directives, diagnostics: report.diagnostics };
}

/** The state of the parser. */
interface Parser {
  readonly directives: Directive[];
  readonly report: SecLangReport;
  /** `ParseOptions.reader`. */
  readonly reader: SourceReader | null;
  /** Counts included files, for `MAX_INCLUDED_FILES`. */
  readonly included: { files: number };
}

/** Parses one file; `within` are the files that include it, the outermost first. */
function parseSource(source: Source, parser: Parser, within: readonly string[]): void {
  for (const line of lexSource(source, parser.report)) {
    const [name] = line.words;
    const key = name.text.toLowerCase();
    if (key === 'include' || key === 'includeoptional') include(line, parser, [...within, source.file]);
    else parseLine(line, parser);
  }
}

/** The syntax of one kind of directive. */
interface Form {
  /** The fewest and the most arguments. */
  readonly least: number;
  readonly most: number;
  /** The syntax as diagnostics show it. */
  readonly shape: string;
  /** Makes the directive from its arguments. */
  readonly make: (words: readonly Word[], place: DirectivePlace, report: SecLangReport) => Directive;
}

/** By kind of subject, the end of the directive's name. */
const BY = { id: 'ById', tag: 'ByTag', msg: 'ByMsg' } as const;

/** By name in lower case, the syntax of directives that are not settings. */
const FORMS: Readonly<Record<string, Form>> = {
  secrule: { least: 2, most: 3, shape: 'SecRule TARGETS "OPERATOR" "ACTIONS"', make: makeRule },
  secaction: {
    least: 1,
    most: 1,
    shape: 'SecAction "ACTIONS"',
    make: ([actions], place, report) => ({ kind: 'action', place, actions: readActions(actions!, report) }),
  },
  secmarker: {
    least: 1,
    most: 1,
    shape: 'SecMarker NAME',
    make: ([name], place) => ({ kind: 'marker', place, name: name!.text }),
  },
  secdefaultaction: {
    least: 1,
    most: 1,
    shape: 'SecDefaultAction "ACTIONS"',
    make: ([actions], place, report) => {
      return { kind: 'default-action', place, actions: readActions(actions!, report) };
    },
  },
  secruleupdatetargetbyid: updateTargets('id'),
  secruleupdatetargetbytag: updateTargets('tag'),
  secruleupdatetargetbymsg: updateTargets('msg'),
  secruleupdateactionbyid: {
    least: 2,
    most: 2,
    shape: 'SecRuleUpdateActionById ID "ACTIONS"',
    make: ([subject, actions], place, report) => {
      return {
        kind: 'update-actions',
        place,
        subject: subject!.text,
        actions: readActions(actions!, report),
      };
    },
  },
  secruleremovebyid: removal('id'),
  secruleremovebytag: removal('tag'),
  secruleremovebymsg: removal('msg'),
};

/** The syntax of `SecRuleUpdateTargetById`, `…ByTag` and `…ByMsg`. */
function updateTargets(by: 'id' | 'tag' | 'msg'): Form {
  return {
    least: 2,
    most: 2,
    shape: `SecRuleUpdateTarget${BY[by]} ${by.toUpperCase()} "TARGETS"`,
    make: ([subject, targets], place, report) => {
      return {
        kind: 'update-targets',
        place,
        by,
        subject: subject!.text,
        targets: readTargets(targets!, report),
      };
    },
  };
}

/** The syntax of `SecRuleRemoveById`, `…ByTag` and `…ByMsg`. */
function removal(by: 'id' | 'tag' | 'msg'): Form {
  return {
    least: 1,
    most: Number.POSITIVE_INFINITY,
    shape: `SecRuleRemove${BY[by]} ${by.toUpperCase()}`,
    make: (words, place) => ({ kind: 'remove', place, by, subjects: words.map(({ text }) => text) }),
  };
}

/** Makes a `SecRule`. */
function makeRule(
  [targets, operator, actions]: readonly Word[],
  place: DirectivePlace,
  report: SecLangReport,
): Directive {
  return {
    kind: 'rule',
    place,
    targets: readTargets(targets!, report),
    operator: parseOperator(operator!.text),
    actions: actions === undefined ? [] : readActions(actions, report),
  };
}

/** Parses the targets of a word and reports errors at its place. */
function readTargets(word: Word, report: SecLangReport): readonly WrittenTarget[] {
  const { targets, findings } = parseTargets(word.text);
  for (const finding of findings) report.error('target', word.at, finding);
  return targets;
}

/** Parses the actions of a word and reports errors at its place. */
function readActions(word: Word, report: SecLangReport): readonly WrittenAction[] {
  const { actions, findings } = parseActions(word.text);
  for (const finding of findings) report.error('action', word.at, finding);
  return actions;
}

/** Parses a directive other than `Include`; any unknown `Sec…` is a setting. */
function parseLine({ words: [name, ...args] }: SecLangLine, { directives, report }: Parser): void {
  const { file, line } = name.at;
  const form = FORMS[name.text.toLowerCase()];
  if (form === undefined) {
    if (/^sec[a-z0-9]+$/i.test(name.text)) {
      directives.push({
        kind: 'setting',
        place: { file, line },
        name: name.text,
        values: args.map(({ text }) => text),
      });
    } else {
      report.error('directive', name.at, unknownDirective(name.text));
    }
    return;
  }
  if (args.length < form.least || args.length > form.most) {
    report.error('arguments', name.at, {
      message: `\`${name.text}\` has ${args.length === 1 ? '1 argument' : `${args.length} arguments`}`,
      remedy: `write it as \`${form.shape}\`, with quotes around what holds spaces`,
    });
    return;
  }
  directives.push(form.make(args, { file, line }, report));
}

/** The error of a name that is not a directive. */
function unknownDirective(name: string): SecLangFinding {
  if (name.startsWith('<')) {
    return {
      message: 'sections of a web server are not part of SecLang',
      found: name,
      remedy: 'take the section off and keep the directives inside',
    };
  }
  return {
    message: 'this is not a SecLang directive',
    found: name,
    remedy: 'directives start with `Sec` or are `Include`',
  };
}

/** Parses the files that an `Include` or `IncludeOptional` names. */
function include({ words }: SecLangLine, parser: Parser, within: readonly string[]): void {
  const [name, ...args] = words;
  const { report, reader, included } = parser;
  const optional = name.text.toLowerCase() === 'includeoptional';
  if (args.length !== 1) {
    const remedy = `write it as \`${name.text} FILE\``;
    report.error('arguments', name.at, { message: `\`${name.text}\` names one file`, remedy });
    return;
  }
  const [{ text, at }] = args as [Word];
  if (reader === null) {
    const remedy = 'give the files one after the other';
    report.error('include', at, { message: 'files cannot be included here', found: text, remedy });
    return;
  }
  if (within.length > MAX_INCLUDE_DEPTH) {
    const message = `files include one another more than ${MAX_INCLUDE_DEPTH} deep`;
    report.error('include', at, { message, found: text, remedy: 'check for a circular include' });
    return;
  }
  const path = resolvePath(within.at(-1)!, text);
  const files = /[*?]/.test(path) ? reader.list(path) : [path];
  for (const file of files) {
    const content = reader.read(file);
    if (content === null) {
      if (optional) continue;
      report.error('include', at, {
        message: 'there is no such file',
        found: file,
        remedy: 'put it there, or write `IncludeOptional`',
      });
    } else if (++included.files > MAX_INCLUDED_FILES) {
      const message = `more than ${MAX_INCLUDED_FILES} files are included`;
      report.error('include', at, { message, found: file });
      return;
    } else {
      parseSource({ file, text: content }, parser, within);
    }
  }
}

/** Resolves a name in the file `from` against the directory of that file. */
export function resolvePath(from: string, name: string): string {
  if (name.startsWith('/')) return name;
  const folder = from.lastIndexOf('/');
  return folder === -1 ? name : `${from.slice(0, folder + 1)}${name}`;
}

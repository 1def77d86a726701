/**
 * Names of Python, Ruby, Perl, Lua and Node that reach the process, its files or the inside of the language. Sources: the
 * library references of Python 3 (os, subprocess, pty, inspect, importlib, pickle), Ruby 3 (Kernel, IO, Open3, ObjectSpace,
 * Marshal), Perl 5 (perlfunc, perlop), Lua 5.4 (6.2 to 6.10) and Node 20 (child_process, process, vm, module).
 */

/** Members that code which breaks out of a sandbox reaches for, and hardly any other. */
export const INWARD: ReadonlySet<string> = words(
  `__subclasses__ __globals__ __builtins__ __mro__ __bases__ gi_frame cr_frame ag_frame f_globals f_builtins gi_code
   getregistry sethook setupvalue getupvalue upvaluejoin loadlib each_object _linkedBinding _load mainModule dlopen writeReport
   getBuiltinModule caller binding __getattribute__ func_globals __loader__ load_module`,
);

/** Members of the same use that code without ill intent has, too. */
export const REFLECTIVE: ReadonlySet<string> = words(
  `__self__ __dict__ __code__ __closure__ __reduce__ __base__ __init__ __class__ __spec__ f_back f_locals f_code tb_frame
   __traceback__ __context__ co_consts runInNewContext runInThisContext runInContext compileFunction instance_variable_get
   instance_variable_set const_get allocUnsafe define_method mro co_code getOwnPropertyNames __index`,
);

/** Functions that run a text as code. */
export const EVALUATORS: ReadonlySet<string> = words(
  `eval exec loadstring load instance_eval class_eval module_eval instance_exec class_exec Function execfile setTimeout setInterval
   runInNewContext runInThisContext runInContext compile`,
);

/** Evaluators whose argument is always code. */
export const TRUE_EVALUATORS: ReadonlySet<string> = words(
  'eval exec instance_eval class_eval module_eval execfile loadstring Function',
);

/** Evaluators whose names are no words and no other functions. */
export const RARE_EVALUATORS: ReadonlySet<string> = words(
  'loadstring instance_eval class_eval module_eval execfile',
);

/** Functions whose result is a text that was hidden. */
export const DECODERS: ReadonlySet<string> = words(
  `b64decode urlsafe_b64decode decode64 strict_decode64 fromhex unhexlify a2b_hex decompress unpack char fromCharCode atob from
   getenv input params read urlopen unescape chr bytes join reverse`,
);

/** Functions that import a module and return it. */
export const IMPORTERS: ReadonlySet<string> = words(
  'require __import__ import import_module binding getBuiltinModule const_get _load',
);

/** Modules that reach the process, files, the network, or the language itself. */
export const MODULES: ReadonlySet<string> = words(
  `os sys subprocess pty posix nt socket builtins __builtin__ commands importlib shutil ctypes platform code codecs pickle marshal
   multiprocessing asyncio threading ffi child_process fs fs/promises net vm worker_threads cluster dgram http https dns repl module process v8
   inspector Kernel IO File Dir Process Open3 io spawn_sync process_wrap`,
);

/** By module or class, members that run a command, replace the process, or load what can. */
export const RUNNERS = members(`
  os: system popen execl execle execlp execv execve execvp execvpe spawnl spawnv spawnlp execute posix_spawn fork
  posix: system popen execv
  subprocess: Popen run call check_call check_output getoutput getstatusoutput
  pty: spawn
  commands: getoutput getstatusoutput
  io: popen
  child_process: exec execSync execFile execFileSync spawn spawnSync fork
  cp: exec execSync spawn spawnSync
  Kernel: system exec spawn open eval send sleep exit fork
  IO: popen sysopen
  Process: spawn exec kill daemon exit
  Open3: capture2 capture2e capture3 popen2 popen2e popen3 pipeline
  PTY: spawn getpty
  POSIX: _exit dup2 execl execv setuid
  ctypes: CDLL
  code: interact InteractiveConsole
  worker_threads: Worker
  asyncio: create_subprocess_exec create_subprocess_shell
  pipe: spawn
  connection: execute exec_query
  ffi: cdef
  TCPSocket: new open
  UNIXSocket: new open
  Deno: run Command
  Bun: spawn spawnSync
`);

/** Owners whose members run commands in code of attacks much more often than in other code. */
export const RARE_OWNERS: ReadonlySet<string> = words(
  'Kernel pty posix commands PTY POSIX Open3 worker_threads',
);

/** By module, members that read files, the environment or the network: calls of ordinary code, too. */
export const REACHERS = members(`
  os: remove unlink rename listdir walk scandir environ tmpname exit _exit kill setuid chmod chown symlink readlink getlogin uname
  io: open lines input output read
  fs: readFileSync readFile readdirSync readdir writeFileSync writeFile unlinkSync unlink createReadStream createWriteStream appendFileSync
  shutil: rmtree copyfile move
  debug: getinfo getlocal traceback getmetatable setmetatable debug
  socket: create_connection gethostbyname connect tcp bind
  net: connect createConnection Socket createServer
  http: get request
  https: get request
  dns: lookup resolve
  string: dump
  File: read open readlines write delete unlink binread
  IO: read readlines binread write
  Dir: entries glob children
  process: kill abort chdir setuid reallyExit openStdin umask cwd memoryUsage
  sys: settrace setprofile modules _getframe
  inspect: currentframe stack getsource
  pickle: loads
  cPickle: loads
  marshal: loads
  Marshal: load
  ERB: new
  YAML: load unsafe_load
  yaml: unsafe_load
  jsonpickle: decode
  importlib: import_module reload
  builtins: eval exec open
  Socket: new tcp
  INET: new
  Simple: get getstore
  Storable: thaw retrieve
  Psych: load unsafe_load
  Oj: load
  package: loadlib searchpath
  location: capture
  redis: call pcall
  ctypes: string_at CDLL cdll
  pdb: set_trace run
  cProfile: run
  timeit: timeit
  runpy: run_path run_module
  webbrowser: open
  FileUtils: rm_rf rm cp mv chmod touch
  Pathname: new
  Specification: each
  vm: createContext Script
  GC: disable
`);

/** Functions without an owner that run a command. */
export const COMMANDS: ReadonlySet<string> = words('system exec spawn popen qx syscall execvp');

/** Functions without an owner that change or list files of the system: their argument is a path from the root. */
export const FILE_CALLS: ReadonlySet<string> = words(
  'open opendir unlink rmdir rename symlink chmod chown rmtree load dofile loadfile do require sysopen readFile sendFile',
);

/** Functions whose call as a whole value begins a debugger or ends the process. */
export const ALONE: ReadonlySet<string> = words('breakpoint');

/** Words before or between others in code of these languages. */
export const KEYWORDS: ReadonlySet<string> = words(
  `and as assert async await begin break case catch class const continue def del delete do done echo elif else elsif end ensure eval
   except exec exit extends false finally fn for foreach from function global goto if import in include instanceof is lambda last let
   local module my new next nil nonlocal not null or our package pass print printf puts p raise redo require require_relative
   rescue return self static sub super switch system then this throw true try typeof undef unless until use var void when while
   with yield exports require say die None True False of`,
);

/** Words of sentences that no code has beside another one. */
export const SENTENCE: ReadonlySet<string> = words(
  `an are can cannot could did does gives has have how it its of please should that the their there these they to vs was we what
   where which why will would you your`,
);

/** Names that texts have, too: as triggers they stand beside the mark of a member or of a call. */
const COMMON: ReadonlySet<string> = words(
  `bind call caller chmod compile connect copy cp debug do dump entries exit exec fork get input kill lines load lookup move mv new node
   open output pipe platform popen process read redis remove rename request require reset restore rm root run script search send
   sleep socket spawn stack system touch unlink write delete binding chown spec first mro each import children call check glob
   code func uname run`,
);

/** What stands before a member, and behind the name of a call. */
const MARKS_BEFORE = ['.', ':', '"', "'"];
const MARKS_BEHIND = ['(', ' (', '"', ' "', "'", " '", '[[', '{'];

/** Those of `COMMON` that are called without an owner. */
const CALLED: ReadonlySet<string> = words(
  'chmod chown compile do exec import kill load open popen rename require run send spawn system unlink',
);

/** Texts (`Detector.triggers`): the names of which every construct has one, without those that contain another one. */
export const CODE_TRIGGERS: readonly string[] = triggers();

function triggers(): readonly string[] {
  const names = [...INWARD, ...REFLECTIVE, ...EVALUATORS, ...COMMANDS, ...FILE_CALLS, ...ALONE];
  for (const table of [RUNNERS, REACHERS]) for (const set of table.values()) names.push(...set);
  names.push(
    ...[
      'send',
      '__import__',
      'constructor',
      'application',
      '_g',
      '_env',
      'getmetatable',
      'delete_all',
      'destroy_all',
    ],
  );
  names.push(
    ...[
      'package',
      'require',
      'env',
      '@{[',
      '%x',
      'load_path',
      '@argv',
      '__file__',
      'collectgarbage',
      'getenv',
      'fetch',
    ],
  );
  names.push(
    ...[
      'pack',
      'getattr',
      'setattr',
      'rawget',
      'pairs',
      'global',
      'this',
      'objectspace',
      'modules',
      'construct',
      'parse',
    ],
  );
  names.push(
    ...[
      '__builtins__',
      'method',
      'process',
      'include',
      'file',
      'import',
      'vars',
      'next',
      'redis.call',
      '>new',
      'require.',
      'callee',
    ],
  );
  // A decorator of Python is called with what follows it.
  const all = new Set(Array.from(EVALUATORS, (name) => `@${name.toLowerCase()}`));
  for (const name of names) {
    const lower = name.toLowerCase();
    if (!COMMON.has(lower)) all.add(lower);
    else {
      for (const mark of MARKS_BEFORE) all.add(mark + lower);
      for (const mark of CALLED.has(lower) ? MARKS_BEHIND : []) all.add(lower + mark);
    }
  }
  const list = [...all];
  return list.filter((text) => !list.some((other) => other !== text && text.includes(other)));
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/).filter((word) => word !== ''));
}

function members(list: string): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map(
    list
      .split('\n')
      .filter((line) => line.includes(':'))
      .map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).trim(), words(line.slice(colon + 1))];
      }),
  );
}

/**
 * The vocabulary of template and expression languages: names, chains of names and calls that leave the template for the
 * program. Sources: the manuals of Jinja, Twig, FreeMarker, Velocity, Smarty, Thymeleaf, OGNL, SpEL, Jakarta EL, Mako,
 * ERB, EJS, Pug, Handlebars and Razor. All in lower case.
 */

/** Splits a list at white space. */
function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

/** Attributes of Python's objects that lead from any object to its class, its module, or the built-in functions. */
export const PYTHON_ATTRIBUTES = words(
  `__class__ __mro__ __base__ __bases__ __subclasses__ __globals__ __builtins__ __init__ __import__ __dict__ __self__
   __getitem__ __getattribute__ __code__ __closure__ __func__ __loader__ __reduce__ __reduce_ex__ __enter__ __exit__
   __module__ __call__ __new__ __wrapped__ __defaults__`,
);
/** Those of them that ordinary programs rarely chain. */
export const RARE_ATTRIBUTES = words(
  '__mro__ __base__ __bases__ __subclasses__ __globals__ __builtins__ __import__ __getitem__ __code__ __loader__',
);

/** Functions that run a command or code, or read or write a file, in PHP, Python, Ruby, Perl, JavaScript or Java. */
export const RUNNERS = words(
  `system exec passthru shell_exec popen proc_open pcntl_exec phpinfo assert create_function call_user_func
   call_user_func_array file_get_contents file_put_contents readfile show_source highlight_file spawn spawnsync execsync
   execfile getruntime check_output getoutput __import__ import_module exec_command instance_eval class_eval eval
   executeglobal defineclass load_class fromcharcode shell subprocess`,
);

/** Names that occur in no honest template. */
export const STRONG_NAMES: ReadonlyMap<string, string> = new Map([
  ['registerundefinedfiltercallback', 'filter that runs code'],
  ['registerundefinedfunctioncallback', 'filter that runs code'],
  ['getstreamvariable', 'call that runs code'],
  ['smarty_internal_write_file', 'call that runs code'],
  ['file_excerpt', 'filter that reads a file'],
  ['_memberaccess', 'context of OGNL'],
  ['ognlcontext', 'context of OGNL'],
  ['__lookupgetter__', 'prototype of an object'],
  ['__lookupsetter__', 'prototype of an object'],
  ['__definegetter__', 'prototype of an object'],
  ['__proto__', 'prototype of an object'],
  ['mainmodule', 'process of Node.js'],
  ['processbuilder', 'class of the Java run time'],
  ['scriptenginemanager', 'class of the Java run time'],
  ['child_process', 'process of Node.js'],
]);

/** Members that lead out of the template, as `object.member`. */
export const PAIRS: ReadonlyMap<string, string> = new Map(
  [
    [
      'walk to a class',
      `class.mro class.base class.bases class.subclasses class.forname class.classloader class.getclassloader class.protectiondomain class.inspect class.getresource
       class.module class.getmethod class.getmethods class.getdeclaredmethods class.newinstance class.type
       constructor.constructor constructor.prototype constructor.fromcharcode self._tmpl self.module self.template _self.env _self.getenvironment`,
    ],
    [
      'class of the Java run time',
      `java.lang java.io java.net java.nio javax.script javax.naming runtime.getruntime runtime.exec system.getproperty
       system.getenv system.exit objectconstructor.new utility.execute utility.objectconstructor utility.jythonruntime`,
    ],
    ['class of FreeMarker', 'api.class api.getclass'],
    ['process of Node.js', 'process.binding process.dlopen global.process globalthis.process root.process'],
    [
      'call that runs code',
      `os.system os.popen os.environ os.listdir subprocess.popen subprocess.run subprocess.call subprocess.check_output
       file.read file.open file.delete file.readlines io.popen io.read open3.capture2 open3.popen3 dir.entries dir.glob
       kernel.exec kernel.system kernel.open`,
    ],
    [
      'namespace of .NET',
      'system.diagnostics system.io system.net system.reflection system.threading diagnostics.process',
    ],
    [
      'object of the template engine',
      `lipsum.__globals__ request.application request.environ request.__class__ config.items config.from_object
       config.from_envvar config.from_mapping config.root_path config.update config.secret_key settings.secret_key
       request.server handler.settings handler.application smarty.version smarty.template_object
       smarty.current_dir smarty.config smarty.template application.__globals__ beans.get freemarker.template
       pagecontext.request pagecontext.servletcontext pagecontext.session facescontext.getexternalcontext
       request.getclass request.meta settings.databases session.getclass session.setattribute request.setattribute server.all`,
    ],
  ].flatMap(([construct, pairs]) => [...words(pairs!)].map((pair) => [pair, construct!] as const)),
);

/** Objects of template engines of which an honest template uses no member: `lipsum`, `cycler` … */
export const ENGINE_OBJECTS = words('lipsum cycler joiner url_for get_flashed_messages');

/** Whole expressions that print the settings of the program, by delimiter and path. */
export const PRINTED_OBJECTS = words(
  `{{config {{self {{_self {{settings {{_context {{app {{request.environ {%debug <%env <%global <%process <%self.class
   \${.data_model \${.globals \${.vars`,
);

/** Scopes and objects of Jakarta EL that expose the container. */
export const CONTAINER_OBJECTS = words(
  'applicationscope sessionscope requestscope pagescope pagecontext facescontext initparam servletcontext',
);

/** Filters with a callback. */
export const CALLBACK_FILTERS = words('map filter sort reduce find usort array_map array_filter');

/** Classes with a constructor that runs code, reads files or opens connections. */
export const NEW_CLASSES = words(
  'processbuilder file url scanner filereader fileinputstream fileoutputstream socket urlclassloader elprocessor',
);

/** Modules of Python that a template has no use for. */
export const IMPORTED_MODULES = words(
  'os sys subprocess pty socket builtins importlib commands platform shutil',
);

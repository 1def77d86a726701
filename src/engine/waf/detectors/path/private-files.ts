/**
 * The files that a step up is taken for: of operating systems (Filesystem Hierarchy Standard 3.0, Windows), of servers and
 * of applications.
 */

/** Names of which one alone is private, with what may follow it. */
const PRIVATE: readonly string[] = [
  ...each(
    '/etc',
    'passwd shadow group hosts issue motd sudoers fstab crontab ssh ssl nginx apache2 httpd mysql php',
  ),
  ...each(
    '/etc',
    'hostname resolv.conf environment profile os-release redhat-release exports samba security init.d',
  ),
  ...each('/windows', 'win.ini system.ini system32 repair php.ini my.ini panther debug system.dat iis6.log'),
  ...each('/winnt', 'win.ini system.ini system32 repair php.ini my.ini'),
  ...each('/proc', 'self thread-self version cmdline cpuinfo mounts net sched_debug 1'),
  ...each('/var', 'log www lib adm mail spool run cache backups apache apache2 htdocs mysql'),
  ...each('/usr', 'local share lib etc sbin pkg pkgsrc spool home apache apache2'),
  ...each('/opt', 'lampp xampp tomcat nginx apache apache2 ibm jboss'),
  ...each('/root', '.ssh .bash_history .bashrc .aws .mysql_history .profile anaconda-ks.cfg'),
  ...each('/home', '.ssh .bash_history .aws'),
  ...each('/inetpub', 'wwwroot logs adminscripts'),
  ...each('/private', 'etc var tmp'),
  ...each('/apache', 'logs conf'),
  ...each('/apache2', 'logs conf'),
  ...each('/xampp', 'apache mysql php htdocs logs'),
  ...each('/volumes', 'webbackup macintosh'),
  '/boot.ini /autoexec.bat /pagefile.sys /sysprep.inf /ntuser.dat /web-inf /meta-inf /web.config /global.asax'.split(
    ' ',
  ),
  '/.env /.git /.svn /.ssh /.aws /.kube /.htpasswd /.htaccess /.bash_history /.npmrc /.docker /.pgpass'.split(
    ' ',
  ),
  '/config.php /config.inc.php /database.php /wp-config.php /configuration.php /localsettings.php /settings.php /application.properties'.split(
    ' ',
  ),
  '/application.yml /database.yml /secrets.yml /access.log /access_log /error.log /error_log /users.db'.split(
    ' ',
  ),
  '/parameters.yml /parameters.yaml /secrets.yaml /credentials.yml.enc /master.key /oauth-private.key /laravel.log'.split(
    ' ',
  ),
  '/settings.py /local_settings.py /local.xml /appsettings.json /tomcat-users.xml /server.xml /id_ecdsa'.split(
    ' ',
  ),
  '/.gitconfig /.git-credentials /.netrc /.pypirc /.mysql_history /.terraform /.vault-token /terraform.tfstate'.split(
    ' ',
  ),
  '/httpd.conf /nginx.conf /php.ini /my.cnf /id_rsa /id_ed25519 /authorized_keys'.split(' '),
].flat();

/** A folder's entries as paths. */
function each(folder: string, entries: string): readonly string[] {
  return entries.split(' ').map((entry) => `${folder}/${entry}`);
}

const PRIVATE_NAMES: ReadonlySet<string> = new Set(PRIVATE);

/** Folders that no document has: one step up is enough. */
const SYSTEM: ReadonlySet<string> = new Set('etc proc windows winnt'.split(' '));

/** Folders that are at the root of a file system only; two steps up lead there, one step is an ordinary relative link. */
const ROOTS: ReadonlySet<string> = new Set(
  'boot etc lib64 proc root sbin sys usr var windows winnt'.split(' '),
);
/** Folders at the root that programs have too (`../../lib/x.js`); three steps up lead there. */
const COMMON_ROOTS: ReadonlySet<string> = new Set(
  'bin dev home lib mnt opt private srv tmp users'.split(' '),
);

/** The most segments that are compared. */
const MAX_SEGMENTS = 8;

/** Whether names after steps up (`/etc/passwd`, in lower case) are of a private file, or of a folder at the root. */
export function isPrivateFile(names: string, ups: number): boolean {
  const segments = names.split('/', MAX_SEGMENTS + 1);
  const folder = segments.length > 2 ? segments[1]! : '';
  if (SYSTEM.has(folder) || (ups > 1 && ROOTS.has(folder))) return true;
  if (ups > 2 && COMMON_ROOTS.has(folder)) return true;
  for (let at = 1; at < segments.length; at++) {
    const name = withoutTail(segments[at]!);
    const next = segments[at + 1];
    if (isListed(`/${name}`)) return true;
    if (next !== undefined && isListed(`/${name}/${withoutTail(next)}`)) return true;
  }
  return false;
}

/** Whether a path is listed, as it is or without the suffix of a backup. */
function isListed(path: string): boolean {
  if (PRIVATE_NAMES.has(path)) return true;
  return BACKUPS.some((suffix) => path.endsWith(suffix) && PRIVATE_NAMES.has(path.slice(0, -suffix.length)));
}

/** A name without what requests add behind it: parameters, a query, a mark of a backup. */
function withoutTail(name: string): string {
  let end = 0;
  while (end < name.length && !';?%#,:~$'.includes(name.charAt(end))) end++;
  return name.slice(0, end);
}

/** What attackers and editors add to the name of a file. */

const BACKUPS = ['.bak', '.old', '.orig', '.save', '.default', '.php', '.html', '.txt', '.jpg'] as const;

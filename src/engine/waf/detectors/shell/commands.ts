/**
 * The vocabulary of shells: utilities of POSIX.1-2017 ("Shell & Utilities", chapter 4), GNU coreutils, net-tools, iproute2,
 * BusyBox, the command processor of Windows and PowerShell.
 */

/** What is known of a name in the place of a command. */
export const UNKNOWN = 0;
/** A word of ordinary text, too: its arguments have to be those of a command. */
export const WORD = 1;
/** A word of ordinary text that attackers try without arguments. */
export const PROBE = 2;
/** The name of a program and nothing else. */
export const PROGRAM = 3;
/** A word before a command: `sudo`, `then`. */
export const PREFIX = 4;

const NAMES = new Map<string, number>();
add(
  WORD,
  `alias apt ash at aws axel bc cal cat chat cmd color copy cp curl docker cut date dc dd del diff dig echo ed erase expand expr factor fetch
   file find finger fish fmt fold free ftp gdb gem git grep groups hd head helm history host iconv ip kill kubectl last less ln locate logname ls lua lynx
   mail make man md mkdir more mount move mv net nl node npm od paste path perl php ping pip pip3 pr print printf ps python
   query rd ren rename replace rev rm route ruby sc screen script sed seq service set sh shift sleep sort source
   split ss start stat strings su tail tar task tee test time timeout top touch tr tree trap type uniq unzip users vi
   vim vol wall watch wc wsl yum where which who xcopy yes zip`,
);
add(PROBE, `dir env id ls ps pwd ver w who`);
add(
  PROGRAM,
  `adduser apt-get aria2c arp arping attrib awk base32 base64 bash bcdedit bitsadmin bunzip2 busybox bzip2 certutil chattr chgrp chmod chown chroot cksum
   cmdkey crontab csc csh cscript dash deluser df dig dmesg dpkg driverquery dsquery du egrep fgrep findstr fltmc forfiles fsutil ftpget gawk gcc getent
   getfacl getmac gpresult groupadd gunzip gzip hexdump hostname hostnamectl httpie icacls ifconfig iptables ipconfig journalctl
   klist ksh killall ldapsearch lastlog lsattr lsb_release lsblk lscpu lsmod lsof lspci lsusb mawk md5sum mkfifo mklink mknod mkfs mkpasswd
   mshta msiexec mysqldump nano nc ncat netcat netsh netstat nltest nmap nohup nslookup ntdsutil openssl passwd pg_dump pkill
   powershell printenv psexec pstree pwsh python2 python3 quser rar rbash readelf readlink reboot rgrep regsvr32 robocopy rpcclient rsync
   rundll32 schtasks scp sestatus setfacl sftp sha1sum sha256sum shred shutdown smbclient socat ssh sshpass
   strace sudoers systemctl systeminfo tac taskkill tasklist tclsh tcpdump tcsh telnet tftp traceroute tracert tracepath uname
   uncompress uptime useradd userdel usermod vdir vssadmin wbadmin wevtutil wget whereis whoami wmic wscript xargs xterm xxd xz zcat
   zgrep zsh`,
);
add(
  PREFIX,
  `builtin call command coproc do doas else env exec eval if nice nohup pkexec setsid stdbuf sudo then time timeout unshare until while xargs !`,
);

function add(kind: number, names: string): void {
  for (const name of names.split(/\s+/)) NAMES.set(name, Math.max(kind, NAMES.get(name) ?? UNKNOWN));
}

/** Names that Windows knows, in any case; programs of Unix are written in lower case. */
const OF_WINDOWS: ReadonlySet<string> = new Set(
  `arp attrib bcdedit bitsadmin certutil cd cmd cmdkey color copy cscript date del dir driverquery dsquery echo erase expand find
   findstr fltmc forfiles fsutil getmac gpresult hostname icacls ipconfig klist md mklink more move mshta msiexec net net1 netsh netstat nltest nslookup path
   ping powershell prompt psexec pwsh query quser rd reg regsvr32 ren robocopy route rundll32 sc
   schtasks set shutdown sort start systeminfo taskkill tasklist telnet time timeout tracert tree type ver vol vssadmin
   wevtutil where whoami wmic wscript xcopy`.split(/\s+/),
);

/** The longest name, in characters. */
export const LONGEST_COMMAND = 24;

/** Whether a token is the name of a command, in any case. */
export function isCommandName(token: string): boolean {
  return token.length <= LONGEST_COMMAND && commandKind(token.toLowerCase(), false) !== UNKNOWN;
}

/** Commands of developers, which people write about and which run nothing that an attacker asks for first. */
const TOOLS: ReadonlySet<string> = new Set(
  `apt apt-get gem git head helm kubectl docker make man mvn node npm npx pip pip3 source vi vim yarn yum less path type`.split(
    ' ',
  ),
);

/** Whether a name is one of a developer's tools. */
export function isTool(name: string): boolean {
  return TOOLS.has(name);
}

/** Interpreters, which run a file of a developer, or a text that an attacker wrote. */
const INTERPRETERS: ReadonlySet<string> = new Set('lua perl php python python2 python3 ruby'.split(' '));

/** Whether a name is one of an interpreter. */
export function isInterpreter(name: string): boolean {
  return INTERPRETERS.has(name);
}

/** Shells, whose names alone are names of languages, too. */
const SHELLS: ReadonlySet<string> = new Set(
  'ash awk bash cscript csh dash gawk gcc ksh openssl powershell pwsh python2 python3 rbash ssh tclsh tcsh wscript zsh'.split(
    ' ',
  ),
);

/** Whether a name is one of a shell or a language. */
export function isLanguage(name: string): boolean {
  return SHELLS.has(name);
}

/** Whether a name is one of a shell or a language, or `sh`. */
export function isShell(name: string): boolean {
  return name === 'sh' || SHELLS.has(name);
}

/** Programs whose names alone are values of ordinary fields: formats, digests, protocols, columns, actions of devices. */
const ORDINARY: ReadonlySet<string> = new Set(
  `attrib base32 base64 busybox bzip2 crontab deluser dpkg gzip hexdump hostname iptables md5sum nano netcat nmap passwd
   psexec rar reboot rsync sftp sha1sum sha256sum shutdown strace systemctl tcpdump telnet tftp traceroute uptime wget
   xz`.split(/\s+/),
);

/** Whether the name of a program alone is a value of ordinary fields, too: `sort=hostname`. */
export function isOrdinaryName(name: string): boolean {
  return ORDINARY.has(name);
}

/** Whether a file in a folder of programs is a script: `./x.sh`. */
export function isScriptName(name: string): boolean {
  return name.length > 3 && (name.endsWith('.sh') || name.endsWith('.py') || name.endsWith('.pl'));
}

/** Words that are a command if nothing but a separator is before them and nothing is behind. */
const BARE: ReadonlySet<string> = new Set(
  'cd df free groups history last mount route set users ver w'.split(' '),
);

/** Whether a name is a command as the whole value behind a separator: `;history`. */
export function isBareCommand(name: string): boolean {
  return BARE.has(name);
}

/** Commands with which administrators set up machines and transfer files. */
const ADMINISTRATION: ReadonlySet<string> = new Set(
  `awk cd chgrp chmod chown cp crontab diff dpkg echo egrep find gcc grep gunzip journalctl ln mkdir mv openssl python
   python3 rm rsync scp sed service sort split ssh sshpass start systemctl tar test touch traceroute tracert unzip wc
   which xz zip`.split(/\s+/),
);

/** Whether a name is one of administration. */
export function isAdministration(name: string): boolean {
  return ADMINISTRATION.has(name);
}

/** Verbs of PowerShell's cmdlets (`Get-Verb`) that attackers use. */
const VERBS: ReadonlySet<string> = new Set(
  `add clear convertfrom convertto copy disable enable expand export foreach get import invoke move new out read
   remove rename select set start stop test where write`.split(/\s+/),
);

/** The kind of a name in lower case, without quotes and folder; `cased`: it was written with capital letters. */
export function commandKind(name: string, cased: boolean): number {
  const bare = name.endsWith('.exe') ? name.slice(0, -4) : name;
  const kind = NAMES.get(bare);
  if (kind === undefined) return isCmdlet(name) ? PROGRAM : UNKNOWN;
  if (cased && !OF_WINDOWS.has(bare)) return UNKNOWN;
  return bare === name ? kind : PROGRAM;
}

/** By first letter, the lengths of `NAMES`, a bit each. */
const LENGTHS = new Uint32Array(128);
for (const name of NAMES.keys()) LENGTHS[name.charCodeAt(0)]! |= 1 << name.length;

/**
 * Whether the word at `from`, in a value without marks of a shell, can be a command; `false` only for one word of no known
 * length and letter. PERF: most values begin with such a word, and none of them is copied.
 */
export function mayBeCommand(value: string, from: number): boolean {
  let end = from;
  for (; end < value.length; end++) {
    const code = value.charCodeAt(end);
    // A folder, an assignment, a cmdlet, the end of a word.
    if (code === 0x2f || code === 0x3d || code === 0x2d || code === 0x21 || code === 0x29) return true;
    if (code < 0x20 || code === 0xa0) return true;
    if (code === 0x20) break;
  }
  const length = end - from;
  if (value.charCodeAt(end - 4) === 0x2e) return true;
  const first = value.charCodeAt(from) | 0x20;
  return length < 32 && first < 128 && ((LENGTHS[first]! >>> length) & 1) === 1;
}

/** Whether a name is a verb, a dash and one word of letters: `get-childitem`. */
function isCmdlet(name: string): boolean {
  const dash = name.indexOf('-');
  if (dash < 3 || !VERBS.has(name.slice(0, dash))) return false;
  for (let at = dash + 1; at < name.length; at++) {
    const code = name.charCodeAt(at);
    if (code < 0x61 || code > 0x7a) return false;
  }
  return CMDLET_NOUNS.some((noun) => name.startsWith(noun, dash + 1));
}

/** The beginnings of nouns of cmdlets: `get-started` is a link. */
const CMDLET_NOUNS = [
  'acl',
  'aduser',
  'alias',
  'childitem',
  'command',
  'computer',
  'content',
  'credential',
  'eventlog',
  'executionpolicy',
  'expression',
  'file',
  'host',
  'item',
  'localuser',
  'location',
  'mppreference',
  'netip',
  'nettcp',
  'output',
  'process',
  'psdrive',
  'pssession',
  'restmethod',
  'scheduledtask',
  'service',
  'sleep',
  'string',
  'webrequest',
  'wmi',
] as const;

/** Commands whose argument is a number or an address. */
const NUMERIC: ReadonlySet<string> = new Set(
  'curl dig host kill nc ncat nslookup ping seq sleep start-sleep telnet timeout usleep wget'.split(' '),
);

/** Whether a command takes a number or an address. */
export function takesNumber(name: string): boolean {
  return NUMERIC.has(name);
}

/** Functions that run the text of their argument. */
const CALLS: ReadonlySet<string> = new Set(
  `eval exec execsync execute passthru pcntl_exec popen proc_open shell_exec spawn spawnsync system getoutput check_output
   shellexecute`.split(/\s+/),
);

/** Whether a function, by its name in lower case, runs the text of its argument. */
export function runsText(name: string): boolean {
  return CALLS.has(name);
}
